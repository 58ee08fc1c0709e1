/* The socket that hooks reach: the server shell, the directories that a rep makes, and rep-hook
 * against both, with the face of hooks between them. */
#include "common/shell/local_server_io.h"

#include "rep/cli/tools_dir_io.h"
#include "rep/unit/tools_face.h"
#include "test/tool/cmocka.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { IDS = 1000, OTHER_USER = 12345, TURN_MS = 10, TURNS_MAX = 3000, ANSWER_BYTES = 512 };

struct place {
    char dir[64], program[PATH_MAX];
    struct arena arena;
    struct tools_directories made;
    struct event_base *loop;
    struct local_server *server;
    struct tools_face face;
    struct tools_owner owner;
    bool silent; /* requests are kept, and nobody answers */
    size_t asked, hung_up;
    uint64_t last_id;
};

/* ---- Units of the test ----------------------------------------------------------------------- */

static enum tools_found hook(void *context, const char *token, uint32_t run, struct arena *a,
                             struct tools_hook *ret)
{
    static const struct name_value env[] = {{"PATH", "/usr/bin:/bin"}, {"CORKBOARD_UNIT", "web/3"}};
    (void)context;
    (void)a;
    *ret = (struct tools_hook){"hook-token", "", "echo $CORKBOARD_UNIT; unit-get machine", env, 2};
    return strcmp(token, "unit-token") == 0 && run == RUN_FIRST ? TOOLS_FOUND : TOOLS_NONE;
}

static enum tools_found world(void *context, const char *token, struct arena *a,
                              struct tool_world *ret, const char **ret_guid)
{
    Rep__UnitNote *j = journal_new(a, "e");
    const struct hook_step step = {HOOK_RUN, {HOOK_INSTALL, 0, 0}, 1};
    (void)context;
    *ret = (struct tool_world){.journal = journal_begin(a, j, &step, "d", "hook-token"),
                               .unit = "web/3",
                               .remote_unit = "",
                               .address = "10.0.0.3",
                               .ports = "",
                               .machine = "2",
                               .principal = ""};
    *ret_guid = "guid";
    return strcmp(token, "hook-token") == 0 ? TOOLS_FOUND : TOOLS_NONE;
}

static uint64_t take(void *context, const char *guid, const struct tool_answer *answer,
                     struct effects *out)
{
    (void)context, (void)guid, (void)answer, (void)out;
    return 0;
}

static void on_request(void *context, const struct request *q)
{
    struct place *p = context;
    SCOPED_ARENA(a);
    struct effects out;
    assert_true(q->tools);
    p->asked++;
    p->last_id = q->id;
    if (p->silent) {
        return;
    }
    effects_init(&out, &a);
    tools_face_request(&p->face, &p->owner, q, &out);
    assert_int_equal(out.count, 1);
    local_server_reply(p->server, &out.list[0].reply);
}

static void on_hangup(void *context, uint64_t id)
{
    struct place *p = context;
    assert_int_equal(id, p->last_id);
    p->hung_up++;
}

/* ---- The place ------------------------------------------------------------------------------- */

static void serve(struct place *p)
{
    struct err err;
    const struct local_server_config config = {
        .dir = p->made.socket, .name = "rep", .ids_above = IDS};
    const struct local_server_handlers handlers = {on_request, on_hangup, p};
    if (local_server_new(&config, p->loop, &handlers, &p->server, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void place_init(struct place *p)
{
    struct err err;
    *p = (struct place){.owner = {p, hook, world, take}};
    arena_init(&p->arena);
    tools_face_init(&p->face);
    snprintf(p->dir, sizeof(p->dir), "/tmp/corkboard-local-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    assert_int_equal(chmod(p->dir, 0755), 0);
    ssize_t n = readlink("/proc/self/exe", p->program, sizeof(p->program) - 1);
    assert_true(n > 0);
    p->program[n] = '\0';
    strcpy(strstr(p->program, "/test/api/"), "/bin/rep-hook");
    if (tools_directories_make(&p->arena, p->dir, p->program, &p->made, &err) < 0) {
        fail_msg("%s", err.text);
    }
    FILE *token = fopen(arena_printf(&p->arena, "%s/token", p->dir), "w");
    fputs("unit-token", token);
    fclose(token);
    p->loop = event_base_new();
    serve(p);
}

static void place_done(struct place *p)
{
    char command[128];
    local_server_free(p->server);
    event_base_free(p->loop);
    tools_face_done(&p->face);
    arena_done(&p->arena);
    snprintf(command, sizeof(command), "rm -rf %s", p->dir);
    assert_int_equal(system(command), 0);
}

static void turn(struct place *p)
{
    const struct timeval t = {.tv_usec = TURN_MS * 1000};
    event_base_loopexit(p->loop, &t);
    event_base_dispatch(p->loop);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* rep-hook, by this name, with one word or two; its exit status, and what it printed (static). */
static int run(struct place *p, const char *name, const char *word, const char *second,
               const char **ret_text)
{
    static char text[1024];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        setenv("CORKBOARD_DIR", p->dir, 1);
        setenv("CORKBOARD_TOKEN", "hook-token", 1);
        execl(arena_printf(&p->arena, "%s/%s", p->made.tools, name), name, word, second, NULL);
        _exit(127);
    }
    close(ends[1]);
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
        assert_true(i < TURNS_MAX);
        turn(p);
    }
    ssize_t n = read(ends[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    *ret_text = text;
    return WEXITSTATUS(status);
}

static void hooks_and_tools_are_answered(void **state)
{
    struct place p;
    const char *text;
    place_init(&p);
    assert_int_equal(run(&p, "unit-get", "address", NULL, &text), 0);
    assert_string_equal(text, "10.0.0.3\n");
    assert_int_equal(run(&p, "unit-get", "nothing", NULL, &text), 2);
    assert_int_equal(run(&p, "rep-hook", "run", "1025", &text), 126);
    assert_int_equal(run(&p, "rep-hook", "run", "1024", &text), 0);
    assert_string_equal(text, "web/3\n2\n"); /* by its own token, the tools first in PATH */
    place_done(&p);
}

/* The socket's file is another one then; what was there does not hinder. */
static void another_rep_takes_the_place(void **state)
{
    struct place p;
    const char *text;
    struct err err;
    place_init(&p);
    local_server_free(p.server);
    assert_int_equal(tools_directories_make(&p.arena, p.dir, p.program, &p.made, &err), 0);
    serve(&p);
    assert_int_equal(run(&p, "unit-get", "machine", NULL, &text), 0);
    assert_string_equal(text, "2\n");
    struct tools_directories none;
    assert_int_equal(tools_directories_make(&p.arena, p.dir, "/no/such/rep-hook", &none, &err), 0);
    assert_null(none.tools);
    place_done(&p);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static int reach(const struct place *p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket/rep", p->dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

/* The status that comes; 0: none does. */
static int status_of(struct place *p, int fd)
{
    char text[ANSWER_BYTES] = "";
    int status = 0;
    for (int i = 0; i < 20 && text[0] == '\0'; i++) {
        turn(p);
        if (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) == 0) {
            break;
        }
    }
    sscanf(text, "HTTP/1.1 %3d ", &status);
    return status;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static int told(struct place *p, const char *text)
{
    int fd = reach(p);
    say(fd, text);
    int status = status_of(p, fd);
    close(fd);
    return status;
}

static void what_is_no_request_is_refused(void **state)
{
    struct place p;
    place_init(&p);
    assert_int_equal(told(&p, "GET / HTTP/1.1\r\n\r\n"), 400);
    assert_int_equal(told(&p, "POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), 413);
    assert_int_equal(p.asked, 0);
    assert_int_equal(told(&p, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 404);
    int fd = reach(&p);
    say(fd, "POST /v1/none HTTP/1.1\r\nCont");
    turn(&p);
    say(fd, "ent-Length: 2\r\n\r\na");
    turn(&p);
    assert_int_equal(p.asked, 1);
    say(fd, "b");
    assert_int_equal(status_of(&p, fd), 404);
    close(fd);
    place_done(&p);
}

static void who_hangs_up_is_told(void **state)
{
    struct place p;
    place_init(&p);
    p.silent = true;
    int fd = reach(&p);
    say(fd, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    for (int i = 0; i < 100 && p.asked == 0; i++) {
        turn(&p);
    }
    assert_int_equal(p.asked, 1);
    assert_true(p.last_id > IDS);
    close(fd);
    for (int i = 0; i < 100 && p.hung_up == 0; i++) {
        turn(&p);
    }
    assert_int_equal(p.hung_up, 1);
    local_server_reply(p.server, &(struct reply){.id = p.last_id, .content_type = ""});
    place_done(&p);
}

static void so_many_are_served_at_once(void **state)
{
    struct place p;
    int fds[LOCAL_CONNECTIONS_MAX];
    place_init(&p);
    for (size_t i = 0; i < LOCAL_CONNECTIONS_MAX; i++) {
        fds[i] = reach(&p);
    }
    turn(&p);
    assert_int_equal(told(&p, ""), 503);
    close(fds[0]);
    turn(&p);
    assert_int_equal(told(&p, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 404);
    for (size_t i = 1; i < LOCAL_CONNECTIONS_MAX; i++) {
        close(fds[i]);
    }
    place_done(&p);
}

/* As many as are served say nothing; of all others each is told so, or hung up on. */
static void a_thousand_come_at_once(void **state)
{
    enum { CLIENTS = 1000, SAID = 64 };
    static int fds[CLIENTS];
    struct rlimit files = {0};
    struct place p;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    place_init(&p);
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = reach(&p);
        if (i % 8 == 7) {
            turn(&p);
        }
    }
    for (int i = LOCAL_CONNECTIONS_MAX; i < CLIENTS; i++) {
        char text[SAID] = "";
        ssize_t n = recv(fds[i], text, sizeof(text) - 1, MSG_DONTWAIT);
        assert_true(n == 0 || (n < 0 && errno == ECONNRESET) ||
                    strncmp(text, "HTTP/1.1 503 ", 13) == 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        char byte;
        if (i < LOCAL_CONNECTIONS_MAX) {
            assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1); /* still served */
        }
        close(fds[i]);
    }
    turn(&p);
    assert_int_equal(told(&p, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 404);
    place_done(&p);
}

/* One says nothing, one a byte now and then: both are hung up on, and hold up nobody. */
static void who_is_slow_is_hung_up_on(void **state)
{
    struct place p;
    struct timespec began, now;
    char byte;
    place_init(&p);
    clock_gettime(CLOCK_MONOTONIC, &began);
    int silent = reach(&p), slow = reach(&p), gone = 0;
    for (int i = 0; gone < 2 && i < TURNS_MAX; i++) {
        turn(&p);
        if (i % 50 == 0 && slow >= 0) {
            send(slow, "P", 1, MSG_NOSIGNAL);
        }
        if (i == 100) {
            assert_int_equal(told(&p, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 404);
        }
        for (int k = 0; k < 2; k++) {
            int *fd = k ? &silent : &slow;
            if (*fd >= 0 && recv(*fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0) {
                close(*fd);
                *fd = -1;
                gone++;
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert_int_equal(gone, 2);
    assert_true(now.tv_sec - began.tv_sec >= LOCAL_LIFE_MS / 1000 - 1);
    assert_true(now.tv_sec - began.tv_sec <= LOCAL_LIFE_MS / 1000 + 5);
    assert_int_equal(p.asked, 1);
    place_done(&p);
}

/* Another user of the machine, as a container's is: so many, and this one goes on. */
static void so_many_are_served_of_a_user(void **state)
{
    struct place p;
    char word = 0;
    int ends[2];
    if (geteuid() != 0) {
        skip();
    }
    place_init(&p);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int more = setuid(OTHER_USER);
        for (int i = 0; more == 0 && i < LOCAL_CONNECTIONS_OF_USER_MAX; i++) {
            reach(&p);
        }
        int last = reach(&p);
        char text[16] = "";
        ssize_t n = recv(last, text, sizeof(text) - 1, 0);
        word = n > 0 && strncmp(text, "HTTP/1.1 503", 12) == 0 ? 'f' : 'n';
        _exit(write(ends[1], &word, 1) == 1 ? 0 : 1);
    }
    int status;
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
        assert_true(i < TURNS_MAX);
        turn(&p);
    }
    assert_int_equal(read(ends[0], &word, 1), 1);
    assert_int_equal(word, 'f');
    assert_int_equal(told(&p, "POST /v1/none HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 404);
    close(ends[0]);
    close(ends[1]);
    place_done(&p);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_and_tools_are_answered),
        cmocka_unit_test(another_rep_takes_the_place),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(who_hangs_up_is_told),
        cmocka_unit_test(so_many_are_served_at_once),
        cmocka_unit_test(so_many_are_served_of_a_user),
        cmocka_unit_test(a_thousand_come_at_once),
        cmocka_unit_test(who_is_slow_is_hung_up_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* rep-hook, a real process, against an answerer on a real socket: what it asks, what becomes of
 * each answer, and how it bears a rep that is away. */
#include "rep/hook/hook_program.h"
#include "test/tool/cmocka.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT_BYTES = 16384 };

struct place {
    char dir[64], program[PATH_MAX];
    int listener; /* -1 = the rep is away */
};

/* A process of it. */
struct hook {
    pid_t pid;
    int out, err;
};

/* How it ended, and what it wrote. */
struct ended {
    int status;
    char out[OUT_BYTES], err[OUT_BYTES];
};

/* ---- The place ------------------------------------------------------------------------------- */

static const char *in(const struct place *p, const char *name)
{
    static char path[8][160];
    static unsigned next;
    char *at = path[next++ % 8];
    snprintf(at, sizeof(path[0]), "%s/%s", p->dir, name);
    return at;
}

static void write_file(const struct place *p, const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(in(p, name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(in(p, name), mode), 0);
}

static void listen_now(struct place *p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", in(p, "socket/rep"));
    unlink(at.sun_path);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(p->listener >= 0);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(p->listener, 16), 0);
}

static void place_init(struct place *p)
{
    snprintf(p->dir, sizeof(p->dir), "/tmp/corkboard-hook-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    assert_int_equal(mkdir(in(p, "socket"), 0700), 0);
    assert_int_equal(mkdir(in(p, "tools"), 0700), 0);
    write_file(p, "token", "unit-token\n", 0400);
    ssize_t n = readlink("/proc/self/exe", p->program, sizeof(p->program) - 1);
    assert_true(n > 0);
    p->program[n] = '\0';
    char *at = strstr(p->program, "/test/api/");
    assert_non_null(at);
    strcpy(at, "/bin/rep-hook");
    assert_int_equal(symlink(p->program, in(p, "tools/config-get")), 0);
    listen_now(p);
}

static void place_done(struct place *p)
{
    char command[160];
    if (p->listener >= 0) {
        close(p->listener);
    }
    snprintf(command, sizeof(command), "rm -rf %s", p->dir);
    assert_int_equal(system(command), 0);
}

/* ---- The program ----------------------------------------------------------------------------- */

static struct hook begin(const struct place *p, const char *program, const char *token,
                         const char *const *words)
{
    int out[2], err[2];
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(err), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(err[1], STDERR_FILENO);
        close(out[0]);
        close(err[0]);
        close(out[1]);
        close(err[1]);
        setenv(HOOK_DIR_VARIABLE, p->dir, 1);
        token ? setenv(HOOK_TOKEN_VARIABLE, token, 1) : unsetenv(HOOK_TOKEN_VARIABLE);
        execv(program, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    return (struct hook){pid, out[0], err[0]};
}

static void slurp(int fd, char text[OUT_BYTES])
{
    size_t size = 0;
    ssize_t n;
    while ((n = read(fd, text + size, OUT_BYTES - 1 - size)) > 0) {
        size += (size_t)n;
    }
    text[size] = '\0';
    close(fd);
}

static struct ended end_of(struct hook h)
{
    struct ended e;
    int status;
    slurp(h.out, e.out);
    slurp(h.err, e.err);
    assert_int_equal(waitpid(h.pid, &status, 0), h.pid);
    assert_true(WIFEXITED(status));
    e.status = WEXITSTATUS(status);
    return e;
}

/* ---- The rep --------------------------------------------------------------------------------- */

/* The next request: its path, and its words with "|" between them. */
static int take(const struct place *p, char path[64], char words[1024])
{
    char data[4096];
    size_t size = 0, length = 0;
    char *body = NULL;
    int fd = accept(p->listener, NULL, NULL);
    assert_true(fd >= 0);
    while (!body || size < (size_t)(body - data) + length) {
        ssize_t n = read(fd, data + size, sizeof(data) - 1 - size);
        assert_true(n > 0);
        size += (size_t)n;
        data[size] = '\0';
        char *end = strstr(data, "\r\n\r\n"), *at = strstr(data, "Content-Length: ");
        if (end && !body) {
            assert_non_null(at);
            body = end + 4;
            length = strtoul(at + 16, NULL, 10);
        }
    }
    assert_int_equal(sscanf(data, "POST %63s HTTP/1.1", path), 1);
    assert_in_range(length, 1, 1023);
    assert_int_equal(body[length - 1], '\0');
    for (size_t i = 0; i + 1 < length; i++) {
        words[i] = body[i] ? body[i] : '|';
    }
    words[length - 1] = '\0';
    return fd;
}

static void answer(int fd, int status, const char *body, size_t size)
{
    char head[128];
    int n =
        snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n", status, size);
    assert_int_equal(write(fd, head, (size_t)n), n);
    assert_int_equal(write(fd, body, size), (ssize_t)size);
    close(fd);
}

/* Takes the request, which has to be this one, and answers. */
static void expect(const struct place *p, const char *path, const char *words, int status,
                   const char *body, size_t size)
{
    char is[64], said[1024];
    int fd = take(p, is, said);
    assert_string_equal(is, path);
    assert_string_equal(said, words);
    answer(fd, status, body, size);
}

static struct ended run(const struct place *p, int status, const char *body, size_t size)
{
    const char *const words[] = {"rep-hook", "run", "1030", NULL};
    struct hook h = begin(p, p->program, NULL, words);
    expect(p, "/v1/hooks/run", "unit-token|1030", status, body, size);
    return end_of(h);
}

#define BODY(text) (text), sizeof(text)

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_tool_prints_what_it_is_answered(void **state)
{
    struct place p;
    place_init(&p);
    const char *const get[] = {"rep-hook", "relation-get", "port", "db/0", NULL};
    struct hook h = begin(&p, p.program, "hook-token", get);
    expect(&p, "/v1/hooks/tool", "hook-token|relation-get|port|db/0", 200, "8080\n", 5);
    struct ended e = end_of(h);
    assert_int_equal(e.status, 0);
    assert_string_equal(e.out, "8080\n");
    assert_string_equal(e.err, "");

    const char *const by_name[] = {"/x/config-get", NULL};
    h = begin(&p, in(&p, "tools/config-get"), "hook-token", by_name);
    expect(&p, "/v1/hooks/tool", "hook-token|config-get", 200, "", 0);
    assert_int_equal(end_of(h).status, 0);
    place_done(&p);
}

static void what_is_refused_is_final(void **state)
{
    static const struct {
        int status, exit;
    } rows[] = {{400, 2}, {403, 1}, {404, 1}, {409, 1}, {413, 1}, {500, 1}};
    const char *const words[] = {"rep-hook", "relation-set", "a=b", NULL};
    struct place p;
    place_init(&p);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hook h = begin(&p, p.program, "t", words);
        expect(&p, "/v1/hooks/tool", "t|relation-set|a=b", rows[i].status, "no\n", 3);
        struct ended e = end_of(h);
        assert_int_equal(e.status, rows[i].exit);
        assert_string_equal(e.out, "");
        assert_string_equal(e.err, "no\n");
    }
    place_done(&p);
}

static void it_is_used_wrongly(void **state)
{
    struct place p;
    place_init(&p);
    const char *const none[] = {"rep-hook", NULL}, *const no_run[] = {"rep-hook", "run", NULL};
    const char *const tool[] = {"rep-hook", "config-get", NULL};
    assert_int_equal(end_of(begin(&p, p.program, "t", none)).status, 2);
    assert_int_equal(end_of(begin(&p, p.program, "t", no_run)).status, 2);
    struct ended e = end_of(begin(&p, p.program, NULL, tool));
    assert_int_equal(e.status, 1);
    assert_string_equal(e.err, "rep-hook: config-get works in a hook only\n");
    static char half[100 * 1024];
    memset(half, 'a', sizeof(half) - 1);
    const char *great[16] = {"rep-hook", "hook-log"};
    for (size_t i = 2; i < 14; i++) {
        great[i] = half;
    }
    e = end_of(begin(&p, p.program, "t", great));
    assert_int_equal(e.status, 2);
    assert_non_null(strstr(e.err, "more than 1048576 bytes"));
    place_done(&p);
}

/* What is asked again: 503, an answer that breaks off, a connection without one. */
static void what_is_not_answered_is_asked_again(void **state)
{
    const char *const words[] = {"rep-hook", "unit-get", "machine", NULL};
    static const char cut[] = "HTTP/1.1 200 X\r\nContent-Length: 10\r\n\r\n7";
    char path[64], said[1024];
    struct place p;
    place_init(&p);
    struct hook h = begin(&p, p.program, "t", words);
    expect(&p, "/v1/hooks/tool", "t|unit-get|machine", 503, "later\n", 6);
    int fd = take(&p, path, said);
    assert_int_equal(write(fd, cut, sizeof(cut) - 1), sizeof(cut) - 1);
    close(fd);
    close(take(&p, path, said));
    expect(&p, "/v1/hooks/tool", "t|unit-get|machine", 200, "7\n", 2);
    struct ended e = end_of(h);
    assert_int_equal(e.status, 0);
    assert_string_equal(e.out, "7\n");
    place_done(&p);
}

static void a_rep_that_is_away_is_waited_for(void **state)
{
    static const struct timespec while_away = {.tv_nsec = 700 * 1000 * 1000};
    const char *const words[] = {"rep-hook", "unit-get", "machine", NULL};
    struct place p;
    place_init(&p);
    close(p.listener);
    struct hook h = begin(&p, p.program, "t", words); /* the socket is there, and nobody listens */
    nanosleep(&while_away, NULL);
    unlink(in(&p, "socket/rep"));
    nanosleep(&while_away, NULL);
    listen_now(&p);
    expect(&p, "/v1/hooks/tool", "t|unit-get|machine", 200, "7\n", 2);
    assert_int_equal(end_of(h).status, 0);
    place_done(&p);
}

static void a_rep_that_stays_away_is_told(void **state)
{
    const char *const words[] = {"rep-hook", "unit-get", "machine", NULL};
    struct timespec from, to;
    struct place p;
    place_init(&p);
    close(p.listener);
    p.listener = -1;
    clock_gettime(CLOCK_MONOTONIC, &from);
    struct ended e = end_of(begin(&p, p.program, "t", words));
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_int_equal(e.status, 1);
    assert_string_equal(e.err,
                        "rep-hook: the cell's rep has not answered for 30 s: Connection refused\n");
    assert_true(to.tv_sec - from.tv_sec >= HOOK_PATIENCE_S - 1);
    place_done(&p);
}

/* What it writes to both stands in the order in which it was written. */
#define SHOWS                                                                                      \
    "echo $0 $CORKBOARD_UNIT $CORKBOARD_TOKEN $OTHER; echo bad >&2; echo $PATH; config-get; echo " \
    "worse >&2; exit 7"

static void a_script_runs_in_its_environment(void **state)
{
    struct place p;
    place_init(&p);
    static const char body[] = "hook-token\0\0" SHOWS "\0CORKBOARD_HOOK=db-relation-changed\0"
                               "CORKBOARD_UNIT=web/3\0PATH=/bin:/usr/bin";
    char wanted[400];
    const char *const words[] = {"rep-hook", "run", "1030", NULL};
    struct hook h = begin(&p, p.program, NULL, words);
    expect(&p, "/v1/hooks/run", "unit-token|1030", 200, BODY(body));
    expect(&p, "/v1/hooks/tool", "hook-token|config-get", 200, "all\n", 4);
    struct ended e = end_of(h);
    snprintf(wanted, sizeof(wanted),
             "%s/hooks/db-relation-changed web/3 hook-token\nbad\n%s/tools:/bin:/usr/bin\n"
             "all\nworse\n",
             p.dir, p.dir);
    assert_string_equal(e.out, wanted);
    assert_string_equal(e.err, "");
    assert_int_equal(e.status, 7);
    place_done(&p);
}

static void what_a_hook_may_be(void **state)
{
    struct place p;
    place_init(&p);
    struct ended e = run(&p, 200, BODY("t\0\0#!/bin/cat\nby cat\0CORKBOARD_HOOK=install"));
    assert_int_equal(e.status, 0);
    assert_string_equal(e.out, "#!/bin/cat\nby cat");
    e = run(&p, 200, BODY("t\0/bin/false\0\0CORKBOARD_HOOK=install"));
    assert_int_equal(e.status, 1);
    e = run(&p, 200, BODY("t\0/no/such\0\0CORKBOARD_HOOK=install"));
    assert_int_equal(e.status, 126);
    assert_string_equal(e.err, "rep-hook: cannot run /no/such: No such file or directory\n");
    e = run(&p, 200, BODY("t\0\0echo $#\0CORKBOARD_HOOK=install")); /* again, over the one before */
    assert_string_equal(e.out, "0\n");
    place_done(&p);
}

static void a_run_that_is_none(void **state)
{
    struct place p;
    place_init(&p);
    struct ended e = run(&p, 403, BODY("no hook of this unit runs under that number"));
    assert_int_equal(e.status, 126);
    assert_string_equal(e.err, "rep-hook: the rep gives no hook for run 1030: no hook of this unit "
                               "runs under that number\n");
    assert_int_equal(run(&p, 400, BODY("x")).status, 2);
    e = run(&p, 200, "t", 2);
    assert_int_equal(e.status, 126);
    assert_string_equal(e.err, "rep-hook: the rep's answer is malformed\n");
    e = run(&p, 200, BODY("t\0\0x\0CORKBOARD_HOOK=../token"));
    assert_int_equal(e.status, 126);
    unlink(in(&p, "token"));
    const char *const words[] = {"rep-hook", "run", "1030", NULL};
    e = end_of(begin(&p, p.program, NULL, words));
    assert_int_equal(e.status, 126);
    assert_non_null(strstr(e.err, "cannot read"));
    place_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_prints_what_it_is_answered),
        cmocka_unit_test(what_is_refused_is_final),
        cmocka_unit_test(it_is_used_wrongly),
        cmocka_unit_test(what_is_not_answered_is_asked_again),
        cmocka_unit_test(a_rep_that_is_away_is_waited_for),
        cmocka_unit_test(a_rep_that_stays_away_is_told),
        cmocka_unit_test(a_script_runs_in_its_environment),
        cmocka_unit_test(what_a_hook_may_be),
        cmocka_unit_test(a_run_that_is_none),
    };
    return cmocka_run_group_tests_name("rep_hook", tests, NULL, NULL);
}

/* The host: a role driven in the real world (common/shell/host_io.h). Each test runs a host in a
 * process of its own and speaks to it from outside. */
#include "common/shell/health_io.h"
#include "common/shell/host_io.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/echo_role.h"
#include "test/tool/patience.h"
#include "test/tool/tls_client.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct certs certs;
static struct tls_files server_files, client_files;

struct process {
    pid_t pid;
    int port, health;
    char log_path[96];
};

static void start_with(struct process *p, const struct tls_files *files,
                       const struct tls_files *centre)
{
    *p = (struct process){0};
    snprintf(p->log_path, sizeof(p->log_path), "%s/log-XXXXXX", certs.dir);
    int fd = mkstemp(p->log_path);
    assert_true(fd >= 0);
    p->pid = fork();
    if (p->pid == 0) {
        struct host_config config = {.name = "echo-1",
                                     .listen = "127.0.0.1:0",
                                     .health = "127.0.0.1:0",
                                     .tls = *files};
        config.centre_tls = centre ? *centre : config.centre_tls;
        struct err err;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(fd, STDERR_FILENO);
        close(fd);
        struct role *role = echo_new();
        int r = host_run(role, &config, &err);
        role_free(role);
        if (r < 0) {
            dprintf(STDERR_FILENO, "failed: %s\n", err.text);
        }
        certs_forget(&certs);
        exit(r < 0 ? 100 : r);
    }
    close(fd);
    p->port = patience_port_in_log(p->log_path, "\"listens\"");
    p->health = patience_port_in_log(p->log_path, "\"health listens\"");
}

static void start(struct process *p, const struct tls_files *files)
{
    start_with(p, files, NULL);
}

/* Waits for its end; gives the exit status, or minus the signal. */
static int finish(struct process *p)
{
    int status = 0;
    for (struct patience w = {0}; waitpid(p->pid, &status, WNOHANG) == 0 && patience(&w);) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void a_role_answers_and_ends_with_its_code(void **state)
{
    struct process p;
    struct tls_client c;
    SCOPED_BUF(body);
    start(&p, &server_files);
    assert_true(client_open(&c, p.port, &client_files, 0));
    assert_int_equal(client_ask(&c, "POST", "/echo", "hello", 5, &body), 200);
    assert_string_equal(buf_string(&body), "hello");
    int64_t asked_ms = patience_now_ms();
    assert_int_equal(client_ask(&c, "GET", "/tick?100", "", 0, &body), 200);
    assert_string_equal(buf_string(&body), "tick");
    assert_true(patience_now_ms() - asked_ms >= 100);
    assert_int_equal(client_ask(&c, "GET", "/stop?7", "", 0, &body), 200);
    assert_string_equal(buf_string(&body), "stopping");
    assert_int_equal(finish(&p), 7);
    client_close(&c);
}

static void health_answers_in_plain_text_to_anything(void **state)
{
    static const char *const requests[] = {
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /any/path?x HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"};
    struct process p;
    start(&p, &server_files);
    for (size_t i = 0; i < 3; i++) {
        struct tls_client c;
        assert_true(client_open(&c, p.health, NULL, 0));
        assert_true(client_print(&c, "%s", requests[i]));
        assert_int_equal(client_answer(&c, NULL, NULL, false), 200);
        client_close(&c);
    }
    kill(p.pid, SIGTERM);
    assert_int_equal(finish(&p), 0);
}

static int descriptors_of(const struct process *p)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)p->pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int count = 0;
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count;
}

/* Anybody may connect there: many who do, and say nothing or never come to an end, neither take the
 * descriptors of the role's own peers nor the place of one who asks. */
static void health_is_bounded_whoever_connects(void **state)
{
    enum { IDLE = 120 };
    struct process p;
    struct tls_client idle[IDLE], c, endless;
    start(&p, &server_files);
    int before = descriptors_of(&p);
    for (int i = 0; i < IDLE; i++) {
        assert_true(client_open(&idle[i], p.health, NULL, 0));
        client_print(&idle[i], "G");
    }
    assert_true(client_open(&c, p.health, NULL, 0));
    assert_true(client_print(&c, "GET / HTTP/1.1\r\n\r\n"));
    assert_int_equal(client_answer(&c, NULL, NULL, false), 200);
    client_close(&c);
    assert_true(client_open(&c, p.port, &client_files, 0));
    assert_int_equal(client_ask(&c, "GET", "/counts", "", 0, NULL), 200);
    assert_in_range(descriptors_of(&p), before, before + HEALTH_CONNECTIONS_MAX + 1);
    client_close(&c);
    assert_true(client_open(&endless, p.health, NULL, 0));
    for (int i = 0; i < HEALTH_HEAD_BYTES / 8; i++) {
        client_print(&endless, "X: 4567\n");
    }
    assert_true(client_closed(&endless, CLIENT_WAIT_MS));
    client_close(&endless);
    for (int i = 0; i < IDLE; i++) {
        client_close(&idle[i]);
    }
    kill(p.pid, SIGTERM);
    assert_int_equal(finish(&p), 0);
}

static void the_first_signal_asks_and_the_second_ends(void **state)
{
    struct process p;
    struct tls_client c;
    start(&p, &server_files);
    assert_true(client_open(&c, p.port, &client_files, 0));
    assert_int_equal(client_ask(&c, "GET", "/stubborn", "", 0, NULL), 200);
    kill(p.pid, SIGINT);
    assert_int_equal(client_ask(&c, "GET", "/counts", "", 0, NULL), 200);
    kill(p.pid, SIGTERM);
    assert_int_equal(finish(&p), 128 + SIGTERM);
    client_close(&c);
}

static void a_role_calls_another_and_hears_its_end(void **state)
{
    struct process a, b;
    struct tls_client c;
    SCOPED_BUF(body);
    char target[128];
    start(&a, &server_files);
    start(&b, &server_files);
    assert_true(client_open(&c, a.port, &client_files, 0));
    snprintf(target, sizeof(target), "/call?https://127.0.0.1:%d/echo", b.port);
    assert_int_equal(client_ask(&c, "POST", target, "to b", 4, &body), 200);
    assert_string_equal(buf_string(&body), "answered|200|application/x-echo|tag|to b|");
    kill(b.pid, SIGTERM);
    assert_int_equal(finish(&b), 0);
    assert_int_equal(client_ask(&c, "POST", target, "to b", 4, &body), 200);
    assert_memory_equal(buf_string(&body), "refused|0|", 10);
    kill(a.pid, SIGTERM);
    assert_int_equal(finish(&a), 0);
    client_close(&c);
}

/* ---- Relays ---------------------------------------------------------------------------------- */

/* A host `a` that relays what `b` answers, and a connection to each. */
/* A peer of another CA is reached with the certificate for it, and not with our own; and a peer of
 * ours not with that one. */
static void two_identities_reach_a_peer_each(void **state)
{
    struct process a, home, away;
    struct tls_client c;
    struct certs centre;
    SCOPED_BUF(body);
    char target[128];
    certs_init(&centre);
    struct tls_files away_files = certs_make(&centre, "away", "bbs", "bbs", 3600);
    struct tls_files ours = certs_make(&centre, "ours", "crm", "acme/paris", 3600);
    start(&home, &server_files);
    start(&away, &away_files);
    start_with(&a, &server_files, &ours);
    assert_true(client_open(&c, a.port, &client_files, 0));
    const struct {
        const char *path;
        int port;
        const char *answer;
    } rows[] = {
        {"/centre", away.port, "answered|200|text/plain||crm|acme/paris|GET|/who|"},
        {"/call", home.port, "answered|200|text/plain||bbs|bbs|GET|/who|"},
        {"/call", away.port, "refused|0|"},
        {"/centre", home.port, "refused|0|"},
        {"/centre", away.port, "answered|200|text/plain||crm|acme/paris|GET|/who|"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(target, sizeof(target), "%s?https://127.0.0.1:%d/who", rows[i].path, rows[i].port);
        assert_int_equal(client_ask(&c, "GET", target, "", 0, &body), 200);
        if (strncmp(buf_string(&body), rows[i].answer, strlen(rows[i].answer)) != 0) {
            fail_msg("row %zu: %s", i, buf_string(&body));
        }
    }
    client_close(&c);
    struct process *const all[] = {&a, &home, &away};
    for (size_t i = 0; i < 3; i++) {
        kill(all[i]->pid, SIGTERM);
        assert_int_equal(finish(all[i]), 0);
    }
    certs_done(&centre);
}

static void a_role_has_a_program_run(void **state)
{
    struct process p;
    struct tls_client c;
    SCOPED_BUF(body);
    start(&p, &server_files);
    assert_true(client_open(&c, p.port, &client_files, 0));
    static const char script[] = "echo no such version; exit 4";
    assert_int_equal(client_ask(&c, "POST", "/launch", script, strlen(script), &body), 200);
    assert_string_equal(buf_string(&body), "4|no such version");
    assert_int_equal(client_ask(&c, "POST", "/launch", "exit 0", 6, &body), 200);
    assert_string_equal(buf_string(&body), "0|");
    client_close(&c);
    kill(p.pid, SIGTERM);
    assert_int_equal(finish(&p), 0);
}

struct relaying {
    struct process a, b;
    struct tls_client reader, peer;
    char target[128];
    struct buf body;
};

static void relaying_begin(struct relaying *w)
{
    *w = (struct relaying){0};
    start(&w->a, &server_files);
    start(&w->b, &server_files);
    assert_true(client_open(&w->reader, w->a.port, &client_files, 0));
    assert_true(client_open(&w->peer, w->b.port, &client_files, 0));
    buf_init(&w->body);
}

static void relaying_end(struct relaying *w)
{
    client_close(&w->reader);
    client_close(&w->peer);
    kill(w->a.pid, SIGTERM);
    kill(w->b.pid, SIGTERM);
    assert_int_equal(finish(&w->a), 0);
    finish(&w->b);
    buf_done(&w->body);
}

static const char *relay_of(struct relaying *w, const char *path)
{
    snprintf(w->target, sizeof(w->target), "/relay?https://127.0.0.1:%d%s", w->b.port, path);
    return w->target;
}

/* Begins to read a relay's answer and leaves its body to come. */
static void relay_open(struct relaying *w, struct tls_client *c, const char *path)
{
    SCOPED_BUF(head);
    assert_true(client_open(c, w->a.port, &client_files, 4096));
    assert_true(client_print(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", relay_of(w, path)));
    assert_int_equal(client_answer(c, &head, NULL, true), 200);
    assert_non_null(strstr(buf_string(&head), "text/relayed"));
}

static long number_at(struct relaying *w, const char *name)
{
    assert_int_equal(client_ask(&w->peer, "GET", "/counts", "", 0, &w->body), 200);
    const char *at = strstr(buf_string(&w->body), name);
    assert_non_null(at);
    return strtol(at + strlen(name) + 1, NULL, 10);
}

static void a_relay_is_the_answer_of_the_peer(void **state)
{
    static const size_t sizes[] = {0, 1, 65536, 3 << 20};
    struct relaying w;
    char path[32];
    relaying_begin(&w);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        snprintf(path, sizeof(path), "/chunks?%zu", sizes[i]);
        struct tls_client c;
        assert_true(client_open(&c, w.a.port, &client_files, 0));
        assert_int_equal(client_ask(&c, "GET", relay_of(&w, path), "", 0, &w.body), 200);
        assert_int_equal(w.body.size, sizes[i]);
        for (size_t j = 0; j < sizes[i]; j += 997) {
            assert_int_equal(w.body.data[j], 'a' + j % 26);
        }
        client_close(&c);
    }
    assert_int_equal(client_ask(&w.reader, "GET", relay_of(&w, "/nothing"), "", 0, &w.body), 200);
    assert_memory_equal(buf_string(&w.body), "answered|404|||404 page not found\n|", 34);
    assert_int_equal(client_ask(&w.reader, "GET", relay_of(&w, "/never"), "", 0, &w.body), 200);
    assert_memory_equal(buf_string(&w.body), "unknown|0|", 10);
    relaying_end(&w);
}

/* The peer is asked for no more than the reader takes; what it takes then has no gap. */
static void a_relay_holds_the_peer_back(void **state)
{
    enum { CHUNKS_MAX = 1000, READ = 1 << 20 };
    struct relaying w;
    struct tls_client c;
    long before = -1, now = 0;
    relaying_begin(&w);
    relay_open(&w, &c, "/flood");
    for (struct patience p = {0}; before != now || now == 0;) {
        assert_true(patience(&p));
        usleep(200 * 1000);
        before = now;
        now = number_at(&w, "fills");
    }
    assert_in_range(now, 1, CHUNKS_MAX);
    while (c.input.size < READ) {
        assert_true(client_read(&c, CLIENT_WAIT_MS));
    }
    for (struct patience p = {0}; number_at(&w, "fills") == now;) {
        assert_true(client_read(&c, CLIENT_WAIT_MS));
        assert_true(patience(&p));
    }
    client_close(&c);
    for (struct patience p = {0}; number_at(&w, "cursors") != 0;) {
        assert_true(patience(&p)); /* the peer is left with the reader */
    }
    relaying_end(&w);
}

static void a_relay_says_that_the_peer_broke_off(void **state)
{
    struct relaying w;
    struct tls_client c;
    relaying_begin(&w);
    relay_open(&w, &c, "/stream");
    assert_int_equal(client_ask(&w.peer, "POST", "/publish", "amid a line", 11, NULL), 200);
    while (!strstr(buf_string(&c.input), "amid a line")) {
        assert_true(client_read(&c, CLIENT_WAIT_MS));
    }
    kill(w.b.pid, SIGKILL);
    assert_true(client_closed(&c, CLIENT_WAIT_MS));
    assert_non_null(strstr(buf_string(&c.input), "\n-- broken off --\n"));
    assert_non_null(strstr(buf_string(&c.input), "\r\n0\r\n\r\n")); /* it ends as it should */
    client_close(&c);
    relaying_end(&w);
}

static void one_relay_more_than_the_bound_is_refused(void **state)
{
    static struct tls_client readers[RELAYS_MAX];
    struct relaying w;
    relaying_begin(&w);
    for (int i = 0; i < RELAYS_MAX; i++) {
        relay_open(&w, &readers[i], "/stream");
    }
    assert_int_equal(client_ask(&w.reader, "GET", relay_of(&w, "/stream"), "", 0, &w.body), 200);
    assert_string_equal(buf_string(&w.body), "refused|0||||too many answers are passed on");
    client_close(&readers[0]);
    for (struct patience p = {0};
         assert_int_equal(client_ask(&w.reader, "GET", relay_of(&w, "/chunks?3"), "", 0, &w.body),
                          200),
                         strcmp(buf_string(&w.body), "abc") != 0;) {
        assert_true(patience(&p));
    }
    for (int i = 1; i < RELAYS_MAX; i++) {
        client_close(&readers[i]);
    }
    client_close(&w.reader); /* a relay's answer ends its connection */
    assert_true(client_open(&w.reader, w.a.port, &client_files, 0));
    relaying_end(&w);
}

static void a_bad_start_is_an_error_that_names_what_is_wrong(void **state)
{
    struct role *role = echo_new();
    struct err err = {0};
    struct host_config config = {.name = "e", .listen = "127.0.0.1:0", .tls = server_files};
    config.tls.cert = "/nonexistent/x.crt";
    assert_int_equal(host_run(role, &config, &err), -ERR_INVALID);
    assert_string_equal(err.text,
                        "certificate /nonexistent/x.crt: No such file or directory");
    config.tls = server_files;
    config.listen = "nowhere";
    assert_int_equal(host_run(role, &config, &err), -ERR_INVALID);
    assert_string_equal(err.text, "listen address nowhere: want IP:PORT or [IPv6]:PORT");
    struct process p;
    char taken[32];
    start(&p, &server_files);
    snprintf(taken, sizeof(taken), "127.0.0.1:%d", p.port);
    config.listen = taken;
    assert_int_equal(host_run(role, &config, &err), -ERR_IO);
    assert_non_null(strstr(err.text, "Address already in use"));
    kill(p.pid, SIGTERM);
    assert_int_equal(finish(&p), 0);
    role_free(role);
}

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    server_files = certs_make(&certs, "server", "bbs", "bbs", 3600);
    client_files = certs_make(&certs, "client", "client", "admin", 3600);
    return 0;
}

static int teardown(void **state)
{
    certs_done(&certs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_answers_and_ends_with_its_code),
        cmocka_unit_test(health_answers_in_plain_text_to_anything),
        cmocka_unit_test(health_is_bounded_whoever_connects),
        cmocka_unit_test(the_first_signal_asks_and_the_second_ends),
        cmocka_unit_test(a_role_calls_another_and_hears_its_end),
        cmocka_unit_test(two_identities_reach_a_peer_each),
        cmocka_unit_test(a_role_has_a_program_run),
        cmocka_unit_test(a_relay_is_the_answer_of_the_peer),
        cmocka_unit_test(a_relay_holds_the_peer_back),
        cmocka_unit_test(a_relay_says_that_the_peer_broke_off),
        cmocka_unit_test(one_relay_more_than_the_bound_is_refused),
        cmocka_unit_test(a_bad_start_is_an_error_that_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

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

static void start(struct process *p, const struct tls_files *files)
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
        cmocka_unit_test(a_bad_start_is_an_error_that_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

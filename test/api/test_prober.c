/* Probes against real sockets: what becomes of each kind of answer, and of none; how much of it is
 * read; and what a thousand cost. */
#include "common/shell/prober_io.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A server -------------------------------------------------------------------------------- */

static void say(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0) {
        _exit(0);
    }
}

static void large_head(int fd, bool one_line)
{
    char kilobyte[1025];
    memset(kilobyte, 'x', sizeof(kilobyte) - 1);
    kilobyte[1024] = '\0';
    say(fd, "HTTP/1.1 200 OK\r\nX: ");
    for (int i = 0; i < 10 * 1024; i++) {
        say(fd, kilobyte);
        say(fd, one_line ? "" : "\r\nX: ");
    }
    say(fd, "\r\n\r\n");
}

/* By its path; asks for the words that a probe must bring. */
static void answer(int fd, const char *request)
{
    bool well = strstr(request, "User-Agent: diego-healthcheck\r\n") &&
                strstr(request, "X-Forwarded-Proto: https\r\n");
    if (strncmp(request, "GET /silent ", 12) == 0) {
        pause();
    } else if (strncmp(request, "GET /close ", 11) == 0) {
        return;
    } else if (strncmp(request, "GET /big ", 9) == 0) {
        large_head(fd, false);
    } else if (strncmp(request, "GET /line ", 10) == 0) {
        large_head(fd, true);
    } else if (strncmp(request, "GET /ring ", 10) == 0) {
        say(fd, "HTTP/1.1 302 Found\r\nLocation: /ring\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(request, "GET /once ", 10) == 0) {
        say(fd, "HTTP/1.1 301 Moved\r\nLocation: well\r\nContent-Length: 5\r\n\r\nhello");
    } else if (strncmp(request, "GET /away ", 10) == 0) {
        say(fd, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\n\r\n");
    } else if (strncmp(request, "GET /stuck ", 11) == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
        pause();
    } else if (strncmp(request, "GET /noise ", 11) == 0) {
        say(fd, "this is no HTTP\r\n\r\n");
    } else {
        say(fd, well && strncmp(request, "GET /well", 9) == 0
                    ? "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                    : "HTTP/1.1 503 Not Now\r\nContent-Length: 0\r\n\r\n");
    }
}

static void serve(int listener)
{
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        char request[4096] = "";
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) {
            continue;
        }
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(PATIENCE_MS / 1000); /* if the server was gone before that */
            if (read(fd, request, sizeof(request) - 1) > 0) {
                answer(fd, request);
            }
            _exit(0);
        }
        close(fd);
    }
}

struct rig {
    struct event_base *base;
    struct prober *prober;
    pid_t server;
    uint32_t port;
    struct probed last;
    char text[300];
    unsigned told;
    unsigned successors; /* so many of those that end are followed by another at once */
    uint64_t next_id;
};

static void begin(struct rig *r, enum probe_kind kind, const char *path, int64_t timeout_ms);

static void told(void *context, const struct probed *probed)
{
    struct rig *r = context;
    r->last = *probed;
    snprintf(r->text, sizeof(r->text), "%s", probed->text);
    r->told++;
    if (r->successors > 0) {
        r->successors--;
        begin(r, PROBE_HTTP, "/well", PATIENCE_MS);
    }
}

static int setup(void **state)
{
    struct rig *r = calloc(1, sizeof(*r));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1024), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    r->port = ntohs(at.sin_port);
    r->server = fork();
    if (r->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    close(listener);
    r->base = event_base_new();
    r->prober = prober_new(r->base, told, r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct rig *r = *state;
    prober_free(r->prober);
    event_base_free(r->base);
    kill(r->server, SIGKILL);
    waitpid(r->server, NULL, 0);
    free(r);
    return 0;
}

static void begin(struct rig *r, enum probe_kind kind, const char *path, int64_t timeout_ms)
{
    prober_probe(r->prober, &(struct probe){.id = ++r->next_id,
                                            .guid = "guid",
                                            .kind = kind,
                                            .address = "127.0.0.1",
                                            .port = r->port,
                                            .path = path,
                                            .timeout_ms = timeout_ms});
}

static void await(struct rig *r, unsigned count)
{
    while (r->told < count) {
        assert_int_equal(event_base_loop(r->base, EVLOOP_ONCE), 0);
    }
}

static void becomes(struct rig *r, const char *path, enum probe_outcome outcome, int status,
                    const char *text)
{
    r->told = 0;
    begin(r, PROBE_HTTP, path, outcome == PROBE_TIMED_OUT ? 300 : PATIENCE_MS / 2);
    assert_int_equal(r->told, 0); /* never from inside of the call */
    await(r, 1);
    if (r->last.outcome != outcome || r->last.status != status || strcmp(r->text, text) != 0) {
        fail_msg("%s: outcome %d, status %d, \"%s\"", path, r->last.outcome, r->last.status,
                 r->text);
    }
    assert_int_equal(r->last.id, r->next_id);
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void each_kind_of_answer(void **state)
{
    struct rig *r = *state;
    becomes(r, "/well", PROBE_ANSWERED, 200, "");
    becomes(r, "/well?a=b c", PROBE_ANSWERED, 200, "");
    becomes(r, "/other", PROBE_ANSWERED, 503, "");
    becomes(r, "/once", PROBE_ANSWERED, 200, "");
    becomes(r, "/stuck", PROBE_ANSWERED, 200, "");
    becomes(r, "/silent", PROBE_TIMED_OUT, 0, "");
    becomes(r, "/ring", PROBE_FAILED, 0, "stopped after 10 redirects");
    becomes(r, "/away", PROBE_FAILED, 0, "redirected to another address, which is not followed");
    becomes(r, "/close", PROBE_FAILED, 0, "the connection was closed without an answer");
    r->told = 0;
    begin(r, PROBE_HTTP, "/noise", PATIENCE_MS / 2);
    await(r, 1);
    assert_int_equal(r->last.outcome, PROBE_FAILED);
    assert_true(r->text[0] != '\0');
}

static long memory_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void a_large_head_is_not_kept(void **state)
{
    enum { MUCH_KB = 4096 };
    struct rig *r = *state;
    becomes(r, "/well", PROBE_ANSWERED, 200, "");
    long before_kb = memory_kb();
    becomes(r, "/big", PROBE_FAILED, 0, "the head of the answer is larger than 65536 bytes");
    becomes(r, "/line", PROBE_FAILED, 0, "the head of the answer is larger than 65536 bytes");
    assert_true(memory_kb() - before_kb < MUCH_KB);
}

static void tcp(void **state)
{
    struct rig *r = *state;
    begin(r, PROBE_TCP, "", 1000);
    assert_int_equal(r->told, 0);
    await(r, 1);
    assert_int_equal(r->last.outcome, PROBE_ANSWERED);
}

/* The port belongs to a socket that does not listen. A server that is killed would not do: what it
 * forked for the last request may hold its listener a moment longer. */
static void a_port_where_nobody_listens(void **state)
{
    struct rig *r = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(bound, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(bound, (struct sockaddr *)&at, &size), 0);
    r->port = ntohs(at.sin_port);
    begin(r, PROBE_TCP, "", 1000);
    await(r, 1);
    assert_int_equal(r->last.outcome, PROBE_REFUSED);
    begin(r, PROBE_HTTP, "/", 1000);
    await(r, 2);
    assert_int_equal(r->last.outcome, PROBE_REFUSED);
    close(bound);
}

static void as_many_as_there_may_be_at_once(void **state)
{
    struct rig *r = *state;
    for (int i = 0; i < PROBES_MAX; i++) {
        begin(r, PROBE_HTTP, "/silent", 200);
    }
    await(r, PROBES_MAX);
    assert_int_equal(r->last.outcome, PROBE_TIMED_OUT);
    becomes(r, "/well", PROBE_ANSWERED, 200, "");
}

/* Whoever is told that one has ended may have its place at once. */
static void the_place_of_one_that_ended_is_free(void **state)
{
    struct rig *r = *state;
    r->successors = PROBES_MAX;
    for (int i = 0; i < PROBES_MAX; i++) {
        begin(r, i % 2 ? PROBE_HTTP : PROBE_TCP, "/well", PATIENCE_MS);
    }
    await(r, 2 * PROBES_MAX);
    assert_int_equal(r->successors, 0);
}

static void those_that_are_open_end_with_it(void **state)
{
    struct rig *r = *state;
    begin(r, PROBE_HTTP, "/silent", PATIENCE_MS);
    begin(r, PROBE_TCP, "", 1000);
    event_base_loop(r->base, EVLOOP_NONBLOCK); /* torn down as they are */
}

static double cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}

static void what_a_thousand_cost(void **state)
{
    enum { THOUSAND = 1000, AT_ONCE = 20 };
    struct rig *r = *state;
    static const char *const names[] = {[PROBE_HTTP] = "http", [PROBE_TCP] = "tcp"};
    for (int kind = PROBE_HTTP; kind <= PROBE_TCP; kind++) {
        double before = cpu_ms();
        for (unsigned i = 0; i < THOUSAND; i += AT_ONCE) {
            r->told = 0;
            for (int k = 0; k < AT_ONCE; k++) {
                begin(r, (enum probe_kind)kind, "/well", PATIENCE_MS);
            }
            await(r, AT_ONCE);
        }
        print_message("%d %s probes: %.0f ms of processor time\n", THOUSAND, names[kind],
                      cpu_ms() - before);
    }
    assert_int_equal(r->last.outcome, PROBE_ANSWERED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kind_of_answer),
        TEST(a_large_head_is_not_kept),
        TEST(tcp),
        TEST(a_port_where_nobody_listens),
        TEST(as_many_as_there_may_be_at_once),
        TEST(the_place_of_one_that_ended_is_free),
        TEST(those_that_are_open_end_with_it),
        TEST(what_a_thousand_cost),
    };
    return cmocka_run_group_tests_name("prober", tests, NULL, NULL);
}

/* Calls to URLs that users give: what libcurl makes of them must be what Go's client would
 * (behaviour.md 13.4). */
#include "common/shell/http_client_io.h"
#include "test/tool/certs.h"
#include "test/tool/cmocka.h"
#include "test/tool/echo_server.h"
#include "test/tool/patience.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE = 256,
    HEAD = 8192,
    STEP_MS = 5,
    ANSWERED_MS = PATIENCE_MS / 2, /* an answer comes, however slow the machine is */
    SILENT_MS = 400,               /* none comes */
};

/* ---- A user's server, in plain text ---------------------------------------------------------- */

/* A process that notes each request as a line "POST /path application/json BODY" and answers by its
 * path: /status/N; /to/N/REST redirects with status N to /REST; /bare/N the same without Location;
 * /hop/N redirects N times; /out/N/URL redirects to URL; /close reads it and closes; /silent never
 * answers; /endless and /stuck answer 200 and a body that never ends, or never comes. */
struct user_server {
    pid_t pid;
    int port;
    int notes;
};

__attribute__((format(printf, 2, 3))) static void say(int fd, const char *format, ...)
{
    char text[HEAD];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (write(fd, text, (size_t)size) < 0) {
        _exit(0);
    }
}

static void redirect(int fd, int status, const char *to)
{
    say(fd, "HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, to);
}

static void flood(int fd)
{
    char zeros[4096] = {0};
    say(fd, "HTTP/1.1 200 OK\r\n\r\n");
    while (write(fd, zeros, sizeof(zeros)) > 0) {
    }
}

static void answer(int fd, const char *path)
{
    int status = 0, at = 0;
    char to[LINE];
    if (sscanf(path, "/status/%d", &status) == 1) {
        say(fd, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 %d Any\r\nContent-Length: %d\r\n\r\n%s",
            status, status == 204 ? 0 : 2, status == 204 ? "" : "no");
    } else if (sscanf(path, "/to/%d%n", &status, &at) == 1) {
        redirect(fd, status, path + at);
    } else if (sscanf(path, "/out/%d/%n", &status, &at) == 1) {
        redirect(fd, status, path + at);
    } else if (sscanf(path, "/bare/%d", &status) == 1) {
        say(fd, "HTTP/1.1 %d Elsewhere\r\nContent-Length: 0\r\n\r\n", status);
    } else if (sscanf(path, "/hop/%d", &status) == 1) {
        snprintf(to, sizeof(to), "/hop/%d", status - 1);
        redirect(fd, 307, status > 1 ? to : "/status/200");
    } else if (strcmp(path, "/silent") == 0) {
        pause();
    } else if (strcmp(path, "/endless") == 0) {
        flood(fd);
    } else if (strcmp(path, "/stuck") == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
        pause();
    }
}

/* Head and body; false when the client has closed. */
static bool read_request(int fd, char *text, size_t room)
{
    size_t size = 0;
    for (;;) {
        ssize_t n = read(fd, text + size, room - size - 1);
        if (n <= 0) {
            return false;
        }
        size += (size_t)n;
        text[size] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "Content-Length:");
        size_t body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
        if (end && size >= (size_t)(end + 4 - text) + body) {
            return true;
        }
    }
}

static void serve(int fd, int notes)
{
    char text[HEAD], method[16], path[LINE], type[64] = "-";
    while (read_request(fd, text, sizeof(text))) {
        const char *found = strcasestr(text, "Content-Type:");
        if (sscanf(text, "%15s %255s", method, path) != 2 ||
            (found && sscanf(found + 13, " %63s", type) != 1)) {
            break;
        }
        const char *body = strstr(text, "\r\n\r\n") + 4;
        say(notes, "%s %s %s %s\n", method, path, type, *body ? body : "-");
        answer(fd, path);
        if (strcmp(path, "/close") == 0) {
            break;
        }
    }
    _exit(0);
}

static void listen_any(int *ret_fd, int *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    *ret_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(*ret_fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(*ret_fd, 64), 0);
    assert_int_equal(getsockname(*ret_fd, (struct sockaddr *)&at, &size), 0);
    *ret_port = ntohs(at.sin_port);
}

static void user_server_start(struct user_server *s)
{
    int fd, notes[2];
    listen_any(&fd, &s->port);
    assert_int_equal(pipe(notes), 0);
    s->notes = notes[0];
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that failed stops nothing */
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int one = accept(fd, NULL, NULL);
            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                serve(one, notes[1]);
            }
            close(one);
        }
    }
    setpgid(s->pid, s->pid);
    close(fd);
    close(notes[1]);
}

static void user_server_stop(struct user_server *s)
{
    kill(-s->pid, SIGKILL); /* with those that answer */
    waitpid(s->pid, NULL, 0);
    close(s->notes);
}

/* What it noted since the last time. */
static void noted(struct user_server *s, char *out, size_t room)
{
    struct pollfd p = {.fd = s->notes, .events = POLLIN};
    size_t size = 0;
    while (poll(&p, 1, 0) == 1 && size < room - 1) {
        ssize_t n = read(s->notes, out + size, room - 1 - size);
        if (n <= 0) {
            break;
        }
        size += (size_t)n;
    }
    out[size] = '\0';
}

/* ---- The client ------------------------------------------------------------------------------ */

static struct certs certs, strange_certs;
static struct tls_files server_files, client_files;

struct scene {
    struct user_server user;
    struct echo_server echo; /* over TLS, ours */
    struct event_base *base;
    struct http_client *client;
    unsigned answers;
    struct response response;
    size_t body;
    char text[LINE];
};

static void on_response(void *context, const struct response *r)
{
    struct scene *s = context;
    s->answers++;
    s->response = *r;
    s->body = r->body.size;
    snprintf(s->text, sizeof(s->text), "%s", r->text);
}

static void on_stream(void *context, const struct stream_event *n)
{
    fail();
}

static void begin(struct scene *s)
{
    *s = (struct scene){0};
    user_server_start(&s->user);
    echo_server_start(&s->echo, &(struct http_server_config){.tls = server_files}, 0, -1);
    s->base = event_base_new();
    s->client = http_client_new(&client_files, s->base,
                                &(struct http_client_handlers){.on_response = on_response,
                                                           .on_stream = on_stream,
                                                           .context = s});
}

static void end(struct scene *s)
{
    http_client_free(s->client);
    event_base_free(s->base);
    user_server_stop(&s->user);
    assert_true(echo_server_stop(&s->echo));
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void call_url(struct scene *s, const char *url, int64_t limit_ms)
{
    s->answers = 0;
    http_client_call(s->client, &(struct call){.id = 1,
                                               .method = "POST",
                                               .url = url,
                                               .content_type = "application/json",
                                               .accept = "",
                                               .if_none_match = "",
                                               .trace_id = "",
                                               .body = bytes_of("{}"),
                                               .deadline_ns =
                                                   now_ns() + limit_ms * MILLISECOND_NS,
                                               .outside = true});
    for (struct patience p = {0}; !s->answers && patience_lasts(&p);) {
        struct timeval tv = {.tv_usec = STEP_MS * 1000};
        event_base_loopexit(s->base, &tv);
        event_base_dispatch(s->base);
    }
    assert_int_equal(s->answers, 1);
}

/* A path of the user's server, or a whole URL; "TLS" in it stands for our own server's address,
 * "NAMED" for the user's by its name. */
static void call(struct scene *s, const char *target, int64_t limit_ms)
{
    SCOPED_BUF(url);
    const char *tls = strstr(target, "TLS"), *named = strstr(target, "NAMED");
    if (*target == '/') {
        buf_printf(&url, "http://127.0.0.1:%d", s->user.port);
    }
    size_t size = tls ? (size_t)(tls - target) : named ? (size_t)(named - target) : strlen(target);
    buf_append(&url, target, size);
    if (named) {
        buf_printf(&url, "http://localhost:%d%s", s->user.port, named + 5);
    } else if (tls) {
        buf_printf(&url, "https://127.0.0.1:%d%s", s->echo.port, tls + 3);
    }
    call_url(s, buf_string(&url), limit_ms);
}

/* ---- What comes of them ---------------------------------------------------------------------- */

#define POSTED(path) "POST " path " application/json {}\n"
#define GOT(path) "GET " path " application/json -\n"
#define HOPS POSTED("/hop/8") POSTED("/hop/7") POSTED("/hop/6") POSTED("/hop/5") POSTED("/hop/4") \
    POSTED("/hop/3") POSTED("/hop/2") POSTED("/hop/1")

static void an_answer_is_what_comes_at_the_end(void **state)
{
    static const struct {
        const char *target;
        int status;
        const char *heard; /* by the user's server */
    } cases[] = {
        {"/status/200", 200, POSTED("/status/200")},
        {"/status/204", 204, POSTED("/status/204")},
        {"/status/404", 404, POSTED("/status/404")},
        {"/status/500", 500, POSTED("/status/500")},
        {"/status/503", 503, POSTED("/status/503")},
        /* The body is sent again at 307 and 308; elsewhere a GET comes of it. */
        {"/to/301/status/200", 200, POSTED("/to/301/status/200") GOT("/status/200")},
        {"/to/302/status/404", 404, POSTED("/to/302/status/404") GOT("/status/404")},
        {"/to/303/status/503", 503, POSTED("/to/303/status/503") GOT("/status/503")},
        {"/to/307/status/200", 200, POSTED("/to/307/status/200") POSTED("/status/200")},
        {"/to/308/status/504", 504, POSTED("/to/308/status/504") POSTED("/status/504")},
        {"/out/307/TLS/status?418", 418, NULL},
        /* Ten requests at most. */
        {"/hop/9", 200, POSTED("/hop/9") HOPS POSTED("/status/200")},
        /* No redirects: without a place, or of a kind that nobody follows. */
        {"/bare/302", 302, POSTED("/bare/302")},
        {"/bare/307", 307, POSTED("/bare/307")},
        {"/to/300/status/200", 300, POSTED("/to/300/status/200")},
        {"/to/304/status/200", 304, POSTED("/to/304/status/200")},
        {"/to/305/status/200", 305, POSTED("/to/305/status/200")},
        /* The head is the answer, whatever becomes of the body. */
        {"/endless", 200, POSTED("/endless")},
        {"/stuck", 200, POSTED("/stuck")},
        /* Our certificate is shown, and theirs is of our CA. */
        {"TLS/status?201", 201, ""},
        {"TLS/status?504", 504, ""},
    };
    struct scene s;
    char heard[HEAD];
    begin(&s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        call(&s, cases[i].target, ANSWERED_MS);
        noted(&s.user, heard, sizeof(heard));
        if (s.response.outcome != CALL_ANSWERED || s.response.status != cases[i].status) {
            fail_msg("%s: outcome %d status %d %s", cases[i].target, s.response.outcome,
                     s.response.status, s.text);
        }
        if (cases[i].heard) {
            assert_string_equal(heard, cases[i].heard);
        }
        assert_int_equal(s.body, 0);
    }
    end(&s);
}

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), wanted = strlen(end);
    return size >= wanted && strcmp(text + size - wanted, end) == 0;
}

/* A name is looked up in the middle of it all: what was sent on goes on as it was, and counts. */
static void names_are_looked_up_on_the_way(void **state)
{
    static const struct {
        const char *target, *heard; /* at last; NULL = it ends in a fault, and */
        enum call_outcome outcome;
    } cases[] = {
        {"NAMED/status/200", POSTED("/status/200"), CALL_ANSWERED},
        {"NAMED/to/303/status/200", GOT("/status/200"), CALL_ANSWERED},
        {"/out/303/NAMED/status/200", GOT("/status/200"), CALL_ANSWERED},
        {"/out/303/NAMED/to/307/status/200", GOT("/status/200"), CALL_ANSWERED},
        {"/out/307/NAMED/status/200", POSTED("/status/200"), CALL_ANSWERED},
        {"/out/307/NAMED/hop/8", POSTED("/status/200"), CALL_ANSWERED},
        {"/out/307/NAMED/hop/9", NULL, CALL_UNKNOWN},
        {"/out/307/http://no.such.host.invalid/", NULL, CALL_UNKNOWN}, /* the first was sent */
        {"http://no.such.host.invalid/", NULL, CALL_REFUSED},
    };
    char heard[HEAD];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene s;
        begin(&s); /* that knows no name yet */
        call(&s, cases[i].target, ANSWERED_MS);
        noted(&s.user, heard, sizeof(heard));
        if (s.response.outcome != cases[i].outcome ||
            (cases[i].heard && !ends_in(heard, cases[i].heard))) {
            fail_msg("%s: outcome %d status %d %s, heard %s", cases[i].target, s.response.outcome,
                     s.response.status, s.text, heard);
        }
        end(&s);
    }
}

static void a_fault_says_whether_it_is_worth_repeating(void **state)
{
    static const struct {
        const char *target;
        enum call_fault fault;
    } cases[] = {
        {"/close", CALL_FAULT_CLOSED},
        {"/to/307/close", CALL_FAULT_CLOSED},
        {"/silent", CALL_FAULT_TIMED_OUT},
        {"/to/302/silent", CALL_FAULT_TIMED_OUT},
        {"TLS/never", CALL_FAULT_TIMED_OUT},
        {"/hop/10", CALL_FAULT_OTHER},
        {"/to/302/to/302/to/302/to/302/to/302/to/302/to/302/to/302/to/302/to/302/status/200",
         CALL_FAULT_OTHER},
        {"/out/302/file:///etc/passwd", CALL_FAULT_OTHER},
        {"/out/302/http://127.0.0.1:1/", CALL_FAULT_OTHER},
        {"http://127.0.0.1:1/", CALL_FAULT_OTHER}, /* nobody listens */
        {"https://127.0.0.1:1/", CALL_FAULT_OTHER},
        {"http://no.such.host.invalid/", CALL_FAULT_OTHER},
        {"http://", CALL_FAULT_OTHER},
        {"http://[::1/", CALL_FAULT_OTHER},
        {"http://127.0.0.1:99999/", CALL_FAULT_OTHER},
        {"file:///etc/passwd", CALL_FAULT_OTHER},
        {"ftp://127.0.0.1/", CALL_FAULT_OTHER},
        {"gopher://127.0.0.1/", CALL_FAULT_OTHER},
        {"", CALL_FAULT_OTHER},
    };
    struct scene s;
    begin(&s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        call(&s, cases[i].target,
             cases[i].fault == CALL_FAULT_TIMED_OUT ? SILENT_MS : ANSWERED_MS);
        if (s.response.outcome == CALL_ANSWERED || s.response.fault != cases[i].fault) {
            fail_msg("%s: outcome %d fault %d status %d %s", cases[i].target, s.response.outcome,
                     s.response.fault, s.response.status, s.text);
        }
        assert_true(*s.text);
    }
    end(&s);
}

/* A connection that had served before and is closed without an answer: whoever calls decides
 * whether to try again, for the first try may have been heard (test_bbs_callbacks counts attempts).
 */
static void a_request_is_sent_once(void **state)
{
    static const char *const targets[] = {"/status/200", "/close", "/status/200", "/to/307/close",
                                          "/to/303/close", "/to/307/to/308/close"};
    struct scene s;
    char heard[HEAD];
    begin(&s);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        call(&s, targets[i], ANSWERED_MS);
    }
    noted(&s.user, heard, sizeof(heard));
    assert_string_equal(heard, POSTED("/status/200") POSTED("/close") POSTED("/status/200")
                                   POSTED("/to/307/close") POSTED("/close")
                                   POSTED("/to/303/close") GOT("/close")
                                   POSTED("/to/307/to/308/close") POSTED("/to/308/close")
                                   POSTED("/close"));
    end(&s);
}

/* Nobody answers a connection, in plain text or TLS: that is a time-out too. */
static void a_connection_that_nobody_takes_times_out(void **state)
{
    struct scene s;
    int fd, port;
    char url[LINE];
    begin(&s);
    listen_any(&fd, &port);
    static const char *const schemes[] = {"http", "https"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(url, sizeof(url), "%s://127.0.0.1:%d/", schemes[i], port);
        call_url(&s, url, SILENT_MS);
        assert_int_not_equal(s.response.outcome, CALL_ANSWERED);
        assert_int_equal(s.response.fault, CALL_FAULT_TIMED_OUT);
    }
    close(fd);
    end(&s);
}

/* Our CA is the only root. */
static void a_stranger_is_not_notified(void **state)
{
    struct scene s;
    struct echo_server bad;
    char url[LINE];
    begin(&s);
    struct tls_files strange = certs_make(&strange_certs, "strange", "cc", "cc", 3600);
    echo_server_start(&bad, &(struct http_server_config){.tls = strange}, 0, -1);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/status?200", bad.port);
    call_url(&s, url, ANSWERED_MS);
    assert_int_equal(s.response.outcome, CALL_REFUSED);
    assert_int_equal(s.response.fault, CALL_FAULT_OTHER);
    assert_true(echo_server_stop(&bad));
    end(&s);
}

/* An ordinary call goes nowhere else and never in plain text. */
static void only_calls_outside_follow(void **state)
{
    struct scene s;
    char url[LINE];
    begin(&s);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/status/200", s.user.port);
    http_client_call(s.client, &(struct call){.id = 1,
                                              .method = "POST",
                                              .url = url,
                                              .content_type = "",
                                              .accept = "",
                                              .if_none_match = "",
                                              .trace_id = "",
                                              .deadline_ns = NEVER_NS});
    for (struct patience p = {0}; !s.answers && patience_lasts(&p);) {
        struct timeval tv = {.tv_usec = STEP_MS * 1000};
        event_base_loopexit(s.base, &tv);
        event_base_dispatch(s.base);
    }
    assert_int_equal(s.response.outcome, CALL_REFUSED);
    end(&s);
}

static int setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    certs_init(&certs);
    certs_init(&strange_certs);
    server_files = certs_make(&certs, "server", "cc", "cc", 3600);
    client_files = certs_make(&certs, "client", "bbs", "bbs-1", 3600);
    return 0;
}

static int teardown(void **state)
{
    certs_done(&certs);
    certs_done(&strange_certs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_what_comes_at_the_end),
        cmocka_unit_test(names_are_looked_up_on_the_way),
        cmocka_unit_test(a_fault_says_whether_it_is_worth_repeating),
        cmocka_unit_test(a_request_is_sent_once),
        cmocka_unit_test(a_connection_that_nobody_takes_times_out),
        cmocka_unit_test(a_stranger_is_not_notified),
        cmocka_unit_test(only_calls_outside_follow),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

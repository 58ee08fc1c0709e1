/* The gRPC server shell against peers that make their frames by hand: its rules, numbered as in
 * common/shell/grpc_server_io.h, and bad input. */
#include "common/base/random.h"
#include "common/shell/grpc_call.h"
#include "test/tool/certs.h"
#include "test/tool/grpc_echo.h"
#include "test/tool/h2_client.h"
#include "test/tool/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct certs certs;
    struct tls_files server, client;
    struct grpc_echo echo;
    struct h2_client c;
};

static void begin(struct fixture *f, struct grpc_times times, unsigned connections_max)
{
    grpc_echo_start(&f->echo, &(struct grpc_server_config){.tls = f->server,
                                                           .times = times,
                                                           .connections_max = connections_max});
    /* On a slow machine a short time for the handshake may be over before it is done: once more. */
    for (struct patience p = {0}; !h2_open(&f->c, f->echo.port, &f->client);) {
        h2_close(&f->c);
        assert_true(patience(&p));
    }
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    certs_init(&f->certs);
    f->server = certs_make(&f->certs, "server", "bbs", "server", 3600);
    f->client = certs_make(&f->certs, "client", "operators", "ada", 3600);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    certs_done(&f->certs);
    test_free(f);
    return 0;
}

/* Ends both sides; the server must end well. */
static void end(struct fixture *f)
{
    h2_close(&f->c);
    assert_true(grpc_echo_stop(&f->echo));
}

static void expect_message(struct fixture *f, uint32_t stream, const char *text)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, stream, &a));
    assert_int_equal(a.http_status, 200);
    assert_int_equal(a.grpc_status, 0);
    assert_true(a.body.size >= 5);
    assert_int_equal(a.body.size - 5, strlen(text));
    assert_memory_equal(a.body.data + 5, text, strlen(text));
    h2_answer_done(&a);
}

static void expect_refused(struct fixture *f, uint32_t stream, int status, const char *text)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, stream, &a));
    if (a.grpc_status != status || strcmp(a.message, text) != 0 || a.body.size) {
        fail_msg("expected %d \"%s\", got %d \"%s\" (http %d, reset %lld, goaway %lld, closed %d)",
                 status, text, a.grpc_status, a.message, a.http_status, (long long)a.reset,
                 (long long)a.goaway, a.closed);
    }
    h2_answer_done(&a);
}

static void expect_goaway(struct fixture *f, uint32_t code)
{
    struct h2_answer a;
    assert_true(h2_answer(&f->c, 0x7fffffff, &a));
    assert_int_equal(a.goaway, code);
    h2_answer_done(&a);
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
}

/* One number of what the server says of itself, asked on a connection of its own. */
static unsigned stat_of(struct fixture *f, const char *name)
{
    struct h2_client c;
    struct h2_answer a;
    assert_true(h2_open(&c, f->echo.port, &f->client));
    assert_true(h2_call(&c, 1, "/echo.Echo/Stats", "", 0));
    assert_true(h2_answer(&c, 1, &a));
    assert_int_equal(a.grpc_status, 0);
    const char *at = strstr(buf_string(&a.body) + 5, name);
    assert_non_null(at);
    unsigned value = (unsigned)strtoul(at + strlen(name) + 1, NULL, 10);
    h2_answer_done(&a);
    h2_close(&c);
    return value;
}

static void await_stat(struct fixture *f, const char *name, unsigned value)
{
    unsigned is = stat_of(f, name);
    for (struct patience p = {0}; is != value && patience(&p);) {
        is = stat_of(f, name);
    }
    if (is != value) {
        fail_msg("%s is %u and not %u", name, is, value);
    }
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static void calls_are_answered(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "hello", 5));
    expect_message(f, 1, "hello");
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Say", "", 0));
    expect_message(f, 3, "");
    assert_true(h2_call(&f->c, 5, "/echo.Echo/Who", "", 0));
    expect_message(f, 5, "operators/ada");
    assert_true(h2_call(&f->c, 7, "/nobody.Knows/This", "", 0));
    expect_refused(f, 7, GRPC_NOT_FOUND, "50%25 of%0A nothing");
    end(f);
}

/* As Go's client does: prefix and message apart, the end in an empty frame, among PINGs. */
static void a_call_may_come_in_pieces(void **state)
{
    struct fixture *f = *state;
    static const uint8_t window[4] = {0, 0, 0, 100};
    begin(f, (struct grpc_times){0}, 0);
    struct buf body;
    buf_init(&body);
    h2_message(&body, "hello", 5);
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    for (size_t i = 0; i < body.size; i++) {
        assert_true(h2_frame(&f->c, H2_DATA, 0, 1, body.data + i, 1));
        assert_true(h2_frame(&f->c, H2_PING, 0, 0, "12345678", 8));
        assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    }
    assert_true(h2_frame(&f->c, H2_DATA, H2_END_STREAM, 1, NULL, 0));
    expect_message(f, 1, "hello");
    buf_done(&body);
    end(f);
}

/* Headers in pieces, with nonsense among them. */
static void headers_may_come_in_pieces(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    struct buf block, body;
    buf_init(&block);
    buf_init(&body);
    h2_call_headers(&block, "/echo.Echo/Say");
    h2_header(&block, "x-unknown-bin", "AAAA");
    h2_message(&body, "x", 1);
    assert_true(h2_frame(&f->c, H2_HEADERS, 0, 1, block.data, 7));
    assert_true(h2_frame(&f->c, H2_CONTINUATION, 0, 1, block.data + 7, 20));
    assert_true(
        h2_frame(&f->c, H2_CONTINUATION, H2_END_HEADERS, 1, block.data + 27, block.size - 27));
    assert_true(h2_frame(&f->c, H2_DATA, H2_END_STREAM, 1, body.data, body.size));
    expect_message(f, 1, "x");
    buf_done(&block);
    buf_done(&body);
    end(f);
}

/* Larger than any window: it waits for the peer's WINDOW_UPDATE. */
static void a_large_answer_waits_for_its_reader(void **state)
{
    struct fixture *f = *state;
    static const uint8_t window[4] = {0, 0x20, 0, 0};
    struct h2_answer a;
    begin(f, (struct grpc_times){0}, 0);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Big", "", 0));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 1, window, sizeof(window)));
    assert_true(h2_answer(&f->c, 1, &a));
    assert_int_equal(a.grpc_status, 0);
    assert_int_equal(a.body.size, 5 + 1024 * 1024);
    h2_answer_done(&a);
    end(f);
}

/* ---- 1: TLS ----------------------------------------------------------------------------------- */

static void without_certificate_or_alpn_there_is_no_connection(void **state)
{
    struct fixture *f = *state;
    struct tls_client c;
    struct tls_files nameless = {.ca = f->client.ca};
    static const char *const alpns[] = {NULL, "http/1.1"};
    begin(f, (struct grpc_times){0}, 0);
    for (size_t i = 0; i < 2; i++) {
        if (client_open_as(&c, f->echo.port, &f->client, 0, alpns[i])) {
            assert_true(client_closed(&c, CLIENT_WAIT_MS));
        }
        client_close(&c);
    }
    if (client_open_as(&c, f->echo.port, &nameless, 0, "h2")) {
        assert_true(client_closed(&c, CLIENT_WAIT_MS));
    }
    client_close(&c);
    assert_true(client_open(&c, f->echo.port, NULL, 0));
    client_print(&c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_true(client_closed(&c, CLIENT_WAIT_MS));
    client_close(&c);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1));
    expect_message(f, 1, "x");
    end(f);
}

/* ---- 2: bounds -------------------------------------------------------------------------------- */

static void a_message_beyond_the_bound_is_refused(void **state)
{
    struct fixture *f = *state;
    static const uint8_t says[] = {0, 0, 1, 0, 1};
    static const uint8_t window[4] = {0, 1, 0, 0};
    begin(f, (struct grpc_times){0}, 0);
    /* As soon as it says so, before it comes. */
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_DATA, 0, 1, says, sizeof(says)));
    expect_refused(f, 1, GRPC_RESOURCE_EXHAUSTED, "the message is too large");
    /* At the bound. */
    char *text = malloc(GRPC_MESSAGE_BYTES + 1);
    memset(text, 'm', GRPC_MESSAGE_BYTES);
    text[GRPC_MESSAGE_BYTES] = 0;
    struct buf body;
    buf_init(&body);
    h2_message(&body, text, GRPC_MESSAGE_BYTES);
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    assert_true(h2_begin(&f->c, 3, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 3, window, sizeof(window)));
    size_t at = 0;
    for (size_t size; at < body.size; at += size) {
        size = body.size - at < 16384 ? body.size - at : 16384;
        assert_true(h2_frame(&f->c, H2_DATA, at + size == body.size ? H2_END_STREAM : 0, 3,
                             body.data + at, size));
        if (at + size == 3 * 16384) { /* more than half of its window: it must make room for the rest */
            assert_true(h2_await(&f->c, H2_WINDOW_UPDATE, 3));
        }
    }
    expect_message(f, 3, text);
    buf_done(&body);
    free(text);
    end(f);
}

struct bad_call {
    const char *name;
    const char *header, *value;  /* beside the usual ones; NULL = none */
    const char *body;
    size_t size;
    int status, http_status;
};

static void calls_that_are_none_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct bad_call rows[] = {
        {"compressed", NULL, NULL, "\1\0\0\0\0", 5, GRPC_UNIMPLEMENTED, 200},
        {"no message", NULL, NULL, "", 0, GRPC_INTERNAL, 200},
        {"half a prefix", NULL, NULL, "\0\0", 2, GRPC_INTERNAL, 200},
        {"cut off", NULL, NULL, "\0\0\0\0\5abc", 8, GRPC_INTERNAL, 200},
        {"two messages", NULL, NULL, "\0\0\0\0\0\0\0\0\0\0", 10, GRPC_INTERNAL, 200},
        {"gzip", "grpc-encoding", "gzip", "\0\0\0\0\0", 5, GRPC_UNIMPLEMENTED, 200},
        {"no time limit", "grpc-timeout", "x", "\0\0\0\0\0", 5, GRPC_INTERNAL, 400},
    };
    begin(f, (struct grpc_times){0}, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t stream = (uint32_t)(2 * i + 1);
        struct buf block;
        struct h2_answer a;
        buf_init(&block);
        h2_call_headers(&block, "/echo.Echo/Say");
        if (rows[i].header) {
            h2_header(&block, rows[i].header, rows[i].value);
        }
        assert_true(h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS, stream, block.data, block.size));
        assert_true(h2_frame(&f->c, H2_DATA, H2_END_STREAM, stream, rows[i].body, rows[i].size));
        assert_true(h2_answer(&f->c, stream, &a));
        if (a.grpc_status != rows[i].status || a.http_status != rows[i].http_status) {
            fail_msg("%s: %d, http %d", rows[i].name, a.grpc_status, a.http_status);
        }
        h2_answer_done(&a);
        buf_done(&block);
    }
    assert_int_equal(stat_of(f, "requests"), 1);
    end(f);
}

static void what_is_no_grpc_is_refused_in_http(void **state)
{
    struct fixture *f = *state;
    struct buf block;
    struct h2_answer a;
    buf_init(&block);
    begin(f, (struct grpc_times){0}, 0);
    h2_header(&block, ":method", "GET");
    h2_header(&block, ":scheme", "https");
    h2_header(&block, ":path", "/");
    h2_header(&block, ":authority", "localhost");
    assert_true(h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, block.data,
                         block.size));
    assert_true(h2_answer(&f->c, 1, &a));
    assert_int_equal(a.http_status, 405);
    h2_answer_done(&a);
    buf_clear(&block);
    h2_header(&block, ":method", "POST");
    h2_header(&block, ":scheme", "https");
    h2_header(&block, ":path", "/echo.Echo/Say");
    h2_header(&block, ":authority", "localhost");
    h2_header(&block, "content-type", "application/json");
    assert_true(h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 3, block.data,
                         block.size));
    assert_true(h2_answer(&f->c, 3, &a));
    assert_int_equal(a.http_status, 415);
    h2_answer_done(&a);
    buf_done(&block);
    end(f);
}

static void headers_beyond_the_bound_are_refused(void **state)
{
    struct fixture *f = *state;
    char value[GRPC_HEAD_BYTES + 1];
    memset(value, 'v', GRPC_HEAD_BYTES);
    value[GRPC_HEAD_BYTES] = 0;
    begin(f, (struct grpc_times){0}, 0);
    struct buf block;
    buf_init(&block);
    h2_call_headers(&block, "/echo.Echo/Say");
    h2_header(&block, "x-long", value);
    assert_true(h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS, 1, block.data, block.size));
    expect_refused(f, 1, GRPC_RESOURCE_EXHAUSTED, "the headers are too large");
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Say", "x", 1));
    expect_message(f, 3, "x");
    buf_done(&block);
    end(f);
}

/* The one beyond the bound is refused by HTTP/2's means, the others are answered. */
static void calls_at_a_time_are_bounded(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    for (uint32_t i = 0; i < GRPC_STREAMS_MAX; i++) {
        assert_true(h2_call(&f->c, 2 * i + 1, "/echo.Echo/Never", "", 0));
    }
    struct h2_answer a;
    assert_true(h2_call(&f->c, 2 * GRPC_STREAMS_MAX + 1, "/echo.Echo/Say", "x", 1));
    assert_true(h2_answer(&f->c, 2 * GRPC_STREAMS_MAX + 1, &a));
    assert_int_equal(a.reset, NGHTTP2_REFUSED_STREAM);
    h2_answer_done(&a);
    struct h2_client other;
    assert_true(h2_open(&other, f->echo.port, &f->client));
    assert_true(h2_call(&other, 1, "/echo.Echo/Wake", "", 0));
    assert_true(h2_answer(&other, 1, &a));
    h2_answer_done(&a);
    h2_close(&other);
    expect_message(f, 2 * GRPC_STREAMS_MAX - 1, "");
    end(f);
}

static void thousands_of_calls_leave_nothing_behind(void **state)
{
    struct fixture *f = *state;
    enum { ROUNDS = 200, AT_ONCE = 50 };
    begin(f, (struct grpc_times){0}, 0);
    uint32_t stream = 1;
    unsigned before_kb = stat_of(f, "heap_kb");
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < AT_ONCE; k++, stream += 2) {
            assert_true(h2_call(&f->c, stream, "/echo.Echo/Say", "", 0));
        }
        expect_message(f, stream - 2, "");
    }
    assert_int_equal(stat_of(f, "requests"), ROUNDS * AT_ONCE + 2);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    assert_true(stat_of(f, "heap_kb") < before_kb + 4096);
#else
    (void)before_kb;
#endif
    end(f);
}

static void connections_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct h2_client second, third;
    struct h2_answer a;
    begin(f, (struct grpc_times){0}, 2);
    assert_true(h2_open(&second, f->echo.port, &f->client));
    assert_true(h2_call(&second, 1, "/echo.Echo/Say", "2", 1));
    assert_true(h2_answer(&second, 1, &a));
    h2_answer_done(&a);
    /* The third waits in the kernel until the first has gone. */
    pid_t child = fork();
    if (child == 0) {
        close(f->c.tls.fd); /* only the parent holds the first */
        bool good = h2_open(&third, f->echo.port, &f->client) &&
                    h2_call(&third, 1, "/echo.Echo/Say", "3", 1) && h2_answer(&third, 1, &a) &&
                    a.grpc_status == 0;
        _exit(good ? 0 : 1);
    }
    usleep(300 * 1000);
    int status;
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    h2_close(&f->c);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    h2_close(&second);
    assert_true(grpc_echo_stop(&f->echo));
}

/* Answers that nobody takes are not heaped up without end. */
static void answers_that_are_not_taken_are_bounded(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    unsigned refused = 0, count = GRPC_HELD_BYTES / (1024 * 1024) + 3;
    for (unsigned i = 0; i < count; i++) {
        assert_true(h2_call(&f->c, 2 * i + 1, "/echo.Echo/Big", "", 0));
    }
    for (unsigned i = count; i-- > GRPC_HELD_BYTES / (1024 * 1024);) {
        struct h2_answer a;
        assert_true(h2_answer(&f->c, 2 * i + 1, &a));
        refused += a.grpc_status == GRPC_RESOURCE_EXHAUSTED;
        h2_answer_done(&a);
        break; /* the frames of those before it came before, and are not kept */
    }
    assert_int_equal(refused, 1);
    end(f);
}

/* ---- 3: time ---------------------------------------------------------------------------------- */

/* TLS, as often as it takes when the machine is slow. */
static void open_in_time(struct fixture *f, struct tls_client *c)
{
    for (struct patience p = {0}; !client_open_as(c, f->echo.port, &f->client, 0, "h2");) {
        client_close(c);
        assert_true(patience(&p));
    }
}

static void a_peer_that_does_not_speak_is_cut_off(void **state)
{
    struct fixture *f = *state;
    struct tls_client c;
    begin(f, (struct grpc_times){.handshake_ms = 200}, 0);
    assert_true(client_open(&c, f->echo.port, NULL, 0));
    assert_true(client_closed(&c, CLIENT_WAIT_MS)); /* no TLS */
    client_close(&c);
    open_in_time(f, &c);
    assert_true(client_closed(&c, CLIENT_WAIT_MS)); /* no preface */
    client_close(&c);
    open_in_time(f, &c);
    client_print(&c, "PRI * HTTP/2.0\r\n\r\nSM\r");
    assert_true(client_closed(&c, CLIENT_WAIT_MS)); /* half of one */
    client_close(&c);
    end(f);
}

static void a_slow_request_ends(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){.request_ms = 200}, 0);
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_DATA, 0, 1, "\0\0\0\0\5h", 6));
    expect_refused(f, 1, GRPC_DEADLINE_EXCEEDED, "the call took too long");
    int status = GRPC_DEADLINE_EXCEEDED; /* a whole request goes on, when it comes in time */
    uint32_t stream = 3;
    for (struct patience p = {0}; status == GRPC_DEADLINE_EXCEEDED; stream += 2) {
        struct h2_answer a;
        assert_true(patience(&p));
        assert_true(h2_call(&f->c, stream, "/echo.Echo/Say", "x", 1));
        assert_true(h2_answer(&f->c, stream, &a));
        status = a.grpc_status;
        h2_answer_done(&a);
    }
    assert_int_equal(status, GRPC_OK);
    end(f);
}

static void an_idle_connection_is_told_to_go(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){.idle_ms = 300}, 0);
    int status = -1; /* until a call was quicker than that */
    for (struct patience p = {0}; status == -1;) {
        struct h2_answer a;
        assert_true(patience(&p));
        h2_close(&f->c);
        if (h2_open(&f->c, f->echo.port, &f->client) &&
            h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1) && h2_answer(&f->c, 1, &a)) {
            status = a.grpc_status;
            h2_answer_done(&a);
        }
    }
    assert_int_equal(status, GRPC_OK);
    expect_goaway(f, NGHTTP2_NO_ERROR);
    h2_close(&f->c);
    assert_true(grpc_echo_stop(&f->echo));
}

/* Its calls end by themselves, and so does the connection when even its socket is full. */
static void a_peer_that_takes_nothing_is_cut_off(void **state)
{
    struct fixture *f = *state;
    struct h2_answer a;
    begin(f, (struct grpc_times){.stall_ms = 300}, 0);
    /* No window for it: the call is reset. */
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Big", "", 0));
    assert_true(h2_answer(&f->c, 1, &a));
    assert_int_equal(a.reset, NGHTTP2_CANCEL);
    h2_answer_done(&a);
    /* A window, and nobody reads. */
    static const uint8_t window[4] = {0x7f, 0, 0, 0};
    struct h2_client c;
    assert_true(h2_open(&c, f->echo.port, &f->client));
    assert_true(h2_frame(&c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    for (uint32_t i = 0; i < 40; i++) {
        assert_true(h2_call(&c, 2 * i + 1, "/echo.Echo/Big", "", 0));
        h2_frame(&c, H2_WINDOW_UPDATE, 0, 2 * i + 1, window, sizeof(window));
    }
    await_stat(f, "connections", 2); /* this one, and who asks */
    h2_close(&c);
    end(f);
}

/* ---- 4: floods -------------------------------------------------------------------------------- */

static void flood(struct fixture *f, int type, uint32_t stream, const void *payload, size_t size)
{
    begin(f, (struct grpc_times){0}, 0);
    bool told = false;
    for (int i = 0; i < 20 * GRPC_FREE_FRAMES_MAX && !told; i++) {
        told = !h2_frame(&f->c, type, 0, stream, payload, size);
        if (i % 100 == 0) {
            client_read(&f->c.tls, 0);
        }
        told = told || f->c.tls.ended;
    }
    if (!client_closed(&f->c.tls, CLIENT_WAIT_MS)) {
        fail_msg("after a flood of frames of type %d the connection stays", type);
    }
    assert_int_equal(stat_of(f, "connections"), 1);
    end(f);
}

static void floods_are_cut_off(void **state)
{
    flood(*state, H2_PING, 0, "12345678", 8);
    flood(*state, H2_SETTINGS, 0, NULL, 0);
    flood(*state, H2_PRIORITY, 1, "\0\0\0\0\1", 5);
    flood(*state, H2_WINDOW_UPDATE, 0, "\0\0\0\1", 4);
}

static void a_flood_of_resets_is_cut_off(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    uint32_t stream = 1;
    for (; stream < 20000; stream += 2) {
        if (!h2_begin(&f->c, stream, "/echo.Echo/Never", 0) ||
            !h2_frame(&f->c, H2_RST_STREAM, 0, stream, "\0\0\0\x8", 4)) {
            break;
        }
    }
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
    assert_int_equal(stat_of(f, "connections"), 1);
    end(f);
}

/* Each call pays for some of them: a busy client is no flood. */
static void a_busy_client_is_no_flood(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    for (uint32_t i = 0; i < 2 * GRPC_FREE_FRAMES_MAX; i++) {
        assert_true(h2_frame(&f->c, H2_PING, 0, 0, "12345678", 8));
        assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4));
        assert_true(h2_call(&f->c, 2 * i + 1, "/echo.Echo/Say", "", 0));
        expect_message(f, 2 * i + 1, "");
    }
    end(f);
}

/* ---- 6: ends that come early ------------------------------------------------------------------- */

/* All bytes of a call with the message "hello", as they go over the wire; `timeout` NULL = no
 * time limit. */
static void bytes_of_call(struct buf *all, const char *path, uint8_t data_flags,
                          const char *timeout)
{
    struct buf block, body;
    buf_init(&block);
    buf_init(&body);
    h2_call_headers(&block, path);
    if (timeout) {
        h2_header(&block, "grpc-timeout", timeout);
    }
    h2_message(&body, "hello", 5);
    uint8_t head[] = {0, 0, (uint8_t)block.size, H2_HEADERS, H2_END_HEADERS, 0, 0, 0, 1};
    uint8_t data[] = {0, 0, (uint8_t)body.size, H2_DATA, data_flags, 0, 0, 0, 1};
    buf_append(all, head, sizeof(head));
    buf_append(all, block.data, block.size);
    buf_append(all, data, sizeof(data));
    buf_append(all, body.data, body.size);
    buf_done(&block);
    buf_done(&body);
}

static void a_time_limit_ends_a_call(void **state)
{
    struct fixture *f = *state;
    struct buf all;
    buf_init(&all);
    begin(f, (struct grpc_times){0}, 0);
    /* In one piece, so that the role has it before the time is over. */
    bytes_of_call(&all, "/echo.Echo/Never", H2_END_STREAM, "100m");
    assert_true(client_write(&f->c.tls, all.data, all.size));
    expect_refused(f, 1, GRPC_DEADLINE_EXCEEDED, "the call took too long");
    await_stat(f, "hangups", 1);
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Wake", "", 0)); /* an answer to nobody */
    expect_message(f, 3, "");
    buf_done(&all);
    end(f);
}

static void the_role_hears_of_peers_that_go(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Never", "", 0));
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Never", "", 0));
    assert_true(h2_frame(&f->c, H2_RST_STREAM, 0, 1, "\0\0\0\x8", 4));
    await_stat(f, "hangups", 1);
    h2_close(&f->c);
    await_stat(f, "hangups", 2);
    assert_true(grpc_echo_stop(&f->echo));
}

/* A peer may close its way while it waits. */
static void a_half_closed_connection_does_no_harm(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Never", "", 0));
    shutdown(f->c.tls.fd, SHUT_WR);
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
    await_stat(f, "hangups", 1);
    assert_int_equal(stat_of(f, "connections"), 1);
    end(f);
}

/* ---- What is no HTTP/2 ------------------------------------------------------------------------ */

static void nonsense_ends_the_connection_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        int type, flags;
        uint32_t stream;
        const char *payload;
        size_t size;
    } rows[] = {
        {"SETTINGS of an odd size", H2_SETTINGS, 0, 0, "abc", 3},
        {"SETTINGS on a stream", H2_SETTINGS, 0, 1, "", 0},
        {"PING of another size", H2_PING, 0, 0, "abc", 3},
        {"DATA on no stream", H2_DATA, 0, 0, "abc", 3},
        {"DATA on an idle stream", H2_DATA, 0, 1, "abc", 3},
        {"HEADERS on an even stream", H2_HEADERS, H2_END_HEADERS, 2, "\x82", 1},
        {"HEADERS that are no HPACK", H2_HEADERS, H2_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff", 6},
        {"CONTINUATION of nothing", H2_CONTINUATION, 0, 1, "a", 1},
        {"PUSH_PROMISE from a client", 5, H2_END_HEADERS, 1, "\0\0\0\2\x82", 5},
        {"WINDOW_UPDATE by nothing", H2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4},
        {"a padding larger than its frame", H2_DATA, 8, 1, "\xff", 1},
    };
    begin(f, (struct grpc_times){0}, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct h2_client c;
        assert_true(h2_open(&c, f->echo.port, &f->client));
        h2_frame(&c, rows[i].type, rows[i].flags, rows[i].stream, rows[i].payload, rows[i].size);
        if (!client_closed(&c.tls, CLIENT_WAIT_MS)) {
            fail_msg("%s: the connection stays", rows[i].name);
        }
        h2_close(&c);
    }
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1));
    expect_message(f, 1, "x");
    end(f);
}

/* Frames cut off at every byte, and then the connection. */
static void a_call_cut_off_anywhere_does_no_harm(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    struct buf all;
    buf_init(&all);
    bytes_of_call(&all, "/echo.Echo/Never", 0, NULL);
    for (size_t cut = 0; cut <= all.size; cut += 3) {
        struct h2_client c;
        assert_true(h2_open(&c, f->echo.port, &f->client));
        assert_true(client_write(&c.tls, all.data, cut));
        h2_close(&c);
    }
    assert_int_equal(stat_of(f, "requests"), 1);
    await_stat(f, "connections", 2);
    buf_done(&all);
    end(f);
}

/* Every byte of a call is another one for once; drawn, but the same in each run. */
static void a_call_with_a_wrong_byte_does_no_harm(void **state)
{
    struct fixture *f = *state;
    begin(f, (struct grpc_times){0}, 0);
    struct buf all;
    struct random random;
    buf_init(&all);
    random_seed(&random, (uint64_t[2]){1, 2});
    bytes_of_call(&all, "/echo.Echo/Say", H2_END_STREAM, NULL);
    for (size_t at = 0; at < all.size; at++) {
        struct h2_client c;
        uint8_t was = all.data[at];
        all.data[at] = (uint8_t)(was + 1 + random_below(&random, 255));
        assert_true(h2_open(&c, f->echo.port, &f->client));
        assert_true(client_write(&c.tls, all.data, all.size));
        client_read(&c.tls, 0);
        h2_close(&c);
        all.data[at] = was;
    }
    await_stat(f, "connections", 2);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1));
    expect_message(f, 1, "x");
    buf_done(&all);
    end(f);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(calls_are_answered),
        TEST(a_call_may_come_in_pieces),
        TEST(headers_may_come_in_pieces),
        TEST(a_large_answer_waits_for_its_reader),
        TEST(without_certificate_or_alpn_there_is_no_connection),
        TEST(a_message_beyond_the_bound_is_refused),
        TEST(calls_that_are_none_are_refused),
        TEST(what_is_no_grpc_is_refused_in_http),
        TEST(headers_beyond_the_bound_are_refused),
        TEST(calls_at_a_time_are_bounded),
        TEST(thousands_of_calls_leave_nothing_behind),
        TEST(connections_are_bounded),
        TEST(answers_that_are_not_taken_are_bounded),
        TEST(a_peer_that_does_not_speak_is_cut_off),
        TEST(a_slow_request_ends),
        TEST(an_idle_connection_is_told_to_go),
        TEST(a_peer_that_takes_nothing_is_cut_off),
        TEST(floods_are_cut_off),
        TEST(a_flood_of_resets_is_cut_off),
        TEST(a_busy_client_is_no_flood),
        TEST(a_time_limit_ends_a_call),
        TEST(the_role_hears_of_peers_that_go),
        TEST(a_half_closed_connection_does_no_harm),
        TEST(nonsense_ends_the_connection_and_nothing_else),
        TEST(a_call_cut_off_anywhere_does_no_harm),
        TEST(a_call_with_a_wrong_byte_does_no_harm),
    };
    return cmocka_run_group_tests_name("gRPC server", tests, NULL, NULL);
}

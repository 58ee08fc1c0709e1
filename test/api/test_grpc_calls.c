/* Calls of the gRPC server shell: how they are answered, who may make them (rule 1 of
 * common/shell/grpc_server_io.h), and what is none. */
#include "test/api/grpc_rig.h"
#include "test/tool/cmocka.h"

static void calls_are_answered(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "hello", 5));
    grpc_rig_answered(f, 1, "hello");
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Say", "", 0));
    grpc_rig_answered(f, 3, "");
    assert_true(h2_call(&f->c, 5, "/echo.Echo/Who", "", 0));
    grpc_rig_answered(f, 5, "operators/ada");
    assert_true(h2_call(&f->c, 7, "/nobody.Knows/This", "", 0));
    grpc_rig_refused(f, 7, GRPC_NOT_FOUND, "50%25 of%0A nothing");
    grpc_rig_end(f);
}

/* As Go's client does: prefix and message apart, the end in an empty frame, among PINGs. */
static void a_call_may_come_in_pieces(void **state)
{
    struct grpc_rig *f = *state;
    static const uint8_t window[4] = {0, 0, 0, 100};
    grpc_rig_begin(f);
    SCOPED_BUF(body);
    h2_message(&body, "hello", 5);
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    for (size_t i = 0; i < body.size; i++) {
        assert_true(h2_frame(&f->c, H2_DATA, 0, 1, body.data + i, 1));
        assert_true(h2_frame(&f->c, H2_PING, 0, 0, "12345678", 8));
        assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    }
    assert_true(h2_frame(&f->c, H2_DATA, H2_END_STREAM, 1, NULL, 0));
    grpc_rig_answered(f, 1, "hello");
    grpc_rig_end(f);
}

/* Headers in pieces, with nonsense among them. */
static void headers_may_come_in_pieces(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
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
    grpc_rig_answered(f, 1, "x");
    buf_done(&block);
    buf_done(&body);
    grpc_rig_end(f);
}

/* Larger than any window: it waits for the peer's WINDOW_UPDATE. */
static void a_large_answer_waits_for_its_reader(void **state)
{
    struct grpc_rig *f = *state;
    static const uint8_t window[4] = {0, 0x20, 0, 0};
    struct h2_answer a;
    grpc_rig_begin(f);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Big", "", 0));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 1, window, sizeof(window)));
    assert_true(h2_answer(&f->c, 1, &a));
    assert_int_equal(a.grpc_status, 0);
    assert_int_equal(a.body.size, 5 + 1024 * 1024);
    h2_answer_done(&a);
    grpc_rig_end(f);
}

static void without_certificate_or_alpn_there_is_no_connection(void **state)
{
    struct grpc_rig *f = *state;
    struct tls_client c;
    struct tls_files nameless = {.ca = f->client.ca};
    static const char *const alpns[] = {NULL, "http/1.1"};
    grpc_rig_begin(f);
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
    grpc_rig_answered(f, 1, "x");
    grpc_rig_end(f);
}

struct bad_call {
    const char *name;
    const char *header, *value; /* beside the usual ones; NULL = none */
    const char *body;
    size_t size;
    int status, http_status;
};

static void calls_that_are_none_are_refused(void **state)
{
    struct grpc_rig *f = *state;
    static const struct bad_call rows[] = {
        {"compressed", NULL, NULL, "\1\0\0\0\0", 5, GRPC_UNIMPLEMENTED, 200},
        {"no message", NULL, NULL, "", 0, GRPC_INTERNAL, 200},
        {"half a prefix", NULL, NULL, "\0\0", 2, GRPC_INTERNAL, 200},
        {"cut off", NULL, NULL, "\0\0\0\0\5abc", 8, GRPC_INTERNAL, 200},
        {"two messages", NULL, NULL, "\0\0\0\0\0\0\0\0\0\0", 10, GRPC_INTERNAL, 200},
        {"gzip", "grpc-encoding", "gzip", "\0\0\0\0\0", 5, GRPC_UNIMPLEMENTED, 200},
        {"no time limit", "grpc-timeout", "x", "\0\0\0\0\0", 5, GRPC_INTERNAL, 400},
    };
    grpc_rig_begin(f);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t stream = (uint32_t)(2 * i + 1);
        SCOPED_BUF(block);
        struct h2_answer a;
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
    }
    assert_int_equal(grpc_rig_stat(f, "requests"), 1);
    grpc_rig_end(f);
}

static void what_is_no_grpc_is_refused_in_http(void **state)
{
    struct grpc_rig *f = *state;
    SCOPED_BUF(block);
    struct h2_answer a;
    grpc_rig_begin(f);
    h2_header(&block, ":method", "GET");
    h2_header(&block, ":scheme", "https");
    h2_header(&block, ":path", "/");
    h2_header(&block, ":authority", "localhost");
    assert_true(
        h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, block.data, block.size));
    assert_true(h2_answer(&f->c, 1, &a));
    assert_int_equal(a.http_status, 405);
    h2_answer_done(&a);
    buf_clear(&block);
    h2_header(&block, ":method", "POST");
    h2_header(&block, ":scheme", "https");
    h2_header(&block, ":path", "/echo.Echo/Say");
    h2_header(&block, ":authority", "localhost");
    h2_header(&block, "content-type", "application/json");
    assert_true(
        h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 3, block.data, block.size));
    assert_true(h2_answer(&f->c, 3, &a));
    assert_int_equal(a.http_status, 415);
    h2_answer_done(&a);
    grpc_rig_end(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, grpc_rig_setup, grpc_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(calls_are_answered),
        TEST(a_call_may_come_in_pieces),
        TEST(headers_may_come_in_pieces),
        TEST(a_large_answer_waits_for_its_reader),
        TEST(without_certificate_or_alpn_there_is_no_connection),
        TEST(calls_that_are_none_are_refused),
        TEST(what_is_no_grpc_is_refused_in_http),
    };
    return cmocka_run_group_tests_name("gRPC calls", tests, NULL, NULL);
}

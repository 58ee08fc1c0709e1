/* Ends that a call or a connection of the gRPC server shell comes to: its time is over, or its peer
 * goes (rules 3 and 6 of common/shell/grpc_server_io.h). */
#include "test/tool/patience.h"
#include "test/api/grpc_rig.h"
#include "test/tool/cmocka.h"

#include <sys/socket.h>

/* ---- Time ------------------------------------------------------------------------------------ */

/* TLS, as often as it takes when the machine is slow. */
static void open_in_time(struct grpc_rig *f, struct tls_client *c)
{
    for (struct patience p = {0}; !client_open_as(c, f->echo.port, &f->client, 0, "h2");) {
        client_close(c);
        assert_true(patience(&p));
    }
}

static void a_peer_that_does_not_speak_is_cut_off(void **state)
{
    struct grpc_rig *f = *state;
    struct tls_client c;
    grpc_rig_begin_with(f, (struct grpc_times){.handshake_ms = 200}, 0);
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
    grpc_rig_end(f);
}

static void a_slow_request_ends(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin_with(f, (struct grpc_times){.request_ms = 200}, 0);
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_DATA, 0, 1, "\0\0\0\0\5h", 6));
    grpc_rig_refused(f, 1, GRPC_DEADLINE_EXCEEDED, "the call took too long");
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
    grpc_rig_end(f);
}

static void an_idle_connection_is_told_to_go(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin_with(f, (struct grpc_times){.idle_ms = 300}, 0);
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
    grpc_rig_goaway(f, NGHTTP2_NO_ERROR);
    h2_close(&f->c);
    assert_true(grpc_echo_stop(&f->echo));
}

/* Its calls end by themselves, and so does the connection when even its socket is full. */
static void a_peer_that_takes_nothing_is_cut_off(void **state)
{
    struct grpc_rig *f = *state;
    struct h2_answer a;
    grpc_rig_begin_with(f, (struct grpc_times){.stall_ms = 300}, 0);
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
    grpc_rig_await(f, "connections", 2); /* this one, and who asks */
    h2_close(&c);
    grpc_rig_end(f);
}

/* ---- Ends that come early -------------------------------------------------------------------- */

static void a_time_limit_ends_a_call(void **state)
{
    struct grpc_rig *f = *state;
    SCOPED_BUF(all);
    grpc_rig_begin(f);
    /* In one piece, so that the role has it before the time is over. */
    grpc_rig_call(&all, "/echo.Echo/Never", H2_END_STREAM, "100m");
    assert_true(client_write(&f->c.tls, all.data, all.size));
    grpc_rig_refused(f, 1, GRPC_DEADLINE_EXCEEDED, "the call took too long");
    grpc_rig_await(f, "hangups", 1);
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Wake", "", 0)); /* an answer to nobody */
    grpc_rig_answered(f, 3, "");
    grpc_rig_end(f);
}

static void the_role_hears_of_peers_that_go(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Never", "", 0));
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Never", "", 0));
    assert_true(h2_frame(&f->c, H2_RST_STREAM, 0, 1, "\0\0\0\x8", 4));
    grpc_rig_await(f, "hangups", 1);
    h2_close(&f->c);
    grpc_rig_await(f, "hangups", 2);
    assert_true(grpc_echo_stop(&f->echo));
}

/* A peer may close its way while it waits. */
static void a_half_closed_connection_does_no_harm(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Never", "", 0));
    shutdown(f->c.tls.fd, SHUT_WR);
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
    grpc_rig_await(f, "hangups", 1);
    assert_int_equal(grpc_rig_stat(f, "connections"), 1);
    grpc_rig_end(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, grpc_rig_setup, grpc_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_peer_that_does_not_speak_is_cut_off),
        TEST(a_slow_request_ends),
        TEST(an_idle_connection_is_told_to_go),
        TEST(a_peer_that_takes_nothing_is_cut_off),
        TEST(a_time_limit_ends_a_call),
        TEST(the_role_hears_of_peers_that_go),
        TEST(a_half_closed_connection_does_no_harm),
    };
    return cmocka_run_group_tests_name("gRPC ends", tests, NULL, NULL);
}

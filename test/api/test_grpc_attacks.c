/* The gRPC server shell against peers that flood it (rule 4 of common/shell/grpc_server_io.h) and
 * that speak no HTTP/2. */
#include "common/base/random.h"
#include "test/api/grpc_rig.h"
#include "test/tool/cmocka.h"

/* ---- Floods ---------------------------------------------------------------------------------- */

static void flood(struct grpc_rig *f, int type, uint32_t stream, const void *payload, size_t size)
{
    grpc_rig_begin(f);
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
    assert_int_equal(grpc_rig_stat(f, "connections"), 1);
    grpc_rig_end(f);
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
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    uint32_t stream = 1;
    for (; stream < 20000; stream += 2) {
        if (!h2_begin(&f->c, stream, "/echo.Echo/Never", 0) ||
            !h2_frame(&f->c, H2_RST_STREAM, 0, stream, "\0\0\0\x8", 4)) {
            break;
        }
    }
    assert_true(client_closed(&f->c.tls, CLIENT_WAIT_MS));
    assert_int_equal(grpc_rig_stat(f, "connections"), 1);
    grpc_rig_end(f);
}

/* Each call pays for some of them: a busy client is no flood. */
static void a_busy_client_is_no_flood(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    for (uint32_t i = 0; i < 2 * GRPC_FREE_FRAMES_MAX; i++) {
        assert_true(h2_frame(&f->c, H2_PING, 0, 0, "12345678", 8));
        assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4));
        assert_true(h2_call(&f->c, 2 * i + 1, "/echo.Echo/Say", "", 0));
        grpc_rig_answered(f, 2 * i + 1, "");
    }
    grpc_rig_end(f);
}

/* ---- What is no HTTP/2 ----------------------------------------------------------------------- */

static void nonsense_ends_the_connection_and_nothing_else(void **state)
{
    struct grpc_rig *f = *state;
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
    grpc_rig_begin(f);
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
    grpc_rig_answered(f, 1, "x");
    grpc_rig_end(f);
}

/* Frames cut off at every byte, and then the connection. */
static void a_call_cut_off_anywhere_does_no_harm(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    SCOPED_BUF(all);
    grpc_rig_call(&all, "/echo.Echo/Never", 0, NULL);
    for (size_t cut = 0; cut <= all.size; cut += 3) {
        struct h2_client c;
        assert_true(h2_open(&c, f->echo.port, &f->client));
        assert_true(client_write(&c.tls, all.data, cut));
        h2_close(&c);
    }
    assert_int_equal(grpc_rig_stat(f, "requests"), 1);
    grpc_rig_await(f, "connections", 2);
    grpc_rig_end(f);
}

/* Every byte of a call is another one for once; drawn, but the same in each run. */
static void a_call_with_a_wrong_byte_does_no_harm(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
    SCOPED_BUF(all);
    struct random random;
    random_seed(&random, (uint64_t[2]){1, 2});
    grpc_rig_call(&all, "/echo.Echo/Say", H2_END_STREAM, NULL);
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
    grpc_rig_await(f, "connections", 2);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1));
    grpc_rig_answered(f, 1, "x");
    grpc_rig_end(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, grpc_rig_setup, grpc_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(floods_are_cut_off),
        TEST(a_flood_of_resets_is_cut_off),
        TEST(a_busy_client_is_no_flood),
        TEST(nonsense_ends_the_connection_and_nothing_else),
        TEST(a_call_cut_off_anywhere_does_no_harm),
        TEST(a_call_with_a_wrong_byte_does_no_harm),
    };
    return cmocka_run_group_tests_name("gRPC attacks", tests, NULL, NULL);
}

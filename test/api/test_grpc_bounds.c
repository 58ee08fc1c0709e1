/* What the gRPC server shell bounds (rules 2 and 5 of common/shell/grpc_server_io.h). */
#include "test/api/grpc_rig.h"
#include "test/tool/cmocka.h"
#include "test/tool/patience.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_message_beyond_the_bound_is_refused(void **state)
{
    struct grpc_rig *f = *state;
    static const uint8_t says[] = {0, 0, 1, 0, 1};
    static const uint8_t window[4] = {0, 1, 0, 0};
    grpc_rig_begin(f);
    /* As soon as it says so, before it comes. */
    assert_true(h2_begin(&f->c, 1, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_DATA, 0, 1, says, sizeof(says)));
    grpc_rig_refused(f, 1, GRPC_RESOURCE_EXHAUSTED, "the message is too large");
    /* At the bound. */
    char *text = malloc(GRPC_MESSAGE_BYTES + 1);
    memset(text, 'm', GRPC_MESSAGE_BYTES);
    text[GRPC_MESSAGE_BYTES] = 0;
    SCOPED_BUF(body);
    h2_message(&body, text, GRPC_MESSAGE_BYTES);
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 0, window, sizeof(window)));
    assert_true(h2_begin(&f->c, 3, "/echo.Echo/Say", 0));
    assert_true(h2_frame(&f->c, H2_WINDOW_UPDATE, 0, 3, window, sizeof(window)));
    size_t at = 0;
    for (size_t size; at < body.size; at += size) {
        size = body.size - at < 16384 ? body.size - at : 16384;
        assert_true(h2_frame(&f->c, H2_DATA, at + size == body.size ? H2_END_STREAM : 0, 3,
                             body.data + at, size));
        if (at + size ==
            3 * 16384) { /* more than half of its window: it must make room for the rest */
            assert_true(h2_await(&f->c, H2_WINDOW_UPDATE, 3));
        }
    }
    grpc_rig_answered(f, 3, text);
    free(text);
    grpc_rig_end(f);
}

static void headers_beyond_the_bound_are_refused(void **state)
{
    struct grpc_rig *f = *state;
    char value[GRPC_HEAD_BYTES + 1];
    memset(value, 'v', GRPC_HEAD_BYTES);
    value[GRPC_HEAD_BYTES] = 0;
    grpc_rig_begin(f);
    SCOPED_BUF(block);
    h2_call_headers(&block, "/echo.Echo/Say");
    h2_header(&block, "x-long", value);
    assert_true(h2_frame(&f->c, H2_HEADERS, H2_END_HEADERS, 1, block.data, block.size));
    grpc_rig_refused(f, 1, GRPC_RESOURCE_EXHAUSTED, "the headers are too large");
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Say", "x", 1));
    grpc_rig_answered(f, 3, "x");
    grpc_rig_end(f);
}

/* The one beyond the bound is refused by HTTP/2's means, the others are answered. */
static void calls_at_a_time_are_bounded(void **state)
{
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
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
    grpc_rig_answered(f, 2 * GRPC_STREAMS_MAX - 1, "");
    grpc_rig_end(f);
}

/* Connections that say nothing before their handshake hold all other places: they yield. */
static void silent_connections_yield(void **state)
{
    struct grpc_rig *f = *state;
    enum { PLACES = 4 };
    int silent[PLACES - 1];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    grpc_rig_begin_with(f, (struct grpc_times){.handshake_ms = 4 * PATIENCE_MS}, PLACES);
    to.sin_port = htons((uint16_t)f->echo.port);
    for (int i = 0; i < PLACES - 1; i++) {
        silent[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(silent[i], (struct sockaddr *)&to, sizeof(to)), 0);
    }
    struct h2_client other;
    assert_true(h2_open(&other, f->echo.port, &f->client));
    assert_true(h2_call(&other, 1, "/echo.Echo/Say", "x", 1));
    struct h2_answer a;
    assert_true(h2_answer(&other, 1, &a));
    h2_answer_done(&a);
    h2_close(&other);
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Say", "x", 1));
    grpc_rig_answered(f, 1, "x");
    for (int i = 0; i < PLACES - 1; i++) {
        close(silent[i]);
    }
    grpc_rig_end(f);
}

static void thousands_of_calls_leave_nothing_behind(void **state)
{
    struct grpc_rig *f = *state;
    enum { ROUNDS = 200, AT_ONCE = 50 };
    grpc_rig_begin(f);
    uint32_t stream = 1;
    unsigned before_kb = grpc_rig_stat(f, "heap_kb");
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < AT_ONCE; k++, stream += 2) {
            assert_true(h2_call(&f->c, stream, "/echo.Echo/Say", "", 0));
        }
        grpc_rig_answered(f, stream - 2, "");
    }
    assert_int_equal(grpc_rig_stat(f, "requests"), ROUNDS * AT_ONCE + 2);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    assert_true(grpc_rig_stat(f, "heap_kb") < before_kb + 4096);
#else
    (void)before_kb;
#endif
    grpc_rig_end(f);
}

static void connections_are_bounded(void **state)
{
    struct grpc_rig *f = *state;
    struct h2_client second, third;
    struct h2_answer a;
    grpc_rig_begin_with(f, (struct grpc_times){0}, 2);
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
    struct grpc_rig *f = *state;
    grpc_rig_begin(f);
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
    grpc_rig_end(f);
}

/* A peer that takes nothing of `answers` answers of a megabyte. */
static void leave_answers(struct grpc_rig *f, struct h2_client *c, uint32_t answers)
{
    assert_true(h2_open(c, f->echo.port, &f->client));
    for (uint32_t i = 0; i < answers; i++) {
        assert_true(h2_call(c, 2 * i + 1, "/echo.Echo/Big", "", 0));
    }
    assert_true(h2_await(c, H2_HEADERS, 2 * answers - 1));
}

/* Not by opening one connection after the other either; and whoever asks for little still gets it.
 */
static void answers_of_all_connections_are_bounded(void **state)
{
    struct grpc_rig *f = *state;
    enum {
        EACH = GRPC_HELD_BYTES / (1024 * 1024) - 1,
        PEERS = GRPC_HELD_ALL_BYTES / (1024 * 1024) / EACH
    };
    struct h2_client *peers = test_calloc(PEERS + 1, sizeof(*peers));
    grpc_rig_begin_with(f, (struct grpc_times){.stall_ms = 60 * 1000}, 0);
    for (unsigned i = 0; i < PEERS; i++) {
        leave_answers(f, &peers[i], EACH);
    }
    leave_answers(f, &peers[PEERS], 1); /* the last one, that passes the bound */
    assert_true(h2_call(&f->c, 1, "/echo.Echo/Big", "", 0));
    grpc_rig_refused(f, 1, GRPC_RESOURCE_EXHAUSTED, "too many answers were not taken");
    assert_true(h2_call(&f->c, 3, "/echo.Echo/Say", "little", 6));
    grpc_rig_answered(f, 3, "little");
    for (unsigned i = 0; i <= PEERS; i++) {
        h2_close(&peers[i]);
    }
    test_free(peers);
    grpc_rig_end(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, grpc_rig_setup, grpc_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_message_beyond_the_bound_is_refused),
        TEST(headers_beyond_the_bound_are_refused),
        TEST(calls_at_a_time_are_bounded),
        TEST(thousands_of_calls_leave_nothing_behind),
        TEST(connections_are_bounded),
        TEST(silent_connections_yield),
        TEST(answers_that_are_not_taken_are_bounded),
        TEST(answers_of_all_connections_are_bounded),
    };
    return cmocka_run_group_tests_name("gRPC bounds", tests, NULL, NULL);
}

/* Boards and heartbeat_sender: which bbs is asked, and when. */
#include "common/client/heartbeat_sender.h"
#include "test/tool/cmocka.h"
#include "test/unit/drive.h"

#include <stdlib.h>

struct fixture {
    struct drive drive;
    struct arena arena;
    uint64_t next_call_id;
    struct boards boards;
    struct heartbeat_sender heartbeat_sender;
    enum heartbeat_verdict verdict; /* of the last step */
    bool begin;                /* the next step starts the heartbeat sender */
};

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct fixture *x = target;
    if (x->begin) {
        x->begin = false;
        heartbeat_sender_start(&x->heartbeat_sender, ev, out);
        return;
    }
    x->verdict = heartbeat_sender_step(&x->heartbeat_sender, ev, out);
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    x->next_call_id = 1;
    arena_init(&x->arena);
    if (boards_init(&x->boards, &x->arena, "https://a:1,https://b:2,https://c:3", &x->next_call_id,
                    NULL)) {
        return -1;
    }
    heartbeat_sender_init(&x->heartbeat_sender, &x->boards);
    drive_init(&x->drive, step, x);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    drive_done(&x->drive);
    arena_done(&x->arena);
    free(x);
    return 0;
}

static void begin(struct fixture *x)
{
    x->begin = true;
    drive_start(&x->drive);
}

/* The heartbeat of the last step, which went to this bbs. */
static uint64_t heartbeat(struct fixture *x, const char *url)
{
    const struct call *call = drive_call(&x->drive, "/v1/board/heartbeat", 0);
    assert_non_null(call);
    assert_string_equal(call->url, url);
    return call->id;
}

static void answer(struct fixture *x, uint64_t id)
{
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    drive_answer(&x->drive, id, &r.base);
}

static void refuse(struct fixture *x, uint64_t id, Models__Error__Type type)
{
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    Models__Error e = MODELS__ERROR__INIT;
    e.type = type;
    r.error = &e;
    drive_answer(&x->drive, id, &r.base);
}

static void heartbeats_every_two_seconds(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    assert_null(drive_call(&x->drive, "heartbeat", 0)); /* off until started */
    Board__CellHeartbeat cell = BOARD__CELL_HEARTBEAT__INIT;
    char id[] = "cell-1";
    cell.cell_id = id;
    x->heartbeat_sender.request.cell = &cell;
    begin(x);
    for (int i = 0; i < 3; i++) {
        uint64_t call = heartbeat(x, "https://a:1/v1/board/heartbeat");
        const struct call *c = drive_call(&x->drive, "heartbeat", 0);
        ProtobufCAllocator allocator = arena_protobuf(&x->drive.arena);
        Board__HeartbeatRequest *r =
            board__heartbeat_request__unpack(&allocator, c->body.size, c->body.data);
        assert_string_equal(r->cell->cell_id, "cell-1");
        assert_true(c->deadline_ns == x->drive.now.mono_ns + SECOND_NS);
        drive_sleep(&x->drive, 300);
        answer(x, call);
        assert_int_equal(x->verdict, HEARTBEAT_TAKEN);
        assert_true(x->heartbeat_sender.taken_ns == x->drive.now.mono_ns);
        drive_advance(&x->drive, 1699);
        assert_null(drive_call(&x->drive, "heartbeat", 0));
        drive_advance(&x->drive, 1);
    }
}

static void unanswered_for_a_second_goes_to_the_next(void **state)
{
    struct fixture *x = *state;
    begin(x);
    uint64_t id = heartbeat(x, "https://a:1/v1/board/heartbeat");
    drive_sleep(&x->drive, 1000);
    drive_unanswered(&x->drive, id, CALL_UNKNOWN);
    assert_int_equal(x->verdict, HEARTBEAT_NONE);
    id = heartbeat(x, "https://b:2/v1/board/heartbeat");
    drive_response(&x->drive, id, 503, "", (struct bytes){0});
    id = heartbeat(x, "https://c:3/v1/board/heartbeat");
    refuse(x, id, MODELS__ERROR__TYPE__UnknownError);
    /* All have failed: no storm, the next attempt is a second after the last. */
    assert_null(drive_call(&x->drive, "heartbeat", 0));
    drive_advance(&x->drive, 999);
    assert_null(drive_call(&x->drive, "heartbeat", 0));
    drive_advance(&x->drive, 1);
    id = heartbeat(x, "https://a:1/v1/board/heartbeat");
    drive_response(&x->drive, id, 200, "", bytes_of("\xff"));
    id = heartbeat(x, "https://b:2/v1/board/heartbeat");
    answer(x, id);
    assert_int_equal(x->verdict, HEARTBEAT_TAKEN);
    drive_advance(&x->drive, 2000);
    heartbeat(x, "https://b:2/v1/board/heartbeat");
}

/* Of who is far away: less often, with more time for an answer, and as another. */
static void the_times_and_the_identity_may_be_others(void **state)
{
    struct fixture *x = *state;
    x->heartbeat_sender.interval_ns = 5 * SECOND_NS;
    x->heartbeat_sender.timeout_ns = 3 * SECOND_NS;
    x->boards.identity = IDENTITY_CENTRE;
    begin(x);
    uint64_t id = heartbeat(x, "https://a:1/v1/board/heartbeat");
    const struct call *c = drive_call(&x->drive, "heartbeat", 0);
    assert_int_equal(c->identity, IDENTITY_CENTRE);
    assert_true(c->deadline_ns == x->drive.now.mono_ns + 3 * SECOND_NS);
    answer(x, id);
    drive_advance(&x->drive, 4999);
    assert_null(drive_call(&x->drive, "heartbeat", 0));
    drive_advance(&x->drive, 1);
    assert_non_null(drive_call(&x->drive, "heartbeat", 0));
}

static void a_conflict_is_a_rejection(void **state)
{
    struct fixture *x = *state;
    begin(x);
    refuse(x, heartbeat(x, "https://a:1/v1/board/heartbeat"),
           MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(x->verdict, HEARTBEAT_REJECTED);
    heartbeat_sender_stop(&x->heartbeat_sender);
    drive_advance(&x->drive, 10000);
    assert_null(drive_call(&x->drive, "heartbeat", 0));
    assert_true(x->drive.out.due_ns == NEVER_NS);
}

static void an_answer_to_an_older_request_is_not_listened_to(void **state)
{
    struct fixture *x = *state;
    begin(x);
    uint64_t old = heartbeat(x, "https://a:1/v1/board/heartbeat");
    begin(x);
    refuse(x, old, MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(x->verdict, HEARTBEAT_NONE);
    heartbeat_sender_stop(&x->heartbeat_sender);
    answer(x, x->heartbeat_sender.call_id);
    assert_int_equal(x->verdict, HEARTBEAT_NONE);
}

static void boards_parse(void **state)
{
    SCOPED_ARENA(a);
    uint64_t ids = 1;
    struct boards b = {.count = 77};
    struct err err = {0};
    static const char *const wrong[] = {"",         "http://a:1", "https://a:1,",        "a:1",
                                        "https://", ",",          "https://a,,https://b"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(boards_init(&b, &a, wrong[i], &ids, &err), -ERR_INVALID);
        assert_true(*err.text);
        assert_int_equal(b.count, 77); /* untouched */
    }
    SCOPED_BUF(list);
    for (int i = 0; i < BOARDS_MAX; i++) {
        buf_printf(&list, "%shttps://h%d:1/", i ? ", " : "", i);
    }
    assert_int_equal(boards_init(&b, &a, buf_string(&list), &ids, &err), 0);
    assert_int_equal(b.count, BOARDS_MAX);
    assert_string_equal(b.urls[BOARDS_MAX - 1], "https://h15:1");
    buf_append_string(&list, ",https://one:1");
    assert_int_equal(boards_init(&b, &a, buf_string(&list), &ids, &err), -ERR_INVALID);
    assert_string_equal(err.text, "more than 16 bbs addresses");

    assert_string_equal(boards_url(&b), "https://h0:1");
    boards_failed(&b, "https://h1:1"); /* somebody went on already */
    assert_string_equal(boards_url(&b), "https://h0:1");
    for (int i = 0; i < BOARDS_MAX; i++) {
        boards_failed(&b, boards_url(&b));
    }
    assert_string_equal(boards_url(&b), "https://h0:1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_times_and_the_identity_may_be_others),
        TEST(heartbeats_every_two_seconds),   TEST(unanswered_for_a_second_goes_to_the_next),
        TEST(a_conflict_is_a_rejection), TEST(an_answer_to_an_older_request_is_not_listened_to),
        cmocka_unit_test(boards_parse),
    };
    return cmocka_run_group_tests_name("client heartbeat_sender", tests, NULL, NULL);
}

/* A task that finds no cell is rejected once a request, whoever leads then (docs/tasks.md,
 * Distributing tasks). */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#define assert_rejected(f, revision, ret_call)                                                     \
    assert_string_equal(play_failed(f, ret_call),                                                  \
                        arena_printf(&(f)->arena, "t@%lld=insufficient resources: memory ",        \
                                     (long long)(revision)))

/* The creation is a request, its rejection is none; neither are the batches, the sweeps and the
 * looks for more room that try it again. */
static void rejected_once_until_somebody_asks(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, &full);
    assert_rejected(f, revision, &call);
    revision = play_task(f, PUT, "t", 1);
    play_send(f);
    play_applied(f, call, 1);
    uint64_t rounds = f->x->auction.last.number;
    assert_false(play_told_within(f, 25, full));
    assert_true(f->x->auction.last.number >= rounds + 2);
    for (int32_t rejections = 2; rejections <= 3; rejections++) {
        assert_int_equal(play_post(f, "bbs", "/v1/tasks", play_task_hint)->status, 202);
        play_tell_state(f, play_state_call(f, "a"), full);
        assert_rejected(f, revision, &call);
        revision = play_task(f, PUT, "t", rejections);
        play_send(f);
        play_applied(f, call, 1);
        assert_false(play_told_within(f, 15, full));
    }
    /* It failed with the last one. */
    play_post(f, "bbs", "/v1/tasks", play_task_hint);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
    play_task(f, DELETE, "t", 4);
    play_send(f);
    play_applied(f, call, 1);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

static void more_room_is_found_for_one_that_was_rejected(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, NULL);
    assert_rejected(f, revision, &call);
    play_task(f, PUT, "t", 1);
    play_send(f);
    play_applied(f, call, 1);
    assert_true(play_asked_within(f, 3));
    play_hand_out(f, "a", &call);
}

/* A new leader, or a cell that rejects: the record says that the request was answered. */
static void one_that_was_rejected_before_waits_for_somebody_to_ask(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 2, &full);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_false(play_told_within(f, 12, full));
    play_post(f, "bbs", "/v1/tasks", play_task_hint);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
}

static void an_unanswered_rejection_is_repeated_unless_it_landed(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, &full);
    assert_rejected(f, revision, &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_true(play_told_within(f, 14, full));
    assert_rejected(f, revision, &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    play_task(f, PUT, "t", 1); /* it did, and so it is told after all */
    play_send(f);
    assert_false(play_told_within(f, 25, full));
}

static void a_rejection_that_landed_before_it_was_doubted(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_task(f, PUT, "t", 1);
    play_send(f);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_false(play_told_within(f, 25, full));
}

/* A standby has seen the creation, and that the leader of then rejected it. */
static void what_another_leader_rejected_is_answered(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_lock(f, RECORD, "other", 5);
    play_current(f);
    play_task(f, PUT, "t", 0);
    play_task(f, PUT, "t", 1);
    play_lock(f, DELETE, "other", ++f->revision);
    play_send(f);
    play_elect(f);
    play_refuse(f);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

/* Somebody removed it and desired it again: another task of the same name. */
static void one_that_is_desired_again_is_a_request_again(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_applied(f, call, 1);
    play_task(f, DELETE, "t", 1);
    revision = play_task(f, PUT, "t", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
}

static void a_reset_keeps_what_is_seen_again(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = play_refuse_task(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_applied(f, call, 1);
    frame_reset(&f->sent, "e1");
    play_lock(f, RECORD, f->x->life.leader.id, f->x->life.leader.term);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    f->revision = revision;
    play_task(f, RECORD, "t", 0); /* the same record: not asked for again */
    f->revision += 10;
    play_current(f);
    assert_int_equal(f->x->backlog.entries.count, 1);
    assert_false(play_told_within(f, 12, full));
    frame_reset(&f->sent, "e1");
    play_lock(f, RECORD, f->x->life.leader.id, f->x->life.leader.term);
    play_current(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
    assert_int_equal(f->x->backlog.of_kind[JOB_TASK], 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rejected_once_until_somebody_asks),
        TEST(more_room_is_found_for_one_that_was_rejected),
        TEST(one_that_was_rejected_before_waits_for_somebody_to_ask),
        TEST(an_unanswered_rejection_is_repeated_unless_it_landed),
        TEST(a_rejection_that_landed_before_it_was_doubted),
        TEST(what_another_leader_rejected_is_answered),
        TEST(one_that_is_desired_again_is_a_request_again),
        TEST(a_reset_keeps_what_is_seen_again),
    };
    return cmocka_run_group_tests_name("auction rejections", tests, NULL, NULL);
}

/* Instances that find no cell: how often the auctioneer tells the board, and when it tries them
 * again. */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

static void a_refusal_is_reported_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__CellState *full = play_refuse_lrp(f);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    play_applied(f, call, 1);
    play_actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    play_heartbeat(f);
    /* The sweep after 10 s tries again, and says nothing new. */
    assert_false(play_told_within(f, 14, full));
    assert_true(f->x->auction.last.number >= 2);
    /* Another reason is told. */
    full->availableresources->diskmb = 0;
    assert_true(play_told_within(f, 14, full));
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: disk, memory ");
}

static void a_new_leader_does_not_repeat_what_the_record_says(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    play_send(f);
    play_refuse(f);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

static void a_report_without_answer_is_repeated(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__CellState *full = play_refuse_lrp(f);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_true(play_told_within(f, 14, full));
}

/* Another one led in between, and has said nothing. */
static void leader_lock_again(struct auction_rig *f)
{
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    frame_change(&f->sent, DELETE, "lead/auctioneer", &other.base, ++f->revision);
    play_send(f);
    play_elect(f);
}

static void what_was_said_under_a_term_that_is_over_is_said_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__CellState *full = play_refuse_lrp(f);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    play_depose(f); /* before the answer: nobody waits for it any more */
    leader_lock_again(f);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    play_refused(f, call, 1); /* the board knows sooner than we do */
    play_depose(f);
    leader_lock_again(f);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
}

static void more_room_is_found_within_two_seconds(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__CellState *full = play_refuse_lrp(f);
    drive_advance(&f->drive, 1999);
    assert_null(play_asked_state(f, "a"));
    drive_advance(&f->drive, 1);
    uint64_t rounds = f->x->auction.last.number;
    drive_response(&f->drive, play_state_call(f, "a"), 304, "\"tag\"", (struct bytes){0});
    assert_int_equal(f->x->auction.last.number, rounds); /* nothing has changed: no auction */
    play_heartbeat(f);
    drive_advance(&f->drive, 2000);
    full->availableresources->memorymb = 100;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_non_null(play_work(f, "a", &call));
}

/* What it was given since it was asked may have left again, and then it shows no more room than
 * before. */
static void room_that_was_taken_and_left_is_found_within_two_seconds(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_unclaimed(f, "a", 2);
    Cell__CellState *small = play_row(f, "a");
    small->availableresources->memorymb = 150; /* one of 100 MB */
    play_tell_state(f, play_state_call(f, "a"), small);
    const Cell__Work *work = play_work(f, "a", &call);
    assert_non_null(work);
    assert_int_equal(work->n_lrps, 1);
    play_take_work(f, work, call, 0);
    play_actual(f, DELETE, "web", work->lrps[0]->index);
    play_send(f);
    drive_advance(&f->drive, 2000);
    play_tell_state(f, play_state_call(f, "a"), small);
    assert_non_null(play_work(f, "a", &call));
}

/* With a limit in flight, what has started makes room as well. */
static void what_has_started_lets_the_next_start(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_end(f);
    f->config.starting_container_maximum = 2;
    play_begin(f);
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    Cell__CellState *busy = play_row(f, "a");
    busy->startingcontainercount = 2;
    play_tell_state(f, play_state_call(f, "a"), busy);
    assert_string_equal(play_failed(f, &call),
                        "web/0=waiting to start instance: reached in-flight start limit ");
    drive_advance(&f->drive, 2000);
    busy->startingcontainercount = 1;
    play_tell_state(f, play_state_call(f, "a"), busy);
    assert_non_null(play_work(f, "a", &call));
}

static void a_new_cell_is_tried_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__CellState *full = play_refuse_lrp(f);
    play_cell(f, PUT, "b", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b");
    play_tell_state(f, a, full);
    play_tell_state(f, b, play_row(f, "b"));
    assert_non_null(play_work(f, "b", &call));
}

static void the_unplaced_are_tried_with_each_batch(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_refuse_lrp(f);
    play_desired(f, PUT, "db", 1);
    play_actual(f, PUT, "db", 0);
    play_send(f);
    assert_int_equal(play_hand_out(f, "a", &call)->n_lrps, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_refusal_is_reported_once),
        TEST(a_new_leader_does_not_repeat_what_the_record_says),
        TEST(a_report_without_answer_is_repeated),
        TEST(what_was_said_under_a_term_that_is_over_is_said_again),
        TEST(more_room_is_found_within_two_seconds),
        TEST(room_that_was_taken_and_left_is_found_within_two_seconds),
        TEST(what_has_started_lets_the_next_start),
        TEST(a_new_cell_is_tried_at_once),
        TEST(the_unplaced_are_tried_with_each_batch),
    };
    return cmocka_run_group_tests_name("auction refusals", tests, NULL, NULL);
}

/* What the converger asks of the board, and when. */
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#define ORDINARY MODELS__ACTUAL_LRP__PRESENCE__ORDINARY
#define EVACUATING MODELS__ACTUAL_LRP__PRESENCE__EVACUATING
#define SUSPECT MODELS__ACTUAL_LRP__PRESENCE__SUSPECT

static void a_crashed_one_is_restarted_when_due(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_actual(f, RECORD, "web", 0, "CRASHED", f->drive.now.wall_ns);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 29));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "restart web/0 ", &call);
}

/* One with a name does other work on it. */
static void the_job_of_its_instances_alone_holds_repairs_up(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Board__JobRecord job = BOARD__JOB_RECORD__INIT;
    job.target = (char *)(uintptr_t)"web";
    rig_desired(f, RECORD, "web", 1);
    rig_change(f, RECORD, key_job(&f->arena, "web", ""), &job.base);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 60));
    rig_change(f, DELETE, key_job(&f->arena, "web", ""), &job.base);
    job.name = (char *)(uintptr_t)"roll";
    rig_change(f, PUT, key_job(&f->arena, "web", "roll"), &job.base);
    rig_send(f);
    assert_moves(f, "create web/0 ", &call);
}

/* Whoever retired it looks whether it is gone, every half second: Diego's acceptance suite does. */
static void one_that_went_is_made_again_after_a_while(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_actual(f, RECORD, "web", 0, "CRASHED", f->drive.now.wall_ns);
    rig_leader_lock(f);
    rig_actual(f, DELETE, "web", 0, "CRASHED", 0);
    rig_send(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 1));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "create web/0 ", &call);
}

/* One instance after the other is retired, or a cell is drained for long: what went first is not
 * held up by what goes later. */
static void records_that_keep_going_hold_nothing_up(void **state)
{
    enum { INSTANCES = 10 };
    struct converger_rig *f = *state;
    uint64_t call;
    bool moved = false;
    rig_desired(f, RECORD, "web", INSTANCES);
    for (int i = 0; i < INSTANCES; i++) {
        rig_actual(f, RECORD, "web", i, "CRASHED", f->drive.now.wall_ns);
    }
    rig_leader_lock(f);
    for (int i = 0; i < INSTANCES && !moved; i++) {
        rig_actual(f, DELETE, "web", i, "CRASHED", 0);
        rig_send(f);
        moved = rig_moved_within(f, 1);
    }
    assert_true(moved);
    assert_moves(f, "create web/0 create web/1 create web/2 create web/3 ", &call);
    rig_answer(f, call, 4, UNKNOWN);
    assert_true(rig_moved_within(f, 2));
}

static void what_waits_too_long_is_asked_for_in_full_passes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_actual(f, RECORD, "web", 0, "UNCLAIMED", f->drive.now.wall_ns);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    assert_true(rig_moved_within(f, 61));
    assert_moves(f, "ask web/0 ", &call);
    rig_answer(f, call, 1, BOARD__MOVE_RESULT__OUTCOME__NOTHING);
    assert_moves(f, "", &call);
    assert_true(rig_moved_within(f, 31));
    assert_moves(f, "ask web/0 ", &call);
}

static void extra_ones_are_stopped_only_in_a_fresh_domain(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_actual(f, RECORD, "web", 0, "RUNNING", 0);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 65));
    rig_domain(f, PUT, 12);
    rig_send(f);
    assert_moves(f, "stop web/0 ", &call);
    rig_answer(f, call, 1, REFUSED);
    assert_true(rig_moved_within(f, 6));
    assert_moves(f, "stop web/0 ", &call);
    rig_answer(f, call, 1, REFUSED);
    /* The wall clock falls back; the monotonic one does not. */
    f->drive.now.wall_ns -= 1000 * SECOND_NS;
    assert_true(rig_moved_within(f, 6));
    rig_answer(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, 1, REFUSED);
    /* Its time is over for good. */
    assert_true(rig_moved_within(f, 60));
    assert_moves(f, "expire domain d ", &call);
    rig_answer(f, call, 1, REFUSED);
    /* The same revision, told again by another bbs, is no younger. */
    frame_reset(&f->sent, "e1");
    rig_actual(f, RECORD, "web", 0, "RUNNING", 0);
    rig_current(f);
    assert_moves(f, "", &call);
}

/* A full pass that comes before the second try has found nothing that was not known. */
static void a_refused_repair_is_not_found_late(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 28));
    uint64_t passes = f->x->full_passes;
    rig_desired(f, PUT, "web", 1);
    rig_send(f);
    assert_moves(f, "create web/0 ", &call);
    rig_answer(f, call, 1, REFUSED);
    assert_true(rig_moved_within(f, 4));
    assert_moves(f, "create web/0 ", &call);
    assert_int_equal(f->x->full_passes, passes + 1);
    assert_int_equal(rig_instances(f)->found_late, 0);
}

/* What it changes reaches the feed a little later, a refresh only by the rep that was told. */
static void a_repair_that_was_just_done_is_not_found_late(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 28));
    uint64_t passes = f->x->full_passes;
    rig_desired(f, PUT, "web", 1);
    rig_send(f);
    assert_moves(f, "create web/0 ", &call);
    rig_answer(f, call, 1, BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_true(rig_moved_within(f, 4));
    assert_moves(f, "create web/0 ", &call);
    assert_int_equal(f->x->full_passes, passes + 1);
    assert_int_equal(rig_instances(f)->found_late, 0);
    /* But it does not excuse what the next pass finds. */
    rig_answer(f, call, 1, BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_true(rig_moved_within(f, 31));
    assert_int_equal(f->x->full_passes, passes + 2);
    assert_int_equal(rig_instances(f)->found_late, 1);
}

/* A domain without end that came back with a restore is not fresh until it is upserted again. */
static void nothing_is_stopped_after_a_restore(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_actual(f, RECORD, "web", 0, "RUNNING", 0);
    rig_domain(f, RECORD, 0);
    rig_leader_lock(f);
    assert_moves(f, "stop web/0 ", &call);
    rig_reset(f, "e2", f->revision + 1);
    rig_actual(f, RECORD, "web", 0, "RUNNING", 0);
    rig_domain(f, RECORD, 0);
    f->revision++;
    rig_current(f);
    assert_false(f->x->life.leader.leads);
    drive_advance(&f->drive, 1000);
    rig_elect(f);
    assert_false(rig_moved_within(f, 65));
    rig_domain(f, PUT, 0);
    rig_send(f);
    assert_moves(f, "stop web/0 ", &call);
}

static void an_expired_domain_goes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_domain(f, RECORD, 10);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 9));
    assert_true(rig_moved_within(f, 22));
    assert_moves(f, "expire domain d ", &call);
}

/* Only what this process has seen for the whole time to live, whatever its wall clock says. */
static void a_lock_goes_after_its_time(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_lock(f, RECORD, "a b", 10);
    rig_lock(f, RECORD, "for ever", INT64_MAX);
    rig_leader_lock(f);
    f->drive.now.wall_ns += 1000 * SECOND_NS;
    assert_false(rig_moved_within(f, 9));
    assert_true(rig_moved_within(f, 1));
    assert_moves(f, "expire lock a b@10 ", &call);
    rig_answer(f, call, 1, UNKNOWN);
    assert_false(rig_moved_within(f, 4)); /* not asked again at once */
    assert_true(rig_moved_within(f, 1));
    assert_moves(f, "expire lock a b@10 ", &call);
    rig_lock(f, DELETE, "a b", 10);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    assert_false(rig_moved_within(f, 60));
}

/* Each renewal is a new revision; the same one told again by another bbs is no younger. */
static void a_lock_that_is_renewed_stays(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_lock(f, RECORD, "k", 10);
    rig_leader_lock(f);
    for (int i = 0; i < 5; i++) {
        assert_false(rig_moved_within(f, 9));
        rig_lock(f, PUT, "k", 10);
        rig_send(f);
    }
    assert_false(rig_moved_within(f, 6));
    frame_reset(&f->sent, "e1");
    rig_lock(f, RECORD, "k", 10);
    rig_current(f);
    assert_false(f->x->life.leader.leads); /* the snapshot tells of no lock */
    drive_advance(&f->drive, 1000);
    rig_elect(f);
    assert_false(rig_moved_within(f, 2));
    assert_true(rig_moved_within(f, 1));
    assert_moves(f, "expire lock k@16 ", &call);
}

/* It waits for room, and the converger does not spin meanwhile. */
static void a_lock_that_is_over_waits_for_room(void **state)
{
    struct converger_rig *f = *state;
    static const char *const large[] = {"p", "q", "r", "s"};
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        rig_desired(f, RECORD, large[i], REPAIRS_MAX);
    }
    rig_lock(f, RECORD, "k", 1);
    rig_leader_lock(f);
    assert_false(mover_room(&f->x->mover, 1));
    drive_sleep(&f->drive, 1500);
    drive_timer(&f->drive);
    assert_true(f->drive.out.due_ns > f->drive.now.mono_ns);
    mover_stop(&f->x->mover); /* as if all were answered */
    assert_true(rig_moved_within(f, 5));
    uint64_t call;
    assert_moves(f, "expire lock k@10 ", &call);
}

/* Gone while the copy was away, or of another board generation: nothing that was known of it
 * counts. */
static void a_lock_of_another_board_begins_again(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_lock(f, RECORD, "gone", 10);
    rig_lock(f, RECORD, "k", 10);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 9));
    rig_reset(f, "e2", f->revision + 1);
    rig_lock(f, RECORD, "k", 10); /* by chance at the revision that was the last one */
    f->revision++;
    rig_current(f);
    drive_advance(&f->drive, 1000);
    rig_elect(f);
    assert_false(rig_moved_within(f, 8));
    assert_true(rig_moved_within(f, 1));
    assert_moves(f, "expire lock k@11 ", &call);
}

/* The loss of a cell concerns the records that name it, and of no others. */
static void what_a_lost_cell_ran_is_started_elsewhere(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "api", 2);
    rig_desired(f, RECORD, "web", 1);
    rig_cell(f, RECORD, "c1", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_cell(f, RECORD, "c2", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_placed(f, RECORD, "api", 0, ORDINARY, "c1");
    rig_placed(f, RECORD, "api", 1, ORDINARY, "c2");
    rig_placed(f, RECORD, "web", 0, ORDINARY, "c2");
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    rig_cell(f, PUT, "c1", BOARD__CELL_RECORD__STATE__LOST);
    rig_send(f);
    assert_moves(f, "suspect api/0 ", &call);
    rig_placed(f, PUT, "api", 0, SUSPECT, "c1");
    rig_actual(f, PUT, "api", 0, "UNCLAIMED", f->drive.now.wall_ns);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    assert_moves(f, "", &call);
    /* It is back before its replacement runs. */
    rig_cell(f, PUT, "c1", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_send(f);
    assert_moves(f, "resolve api/0 ", &call);
    rig_answer(f, call, 1, DONE);
    rig_cell(f, DELETE, "c2", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_send(f);
    assert_moves(f, "suspect web/0 suspect api/1 ", &call);
}

static void an_evacuation_ends_with_its_cell(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_cell(f, RECORD, "c1", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_cell(f, RECORD, "c2", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_placed(f, RECORD, "web", 0, EVACUATING, "c1");
    rig_placed(f, RECORD, "web", 0, ORDINARY, "c2");
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    rig_cell(f, PUT, "c1", BOARD__CELL_RECORD__STATE__LOST);
    rig_send(f);
    assert_moves(f, "vacate web/0 ", &call);
}

/* What a snapshot does not tell again is gone, cells and records alike. */
static void a_reset_forgets_all(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 2);
    rig_desired(f, RECORD, "api", 1);
    rig_cell(f, RECORD, "c1", BOARD__CELL_RECORD__STATE__PRESENT);
    rig_placed(f, RECORD, "web", 0, ORDINARY, "c1");
    rig_placed(f, RECORD, "web", 1, ORDINARY, "c1");
    rig_placed(f, RECORD, "api", 0, ORDINARY, "c1");
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    leader_lock.holder = f->x->life.leader.id;
    frame_reset(&f->sent, "e1");
    frame_change(&f->sent, RECORD, "lead/converger", &leader_lock.base, f->x->life.leader.term);
    rig_desired(f, RECORD, "web", 2);
    rig_placed(f, RECORD, "web", 0, ORDINARY, "c1");
    rig_current(f);
    assert_moves(f, "suspect web/0 create web/1 ", &call);
    assert_int_equal(rig_instances(f)->by_guid.count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_crashed_one_is_restarted_when_due),
        TEST(the_job_of_its_instances_alone_holds_repairs_up),
        TEST(one_that_went_is_made_again_after_a_while),
        TEST(records_that_keep_going_hold_nothing_up),
        TEST(what_waits_too_long_is_asked_for_in_full_passes),
        TEST(extra_ones_are_stopped_only_in_a_fresh_domain),
        TEST(a_refused_repair_is_not_found_late),
        TEST(a_repair_that_was_just_done_is_not_found_late),
        TEST(nothing_is_stopped_after_a_restore),
        TEST(an_expired_domain_goes),
        TEST(a_lock_goes_after_its_time),
        TEST(a_lock_that_is_renewed_stays),
        TEST(a_lock_that_is_over_waits_for_room),
        TEST(a_lock_of_another_board_begins_again),
        TEST(what_a_lost_cell_ran_is_started_elsewhere),
        TEST(an_evacuation_ends_with_its_cell),
        TEST(a_reset_forgets_all),
    };
    return cmocka_run_group_tests_name("repairs of the converger", tests, NULL, NULL);
}

/* What the converger asks of the board about tasks, and when. */
#include "common/model/moves.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#define PENDING MODELS__TASK__STATE__Pending
#define RUNNING MODELS__TASK__STATE__Running
#define COMPLETED MODELS__TASK__STATE__Completed
#define RESOLVING MODELS__TASK__STATE__Resolving
#define PRESENT BOARD__CELL_RECORD__STATE__PRESENT
#define LOST BOARD__CELL_RECORD__STATE__LOST
#define NOTHING BOARD__MOVE_RESULT__OUTCOME__NOTHING

/* Nobody can place it: asked for each 30 s, counted from each rejection, and after the last one no
 * more. */
static void an_unplaceable_one_is_asked_for_each_30_s(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", PENDING);
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    for (int rejections = 1; rejections <= 3; rejections++) {
        assert_false(rig_moved_within(f, 29));
        assert_true(rig_moved_within(f, 2));
        assert_moves(f, "ask task t ", &call);
        rig_answer(f, call, 1, NOTHING);
        assert_moves(f, "", &call);
        t->rejection_count = rejections;
        t->updated_at = f->drive.now.wall_ns;
        rig_task(f, PUT, t);
        rig_send(f);
        assert_moves(f, "", &call);
    }
    t->state = COMPLETED;
    t->first_completed_at = f->drive.now.wall_ns;
    rig_task(f, PUT, t);
    rig_send(f);
    assert_false(rig_moved_within(f, 65));
}

/* Nobody listens: the question is repeated in each full pass, and not more often. */
static void a_question_that_changes_nothing_is_repeated_in_full_passes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_task(f, RECORD, rig_task_row(f, "t", PENDING));
    rig_leader_lock(f);
    assert_true(rig_moved_within(f, 31));
    assert_moves(f, "ask task t ", &call);
    for (int i = 0; i < 3; i++) {
        rig_answer(f, call, 1, NOTHING);
        assert_moves(f, "", &call);
        assert_false(rig_moved_within(f, 25));
        assert_true(rig_moved_within(f, 6));
        assert_moves(f, "ask task t ", &call);
    }
}

static void one_that_waits_for_too_long_expires(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", PENDING);
    t->created_at -= 30 * 60 * SECOND_NS; /* on whatever clock: 10 s of its own are waited for */
    rig_tasks(f)->given.expire_pending_ns = 10 * SECOND_NS;
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 9));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "expire task t after 10 s ", &call);
}

static void run_on_c1(struct converger_rig *f)
{
    Models__Task *t = rig_task_row(f, "t", RUNNING), *other = rig_task_row(f, "u", RUNNING);
    t->cell_id = arena_strdup(&f->arena, "c1");
    other->cell_id = arena_strdup(&f->arena, "c2");
    rig_cell(f, RECORD, "c1", PRESENT);
    rig_cell(f, RECORD, "c2", PRESENT);
    rig_task(f, RECORD, t);
    rig_task(f, RECORD, other);
    rig_leader_lock(f);
}

static void what_ran_on_a_lost_cell_fails_after_a_minute(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    run_on_c1(f);
    assert_false(rig_moved_within(f, 40));
    rig_cell(f, PUT, "c1", LOST);
    rig_send(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 59));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "disappear task t ", &call);
}

static void a_cell_that_is_back_in_time_keeps_its_tasks(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    run_on_c1(f);
    rig_cell(f, PUT, "c1", LOST);
    rig_send(f);
    assert_false(rig_moved_within(f, 50));
    rig_cell(f, PUT, "c1", PRESENT);
    rig_send(f);
    assert_false(rig_moved_within(f, 80));
    rig_cell(f, PUT, "c1", LOST); /* counted again */
    rig_send(f);
    assert_false(rig_moved_within(f, 59));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "disappear task t ", &call);
}

/* Since the task's last change, for nobody knows since when. */
static void a_cell_without_a_record(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    run_on_c1(f);
    assert_false(rig_moved_within(f, 40));
    rig_cell(f, DELETE, "c1", PRESENT);
    rig_send(f);
    assert_false(rig_moved_within(f, 19));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "disappear task t ", &call);
    assert_int_equal(f->x->cache.cells.count, 2);
    rig_task(f, DELETE, rig_task_row(f, "t", RUNNING));
    rig_send(f);
    assert_int_equal(f->x->cache.cells.count, 1); /* nothing names it any more */
}

static void one_that_is_not_resolved_is_kicked_and_delivered_again(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", RESOLVING);
    t->task_definition->completion_callback_url = arena_strdup(&f->arena, "https://callback");
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 44));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "kick task t ", &call);
    t->state = COMPLETED; /* updated_at stays */
    rig_task(f, PUT, t);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    assert_moves(f, "deliver task t ", &call);
    rig_answer(f, call, 1, NOTHING);
    t->state = RESOLVING;
    t->updated_at = f->drive.now.wall_ns;
    rig_task(f, PUT, t);
    rig_send(f);
    assert_false(rig_moved_within(f, 44));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "kick task t ", &call);
}

static void what_was_kept_for_long_enough_goes(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", COMPLETED);
    t->optional_keep_s_case = MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    t->keep_s = 10;
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_false(rig_moved_within(f, 9));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "forget task t ", &call);
    rig_task(f, DELETE, t);
    rig_send(f);
    rig_answer(f, call, 1, DONE); /* of one that is not known any more */
    assert_int_equal(rig_tasks(f)->by_guid.count, 0);
    assert_int_equal(rig_tasks(f)->work.moving_count, 0);
}

/* ---- Moves on their way ---------------------------------------------------------------------- */

static void a_repair_is_planned_once_until_it_is_answered(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", PENDING);
    t->created_at = t->updated_at = 0;
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_moves(f, "ask task t ", &call);
    rig_task(f, PUT, t);
    rig_send(f);
    uint64_t none;
    assert_moves(f, "", &none);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "ask task t ", &call);
    rig_answer(f, call, 1, REFUSED);
    assert_false(rig_moved_within(f, 4));
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "ask task t ", &call);
}

static void a_new_leader_begins_with_a_look_at_all(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", PENDING);
    t->created_at = t->updated_at = 0;
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_moves(f, "ask task t ", &call);
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, PUT, "lead/converger", &other.base, f->revision += 10);
    rig_task(f, PUT, t);
    rig_send(f);
    assert_false(f->x->life.leader.leads);
    assert_moves(f, "", &call);
    assert_int_equal(rig_tasks(f)->work.moving_count, 0);
    frame_change(&f->sent, DELETE, "lead/converger", &other.base, ++f->revision);
    rig_send(f);
    rig_elect(f);
    assert_moves(f, "ask task t ", &call);
}

static void a_reset_forgets_all(void **state)
{
    struct converger_rig *f = *state;
    run_on_c1(f);
    assert_int_equal(rig_tasks(f)->by_guid.count, 2);
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    leader_lock.holder = f->x->life.leader.id;
    rig_reset(f, "e1", 1);
    frame_change(&f->sent, RECORD, "lead/converger", &leader_lock.base, f->x->life.leader.term);
    rig_task(f, RECORD, rig_task_row(f, "u", PENDING));
    rig_current(f);
    assert_int_equal(rig_tasks(f)->by_guid.count, 1);
    assert_int_equal(f->x->cache.cells.count, 0);
}

/* A record of a newer version is nobody's to repair. */
static void a_task_of_a_newer_version_is_left_alone(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    Models__Task *t = rig_task_row(f, "t", (Models__Task__State)9);
    t->created_at = t->updated_at = t->first_completed_at = 0;
    rig_task(f, RECORD, t);
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    assert_false(rig_moved_within(f, 65));
}

/* Many at once, while a process has as many repairs: neither waits for the other, calls and moves
 * are bounded, all of it gets done. */
static void much_work_is_done_in_bounded_pieces(void **state)
{
    struct converger_rig *f = *state;
    enum { MANY = 5000, PLACES = 64 };
    rig_desired(f, RECORD, "web", 100000);
    for (int i = 0; i < MANY; i++) {
        Models__Task *t = rig_task_row(f, arena_printf(&f->arena, "t%05d", i), PENDING);
        t->created_at = t->updated_at = 0;
        rig_task(f, RECORD, t);
    }
    rig_leader_lock(f);
    size_t expired = 0, created = 0, sizes[PLACES], count = 0, next = 0;
    uint64_t open[PLACES];
    while (expired < MANY) {
        for (size_t n = 0; drive_call(&f->drive, "/v1/board/apply", n); n++) {
            const struct call *c = drive_call(&f->drive, "/v1/board/apply", n);
            ProtobufCAllocator allocator = arena_protobuf(&f->arena);
            Board__ApplyRequest *r =
                board__apply_request__unpack(&allocator, c->body.size, c->body.data);
            for (size_t i = 0; i < r->n_moves; i++) {
                expired += move_kind(r->moves[i]) == RECORD_TASK;
                created += move_kind(r->moves[i]) == RECORD_ACTUAL;
            }
            open[count % PLACES] = c->id;
            sizes[count++ % PLACES] = r->n_moves;
        }
        assert_true(next < count && count - next <= MOVER_CALLS_MAX);
        assert_true(f->x->mover.count <= MOVER_WAITING_MAX);
        assert_true(rig_tasks(f)->work.moving_count <= TASKS_MOVING_MAX);
        rig_answer(f, open[next % PLACES], sizes[next % PLACES], DONE);
        next++;
    }
    assert_true(created > MANY / 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_unplaceable_one_is_asked_for_each_30_s),
        TEST(a_question_that_changes_nothing_is_repeated_in_full_passes),
        TEST(one_that_waits_for_too_long_expires),
        TEST(what_ran_on_a_lost_cell_fails_after_a_minute),
        TEST(a_cell_that_is_back_in_time_keeps_its_tasks),
        TEST(a_cell_without_a_record),
        TEST(one_that_is_not_resolved_is_kicked_and_delivered_again),
        TEST(what_was_kept_for_long_enough_goes),
        TEST(a_repair_is_planned_once_until_it_is_answered),
        TEST(a_new_leader_begins_with_a_look_at_all),
        TEST(a_reset_forgets_all),
        TEST(a_task_of_a_newer_version_is_left_alone),
        TEST(much_work_is_done_in_bounded_pieces),
    };
    return cmocka_run_group_tests_name("converger and tasks", tests, NULL, NULL);
}

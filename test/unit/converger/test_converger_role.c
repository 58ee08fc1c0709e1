/* The life of the converger: leading, standing by, much work, answers. */
#include "common/model/moves.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#include <stdlib.h>

static void a_wrong_configuration_is_reported(void **state)
{
    struct converger_rig *f = *state;
    role_free(&f->x->life.role);
    drive_done(&f->drive);
    rig_begin(f, "http://a:1");
    drive_start(&f->drive);
    const struct effect *e = drive_effect(&f->drive, EFFECT_EXIT, 0);
    assert_non_null(e);
    assert_int_equal(e->exit.code, 2);
}

static void a_standby_moves_nothing_and_forgets_what_is_gone(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    rig_desired(f, RECORD, "web", 1);
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, RECORD, "lead/converger", &other.base, 5);
    rig_current(f);
    assert_moves(f, "", &call);
    assert_int_equal(rig_instances(f)->by_guid.count, 1);
    rig_desired(f, DELETE, "web", 1);
    rig_desired(f, PUT, "api", 2);
    rig_send(f);
    assert_int_equal(rig_instances(f)->by_guid.count, 1);
    /* The other one gives the lock back: all is looked at once this one leads. */
    frame_change(&f->sent, DELETE, "lead/converger", &other.base, ++f->revision);
    rig_send(f);
    rig_elect(f);
    assert_moves(f, "create api/0 create api/1 ", &call);
}

static void changes_are_looked_at_at_once_and_only_once(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call, none;
    rig_leader_lock(f);
    assert_moves(f, "", &call);
    rig_desired(f, PUT, "web", 1);
    rig_send(f);
    assert_moves(f, "create web/0 ", &call);
    /* While the answer is awaited further changes do not plan it again. */
    rig_desired(f, PUT, "web", 2);
    rig_send(f);
    assert_moves(f, "", &none);
    rig_actual(f, PUT, "web", 0, "UNCLAIMED", f->drive.now.wall_ns);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    assert_moves(f, "create web/1 ", &call);
    rig_actual(f, PUT, "web", 1, "UNCLAIMED", f->drive.now.wall_ns);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    assert_moves(f, "", &call);
    assert_int_equal(f->x->mover.count, 0);
    assert_int_equal(f->x->mover.done, 2);
}

static void an_unanswered_repair_is_thought_over(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_leader_lock(f);
    assert_moves(f, "create web/0 ", &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_moves(f, "", &call);
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "create web/0 ", &call);
    rig_answer(f, call, 1, UNKNOWN);
    assert_true(rig_moved_within(f, 2));
    assert_moves(f, "create web/0 ", &call);
    rig_answer(f, call, 1, REFUSED);
    assert_false(rig_moved_within(f, 4));
    assert_true(rig_moved_within(f, 2));
    assert_int_equal(f->x->mover.refused, 1);
}

/* Freshness by both clocks: the stored expiry, and how long this revision has been seen. */
static void a_deposed_leader_stops_at_once(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_leader_lock(f);
    assert_moves(f, "create web/0 ", &call);
    Board__LeaderLockRecord other = BOARD__LEADER_LOCK_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, PUT, "lead/converger", &other.base, f->revision += 10);
    rig_desired(f, PUT, "web", 2);
    rig_send(f);
    assert_false(f->x->life.leader.leads);
    assert_moves(f, "", &call);
    assert_int_equal(f->x->mover.count, 0);
    rig_answer(f, call, 1, DONE); /* too late, and not counted */
    assert_int_equal(f->x->mover.done, 0);
}

/* 10,000 missing ones of one process, and more moves than fit at a time: calls and moves are
 * bounded, and all of it gets done. */
static void much_work_is_done_in_bounded_pieces(void **state)
{
    struct converger_rig *f = *state;
    enum { MANY = 10000 };
    bool *made = ARENA_ARRAY(&f->arena, MANY, bool);
    size_t answered = 0;
    rig_desired(f, RECORD, "web", MANY);
    rig_leader_lock(f);
    uint64_t open[MOVER_CALLS_MAX * 4];
    size_t sizes[MOVER_CALLS_MAX * 4], count = 0, next = 0;
    while (answered < MANY) {
        for (size_t n = 0; drive_call(&f->drive, "/v1/board/apply", n); n++) {
            const struct call *c = drive_call(&f->drive, "/v1/board/apply", n);
            ProtobufCAllocator allocator = arena_protobuf(&f->arena);
            Board__ApplyRequest *r =
                board__apply_request__unpack(&allocator, c->body.size, c->body.data);
            assert_in_range(r->n_moves, 1, MOVER_MOVES_MAX);
            for (size_t i = 0; i < r->n_moves; i++) {
                struct move_place place;
                assert_true(move_place(&f->arena, r->moves[i], &place));
                assert_false(made[place.key.index]);
                made[place.key.index] = true;
                rig_actual(f, PUT, "web", place.key.index, "UNCLAIMED",
                           f->drive.now.wall_ns);
            }
            open[count % (MOVER_CALLS_MAX * 4)] = c->id;
            sizes[count++ % (MOVER_CALLS_MAX * 4)] = r->n_moves;
        }
        assert_in_range(count - next, 1, MOVER_CALLS_MAX);
        assert_true(f->x->mover.count <= MOVER_WAITING_MAX);
        rig_send(f);
        assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
        answered += sizes[next % (MOVER_CALLS_MAX * 4)];
        rig_answer(f, open[next % (MOVER_CALLS_MAX * 4)], sizes[next % (MOVER_CALLS_MAX * 4)],
                   DONE);
        next++;
    }
    assert_int_equal(f->x->mover.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wrong_configuration_is_reported),
        TEST(a_standby_moves_nothing_and_forgets_what_is_gone),
        TEST(changes_are_looked_at_at_once_and_only_once),
        TEST(an_unanswered_repair_is_thought_over),
        TEST(a_deposed_leader_stops_at_once),
        TEST(much_work_is_done_in_bounded_pieces),
    };
    return cmocka_run_group_tests_name("converger role", tests, NULL, NULL);
}

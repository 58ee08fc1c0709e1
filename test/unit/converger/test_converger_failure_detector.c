/* The failure detector inside the converger: what it hears, the moves that it sends, what is shown
 * of it. The decisions themselves are test/decide/test_failure_detector.c. */
#include "common/codec/json.h"
#include "converger/cli/plan_text.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

#include <string.h>

#define PRESENT BOARD__CELL_RECORD__STATE__PRESENT
#define LOST BOARD__CELL_RECORD__STATE__LOST

/* Leading over these cells, which have just been heard. */
static void leader_lock_over(struct converger_rig *f, const char *cells)
{
    for (const char *c = cells; *c; c++) {
        rig_cell(f, RECORD, arena_strndup(&f->arena, c, 1), PRESENT);
    }
    rig_leader_lock(f);
    rig_second(f, cells);
}

/* So many seconds pass; true if something is sent in the last one, and in no other. */
static bool sent_after(struct converger_rig *f, int seconds, const char *cells)
{
    for (int i = 1; i <= seconds; i++) {
        if (rig_second(f, cells)) {
            return i == seconds;
        }
    }
    return false;
}

static bool sent_within(struct converger_rig *f, int seconds, const char *cells)
{
    for (int i = 0; i < seconds; i++) {
        if (rig_second(f, cells)) {
            return true;
        }
    }
    return false;
}

static const Converge__ConvergerState *shown(struct converger_rig *f)
{
    struct event ev = {.kind = EVENT_REQUEST,
                       .request = {.id = 78,
                                   .method = "GET",
                                   .path = "/state",
                                   .query = "",
                                   .trace_id = "",
                                   .accept = "",
                                   .content_type = "",
                                   .if_none_match = "",
                                   .peer = {.unit = "", .name = "somebody"}}};
    ProtobufCMessage *m;
    drive_event(&f->drive, ev);
    const struct effect *e = drive_effect(&f->drive, EFFECT_REPLY, 0);
    assert_int_equal(
        json_decode(&f->arena, &converge__converger_state__descriptor, e->reply.body, 0, &m, NULL),
        0);
    return (const Converge__ConvergerState *)m;
}

static void a_silent_cell_is_lost_with_the_incarnation_that_was_judged(void **state)
{
    struct converger_rig *f = *state;
    leader_lock_over(f, "abcd");
    assert_true(sent_after(f, 6, "abc"));
    assert_int_equal(shown(f)->cells[3]->silent_ms, 6000);
    assert_string_equal(shown(f)->cells[3]->state, "PRESENT");
    assert_true(shown(f)->hears);
    assert_false(sent_within(f, 4, "abc")); /* what was sent is not sent again */
    rig_cell(f, PUT, "d", LOST);
    rig_send(f);
    assert_string_equal(shown(f)->cells[3]->state, "LOST");
    assert_int_equal(shown(f)->cells[3]->silent_ms, 0);
    assert_false(sent_within(f, 20, "abc"));
}

static void a_refused_loss_is_judged_again(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    leader_lock_over(f, "abcd");
    assert_true(sent_after(f, 6, "abc"));
    assert_moves(f, "lose d@1 ", &call);
    rig_answer(f, call, 1, REFUSED);
    assert_true(sent_within(f, 2, "abc"));
    assert_moves(f, "lose d@1 ", &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_true(sent_within(f, 2, "abc"));
    assert_moves(f, "lose d@1 ", &call);
    rig_answer(f, call, 1, DONE);
}

static Board__LeaderLockRecord other_leader = BOARD__LEADER_LOCK_RECORD__INIT;
static char other_holder[] = "other";

/* Standing by over these cells. */
static void stand_by_over(struct converger_rig *f, const char *cells)
{
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    for (; *cells; cells++) {
        rig_cell(f, RECORD, arena_strndup(&f->arena, cells, 1), PRESENT);
    }
    other_leader.holder = other_holder;
    frame_change(&f->sent, RECORD, "lead/converger", &other_leader.base, 5);
    rig_current(f);
}

static void a_new_leader_begins_all_windows_again(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    stand_by_over(f, "ab");
    for (int i = 0; i < 5; i++) {
        rig_second(f, "b");
    }
    assert_int_equal(shown(f)->cells[0]->silent_ms, 4000); /* the standby listens */
    frame_change(&f->sent, DELETE, "lead/converger", &other_leader.base, ++f->revision);
    rig_send(f);
    rig_elect(f);
    assert_int_equal(shown(f)->cells[0]->silent_ms, 0);
    assert_true(sent_after(f, 6, "b"));
    assert_moves(f, "lose a@1 ", &call);
}

static void rig_limiter(struct converger_rig *f, Board__LimiterRecord__State limiter_state,
                        const char *cells)
{
    Board__LimiterRecord r = BOARD__LIMITER_RECORD__INIT;
    r.state = limiter_state;
    r.until = f->drive.now.wall_ns + 60 * SECOND_NS;
    r.cells = ARENA_ARRAY(&f->arena, strlen(cells), Board__CellHeartbeat *);
    for (; *cells; cells++) {
        Board__CellHeartbeat *c = r.cells[r.n_cells++] = ARENA_NEW(&f->arena, Board__CellHeartbeat);
        board__cell_heartbeat__init(c);
        c->cell_id = arena_strndup(&f->arena, cells, 1);
        c->incarnation = 1;
    }
    rig_change(f, PUT, key_brake(&f->arena), &r.base);
    rig_send(f);
}

static void a_mass_loss_is_held_released_and_worked_off(void **state)
{
    struct converger_rig *f = *state;
    uint64_t call;
    leader_lock_over(f, "abcdef");
    assert_true(sent_after(f, 6, "ab"));
    assert_moves(f, "hold c@1 d@1 e@1 f@1 ", &call);
    rig_limiter(f, BOARD__LIMITER_RECORD__STATE__HELD, "cdef");
    rig_answer(f, call, 1, DONE);
    assert_string_equal(shown(f)->limiter, "HELD");
    assert_string_equal(shown(f)->cells[2]->state, "LOST (held)");
    assert_true(sent_within(f, 2, "abc")); /* c is back */
    assert_moves(f, "hold d@1 e@1 f@1 ", &call);
    rig_limiter(f, BOARD__LIMITER_RECORD__STATE__HELD, "def");
    rig_answer(f, call, 1, DONE);
    assert_false(sent_within(f, 55, "abc"));
    assert_true(sent_within(f, 7, "abc"));
    assert_moves(f, "release ", &call);
    rig_answer(f, call, 1, DONE);
    rig_limiter(f, BOARD__LIMITER_RECORD__STATE__RELEASED, "def");
    assert_moves(f, "lose f@1 lose e@1 lose d@1 ", &call);
}

static void the_plan_shows_what_the_failure_detector_would_do(void **state)
{
    struct converger_rig *f = *state;
    struct err err;
    stand_by_over(f, "abcdefghijklm");
    static const struct {
        const char *heard, *plan;
    } rows[] = {
        {"bcdefghijklm", "detector  lose  1      cell a\n"},
        {"m", "detector  hold  1      cells a b c d e f g h and 4 more\n"},
    };
    for (size_t i = 0; i < 2; i++) {
        Converge__Plan plan;
        for (int s = 0; s < 7; s++) {
            rig_second(f, rows[i].heard);
        }
        buf_clear(&f->text);
        converger_plan(f->x, &f->arena, &plan);
        assert_int_equal(converger_plan_text(&f->arena, &plan, false, &f->text, &err), 0);
        assert_non_null(strstr(buf_string(&f->text), rows[i].plan));
    }
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0)); /* another one leads */
}

/* 5,000 cells fall silent: all are judged in one step, and the calls stay bounded. */
static void all_cells_of_the_largest_cluster_are_judged(void **state)
{
    struct converger_rig *f = *state;
    enum { MANY = 5000 };
    uint64_t call;
    for (int i = 0; i < MANY; i++) {
        rig_cell(f, RECORD, arena_printf(&f->arena, "cell-%d", i), PRESENT);
    }
    rig_leader_lock(f);
    assert_true(sent_after(f, 7, ""));
    const char *moves = rig_moves(f, 0, &call);
    assert_memory_equal(moves, "hold cell-0@1 ", 14);
    assert_int_equal(f->x->mover.count, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_silent_cell_is_lost_with_the_incarnation_that_was_judged),
        TEST(a_refused_loss_is_judged_again),
        TEST(a_new_leader_begins_all_windows_again),
        TEST(a_mass_loss_is_held_released_and_worked_off),
        TEST(the_plan_shows_what_the_failure_detector_would_do),
        TEST(all_cells_of_the_largest_cluster_are_judged),
    };
    return cmocka_run_group_tests_name("failure detector of the converger", tests, NULL, NULL);
}

/* What a cell took and did not bring to the board in time goes to another cell that has room, to
 * that one again only where there is no other (backlog.h, late). */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

enum { OVERDUE_S = 5, FULL_MB = 50 };

/* The cells that were asked answer; `full` names those without room. */
static void tell_states(struct auction_rig *f, const char *full)
{
    uint64_t calls[4];
    size_t count = 0;
    const char *ids[] = {"a", "b", "c", "d"}, *asked[4];
    for (size_t i = 0; i < 4; i++) {
        if (play_asked_state(f, ids[i])) {
            asked[count] = ids[i];
            calls[count++] = play_state_call(f, ids[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        Cell__CellState *s = play_row(f, asked[i]);
        s->availableresources->memorymb =
            strstr(full, asked[i]) ? FULL_MB : s->availableresources->memorymb;
        play_tell_state(f, calls[i], s);
    }
}

/* The cell that gets the only job of the round, and takes it. */
static char round_goes_to(struct auction_rig *f, const char *full)
{
    uint64_t call;
    char to = '-';
    tell_states(f, full);
    for (const char *id = "a\0b\0c\0d\0"; *id && to == '-'; id += 2) {
        Cell__Work *w = play_work(f, id, &call);
        if (w) {
            assert_int_equal(w->n_lrps + w->n_tasks, 1);
            play_take_work(f, w, call, 0);
            to = *id;
        }
    }
    return to;
}

/* Nothing of it shows on the board until the cells are asked again. */
static void until_overdue(struct auction_rig *f)
{
    for (int i = 1; i < OVERDUE_S; i++) {
        drive_advance(&f->drive, 1000);
        assert_null(play_asked_state(f, "a"));
        play_heartbeat(f);
    }
    drive_advance(&f->drive, 1000);
    assert_non_null(play_asked_state(f, "a"));
}

/* Cell a has more room than when it took it, which says nothing of what is in the way. */
static void another_cell_comes_first(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a b", 1);
    assert_int_equal(round_goes_to(f, ""), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, ""), 'b');
    play_actual(f, DELETE, "web", 0); /* claimed */
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

static void so_it_is_with_a_task(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a b");
    play_task(f, PUT, "t", 0);
    play_send(f);
    assert_int_equal(round_goes_to(f, ""), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, ""), 'b');
}

/* It waits for nothing, and the board is told of no refusal: there is none. */
static void the_only_cell_is_tried_again_at_once(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a", 1);
    assert_int_equal(round_goes_to(f, ""), 'a');
    for (int i = 0; i < 3; i++) {
        until_overdue(f);
        assert_int_equal(round_goes_to(f, ""), 'a');
        assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    }
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->backlog.late.by_name.count, 1);
}

static void so_it_is_where_no_other_has_room(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a b", 1);
    assert_int_equal(round_goes_to(f, "b"), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, "b"), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, "ab"), '-'); /* nobody has */
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
}

/* All have had it: the one longest ago comes first. */
static void they_take_turns(void **state)
{
    struct auction_rig *f = *state;
    char order[8] = "";
    play_unclaimed(f, "a b c", 1);
    for (int i = 0; i < 7; i++) {
        order[i] = round_goes_to(f, "");
        until_overdue(f);
    }
    assert_string_equal(order, "abcabca");
}

static char comes_again(struct auction_rig *f)
{
    play_actual(f, DELETE, "web", 0);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    return round_goes_to(f, "");
}

/* By its name, for the instance may leave and come again; and no longer than the pause. */
static void it_is_remembered_for_its_time(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a b", 1);
    assert_int_equal(round_goes_to(f, ""), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, ""), 'b');
    for (int64_t s = 1; s < LATE_PAUSE_NS / SECOND_NS; s++) {
        assert_int_equal(comes_again(f), 'b');
        drive_advance(&f->drive, 1000);
        play_heartbeat(f);
    }
    drive_advance(&f->drive, 999);
    assert_int_equal(comes_again(f), 'b');
    drive_advance(&f->drive, 1);
    assert_int_equal(comes_again(f), 'a');
}

/* Others go where they went before. */
static void it_says_nothing_of_other_jobs(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a b", 1);
    assert_int_equal(round_goes_to(f, ""), 'a');
    until_overdue(f);
    assert_int_equal(round_goes_to(f, ""), 'b');
    play_desired(f, PUT, "other", 1);
    play_actual(f, PUT, "other", 0);
    play_send(f);
    assert_int_equal(round_goes_to(f, ""), 'a');
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(another_cell_comes_first),
        TEST(so_it_is_with_a_task),
        TEST(the_only_cell_is_tried_again_at_once),
        TEST(so_it_is_where_no_other_has_room),
        TEST(they_take_turns),
        TEST(it_is_remembered_for_its_time),
        TEST(it_says_nothing_of_other_jobs),
    };
    return cmocka_run_group_tests_name("auction: late", tests, NULL, NULL);
}

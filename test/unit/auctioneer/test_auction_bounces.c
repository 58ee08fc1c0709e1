/* Work that a cell gives back is kept apart from that cell for a while, and costs no other its
 * place: not in the round, not in the next one. */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is remembered ---------------------------------------------------------------------- */

static int setup(void **state)
{
    struct bounces *b = calloc(1, sizeof(*b));
    bounces_init(b, BOUNCE_PAUSE_NS);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bounces_done(*state);
    free(*state);
    return 0;
}

static void a_pair_is_apart_until_its_time(void **state)
{
    struct bounces *b = *state;
    assert_true(bounces_due_ns(b) == NEVER_NS);
    assert_null(bounces_first(b, "task/t"));
    bounces_add(b, "task/t", "cell-1", 10);
    bounces_add(b, "task/t", "cell-2", 20);
    bounces_add(b, "task/t2", "cell-3", 30);
    assert_true(bounces_apart(b, "task/t", "cell-1"));
    assert_false(bounces_apart(b, "task/t", "cell-3"));
    assert_false(bounces_apart(b, "task/", "cell-1"));
    const struct bounce *e = bounces_first(b, "task/t");
    assert_string_equal(e->cell_id, "cell-1");
    e = bounces_next(b, e);
    assert_string_equal(e->cell_id, "cell-2");
    assert_null(bounces_next(b, e));
    bounces_add(b, "task/t", "cell-1", 40); /* again: from now on */
    assert_int_equal(b->by_name.count, 3);
    assert_true(bounces_due_ns(b) == 20 + BOUNCE_PAUSE_NS);
    assert_null(bounces_expire(b, 19 + BOUNCE_PAUSE_NS));
    struct bounce *over = bounces_expire(b, 20 + BOUNCE_PAUSE_NS);
    assert_string_equal(over->cell_id, "cell-2");
    free(over);
    assert_false(bounces_apart(b, "task/t", "cell-2"));
    bounces_forget_cell(b, "cell-1");
    assert_false(bounces_apart(b, "task/t", "cell-1"));
    assert_true(bounces_apart(b, "task/t2", "cell-3"));
}

/* One more than are remembered: the oldest is forgotten. Odd names are names. */
static void the_oldest_is_forgotten_at_the_bound(void **state)
{
    struct bounces *b = *state;
    char name[32];
    bounces_add(b, "", "", 0);
    bounces_add(b, "task/t", "a\nb", 0);
    assert_true(bounces_apart(b, "", "") && bounces_apart(b, "task/t", "a\nb"));
    for (int i = 2; i < BOUNCES_MAX; i++) {
        snprintf(name, sizeof(name), "task/%d", i);
        bounces_add(b, name, "cell-1", i);
    }
    assert_int_equal(b->by_name.count, BOUNCES_MAX);
    bounces_add(b, "task/t", "a\nb", BOUNCES_MAX); /* no new one */
    assert_true(bounces_apart(b, "", ""));
    bounces_add(b, "task/one more", "cell-1", BOUNCES_MAX);
    assert_int_equal(b->by_name.count, BOUNCES_MAX);
    assert_false(bounces_apart(b, "", ""));
    assert_true(bounces_apart(b, "task/t", "a\nb"));
    assert_true(bounces_apart(b, "task/one more", "cell-1"));
}

/* ---- What comes of it ------------------------------------------------------------------------ */

/* Of "web" two are unclaimed; a task is Pending, and a has room for two of the three. */
static uint64_t play_three(struct auction_rig *f)
{
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 0);
    play_actual(f, PUT, "web", 1);
    play_task(f, PUT, "t", 0);
    play_send(f);
    return play_state_call(f, "a");
}

static Cell__CellState *room_for_two(struct auction_rig *f)
{
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = 200;
    return s;
}

/* The order of a round is web/0, t, web/1: the last finds no room until the task has come back. */
static void what_was_refused_beside_it_takes_its_place(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_tell_state(f, play_three(f), room_for_two(f));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_int_equal(w->n_tasks, 1);
    play_take_tasks(f, w, call, 1);
    Cell__Work *again = play_work(f, "a", &call);
    assert_non_null(again);
    assert_int_equal(again->n_tasks, 0);
    assert_int_equal(again->n_lrps, 1);
    assert_int_equal(again->lrps[0]->index, 1);
    play_take_work(f, again, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 2);
    const char *told = play_failed(f, &call);
    assert_non_null(strstr(told, "t@"));
    assert_null(strstr(told, "web")); /* it was never without a place */
}

/* It goes and comes again under its name, and another round begins: the cell is not asked to take
 * it, nor charged with it. */
static void it_is_remembered_by_its_name(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = 100;
    play_tell_state(f, play_state_call(f, "a"), s);
    Cell__Work *w = play_work(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    play_task(f, DELETE, "t", 0);
    play_task(f, PUT, "t", 0);
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 1);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), s);
    w = play_work(f, "a", &call);
    assert_int_equal(w->n_tasks, 0);
    assert_int_equal(w->n_lrps, 1);
}

static bool offers_task(struct auction_rig *f, const Cell__CellState *s)
{
    uint64_t call;
    play_tell_state(f, play_state_call(f, "a"), s);
    Cell__Work *w = play_work(f, "a", &call);
    bool offers = w && w->n_tasks == 1;
    if (offers) {
        play_take_tasks(f, w, call, 1);
    }
    return offers;
}

/* Until then, or until the cell has more room: what was in the way may be gone. */
static void it_is_offered_again_after_its_time(void **state)
{
    struct auction_rig *f = *state;
    int offered = 0, asked = 0;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = 500;
    assert_true(offers_task(f, s));
    for (int ms = 0; ms < 4990; ms += 10) {
        drive_advance(&f->drive, 10);
        if (play_asked_state(f, "a")) {
            offered += offers_task(f, s);
            asked++;
        } else if (ms % 1000 == 0) {
            play_heartbeat(f);
        }
    }
    assert_int_equal(offered, 0);
    assert_in_range(asked, 1, 5);
    play_heartbeat(f);
    drive_advance(&f->drive, 10);
    assert_true(offers_task(f, s));
    s->availableresources->memorymb = 600;
    bool again = false;
    for (int ms = 0; ms < 2000 && !again; ms += 10) {
        drive_advance(&f->drive, 10);
        again = play_asked_state(f, "a") && offers_task(f, s);
    }
    assert_true(again);
}

/* A cell that gives back whatever it gets is left out of the round in the end. */
static void a_cell_that_takes_nothing_is_left_out(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    int tries = 0;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", CELL_RETURNS_MAX + 2);
    for (int i = 0; i < CELL_RETURNS_MAX + 2; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = 100; /* one at a time */
    play_tell_state(f, play_state_call(f, "a"), s);
    for (Cell__Work *w; (w = play_work(f, "a", &call)); tries++) {
        assert_true(tries < 100);
        assert_int_equal(w->n_lrps, 1);
        play_take_work(f, w, call, 1);
    }
    assert_int_equal(tries, CELL_RETURNS_MAX);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], CELL_RETURNS_MAX + 2);
    /* The next round follows soon, and offers the others. */
    drive_advance(&f->drive, 20);
    play_tell_state(f, play_state_call(f, "a"), s);
    assert_int_equal(play_work(f, "a", &call)->lrps[0]->index, CELL_RETURNS_MAX);
}

/* However long it goes on: rounds that end so follow each other ever later. */
static void rounds_that_place_nothing_become_rare(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    int rounds = 0;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 2000);
    for (int i = 0; i < 2000; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    Cell__CellState *s = play_row(f, "a");
    s->availableresources->memorymb = 100;
    for (int ms = 0; ms < 4000; ms += 10) {
        if (play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), s);
            rounds++;
        }
        for (Cell__Work *w; (w = play_work(f, "a", &call));) {
            play_take_work(f, w, call, w->n_lrps);
        }
        drive_advance(&f->drive, 10);
        if (ms % 1000 == 0) {
            play_heartbeat(f);
        }
    }
    assert_in_range(rounds, 3, 20);
}

static void why_says_that_it_came_back(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    const struct reply *r = play_ask(f, "somebody", "GET", "/why?task_guid=t", "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    assert_non_null(strstr(text, "\"filter\":\"unusable\",\"cells\":1"));
    assert_non_null(strstr(text, "\"why\":\"gave it back\""));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pair_is_apart_until_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(the_oldest_is_forgotten_at_the_bound, setup, teardown),
        TEST(what_was_refused_beside_it_takes_its_place),
        TEST(it_is_remembered_by_its_name),
        TEST(it_is_offered_again_after_its_time),
        TEST(a_cell_that_takes_nothing_is_left_out),
        TEST(rounds_that_place_nothing_become_rare),
        TEST(why_says_that_it_came_back),
    };
    return cmocka_run_group_tests_name("auction: bounces", tests, NULL, NULL);
}

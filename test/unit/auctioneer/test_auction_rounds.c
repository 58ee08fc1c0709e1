/* Rounds of the auctioneer: which cells it asks, what it hands to them and what becomes of work
 * that comes back. */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

static void places_what_the_feed_shows(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_null(play_asked_state(f, "a")); /* not desired yet */
    play_desired(f, PUT, "web", 1);
    play_send(f);
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_string_equal(w->lrps[0]->process_guid, "web");
    assert_int_equal(w->lrps[0]->index, 0);
    assert_string_equal(w->lrps[0]->domain, "some-domain");
    assert_string_equal(w->lrps[0]->rootfs, "preloaded:busybox");
    assert_string_equal(w->lrps[0]->definition_id, "definition-1");
    assert_string_equal(w->lrps[0]->volumedrivers[0], "nfs");
    assert_int_equal(w->lrps[0]->memorymb, 100);
    assert_int_equal(w->lrps[0]->diskmb, 50);
    assert_int_equal(w->lrps[0]->maxpids, 7);
    play_take_work(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    play_actual(f, DELETE, "web", 0); /* claimed */
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a"));
}

static void unchanged_cells_answer_their_tag(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_string_equal(play_asked_state(f, "a")->if_none_match, "");
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_work(f, w, call, 0);
    play_actual(f, PUT, "web", 1);
    play_send(f);
    assert_string_equal(play_asked_state(f, "a")->if_none_match, "\"tag\"");
    drive_response(&f->drive, play_state_call(f, "a"), 304, "\"tag\"", (struct bytes){0});
    w = play_work(f, "a", &call);
    assert_int_equal(w->lrps[0]->index, 1);
}

static void a_batch_is_what_came_during_the_last_round(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 4);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    uint64_t looked = play_state_call(f, "a");
    play_actual(f, PUT, "web", 1); /* before the cells have answered: the same batch */
    play_send(f);
    play_tell_state(f, looked, play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    play_actual(f, PUT, "web", 2); /* while work is on its way: the next batch, both together */
    play_actual(f, PUT, "web", 3);
    play_send(f);
    assert_null(play_asked_state(f, "a"));
    play_take_work(f, w, call, 0);
    play_go_on(f);
    w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
}

static void cells_that_cannot_be_relied_on_are_not_used(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a b c d e f");
    play_cell(f, PUT, "lost", BOARD__CELL_RECORD__STATE__LOST);
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_null(play_asked_state(f, "lost"));
    uint64_t calls[6];
    const char *ids[] = {"a", "b", "c", "d", "e", "f"};
    for (size_t i = 0; i < 6; i++) {
        calls[i] = play_state_call(f, ids[i]);
    }
    Cell__CellState *s = play_row(f, "a");
    s->evacuating = true;
    play_tell_state(f, calls[0], s);
    play_tell_state(f, calls[1], play_row(f, "somebody-else"));
    drive_response(&f->drive, calls[2], 503, "", (struct bytes){0});
    drive_response(&f->drive, calls[3], 200, "", bytes_of("\xff\xff"));
    drive_unanswered(&f->drive, calls[4], CALL_REFUSED);
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, calls[5], CALL_UNKNOWN);
    uint64_t call;
    assert_string_equal(play_failed(f, &call), "web/0=unable to communicate to compatible cells ");
    play_applied(f, call, 1);
    /* The one that did not answer in time is left alone for a while, the others are asked. */
    drive_advance(&f->drive, 1000);
    assert_non_null(play_asked_state(f, "a"));
    assert_null(play_asked_state(f, "f"));
}

static void what_is_not_desired_is_not_placed(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 1); /* beyond the instances */
    play_send(f);
    assert_null(play_asked_state(f, "a"));
    play_actual(f, PUT, "web", 0);
    play_send(f);
    uint64_t looked = play_state_call(f, "a");
    play_desired(f, DELETE, "web", 1);
    play_send(f);
    play_tell_state(f, looked, play_row(f, "a"));
    uint64_t call;
    assert_null(play_work(f, "a", &call));
    drive_advance(&f->drive, 100);
    assert_true(f->x->auction.phase == ROUND_IDLE);
}

static void placed_but_unchanged_is_auctioned_again(void **state)
{
    struct auction_rig *f = *state;
    play_unclaimed(f, "a", 1);
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_work(f, w, call, 0);
    for (int i = 0; i < 4; i++) {
        drive_advance(&f->drive, 1000);
        assert_null(play_asked_state(f, "a"));
        play_heartbeat(f);
    }
    drive_advance(&f->drive, 1000);
    assert_non_null(play_asked_state(f, "a"));
}

/* ---- Work that comes back -------------------------------------------------------------------- */

static void returned_work_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b;
    Cell__Work *w = play_hand_out_three(f, &call_a, &call_b);
    play_take_work(f, w, call_a, 1);
    assert_null(play_asked_state(f, "b"));
    play_take_work(f, w, call_b, 0);
    uint64_t call;
    Cell__Work *again =
        play_work(f, "b", &call); /* a is left out this round, and not asked again */
    assert_int_equal(again->n_lrps, 1);
    assert_int_equal(again->lrps[0]->index, w->lrps[0]->index);
    assert_null(play_asked_state(f, "a"));
    assert_false(map_get(&f->x->cells.by_id, "a") == NULL);
    play_take_work(f, again, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 3);
    assert_int_equal(f->x->auction.last.returned, 1);
    assert_int_equal(f->x->auction.last.placed, 3);
}

static void work_without_answer_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w = play_hand_out_three(f, &call_a, &call_b);
    play_take_work(f, w, call_b, 0);
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, call_a, CALL_UNKNOWN);
    Cell__Work *again = play_work(f, "b", &call);
    assert_int_equal(again->n_lrps, 2);
    /* b gives one back as well: nobody is left, so it waits. */
    play_take_work(f, again, call, 1);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 2);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    assert_string_equal(play_failed(f, &call),
                        arena_printf(&f->arena, "web/%d=unable to communicate to compatible cells ",
                                     again->lrps[0]->index));
}

static void what_was_placed_before_is_reckoned_with(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    play_unclaimed(f, "a b", 3);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b");
    Cell__CellState *full = play_row(f, "b");
    full->availableresources->memorymb = 150; /* room for one */
    play_tell_state(f, a, play_row(f, "a"));
    play_tell_state(f, b, full);
    Cell__Work *w = play_work(f, "a", &call_a);
    Cell__Work *one = play_work(f, "b", &call_b);
    assert_int_equal(one->n_lrps, 1);
    play_take_work(f, one, call_b, 0);
    play_take_work(f, w, call_a, w->n_lrps);
    assert_null(play_work(f, "b", &call));
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], w->n_lrps);
    assert_non_null(strstr(play_failed(f, &call), "insufficient resources: memory"));
}

static void what_leaves_during_a_round_is_forgotten(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w = play_hand_out_three(f, &call_a, &call_b);
    for (int i = 0; i < 3; i++) {
        play_actual(f, DELETE, "web", i);
    }
    play_desired(f, DELETE, "web", 3);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
    play_take_work(f, w, call_b, 0);
    play_take_work(f, w, call_a, 2);
    Cell__Work *again = play_work(f, "b", &call);
    play_take_work(f, again, call, again->n_lrps);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_true(f->x->auction.phase == ROUND_IDLE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(places_what_the_feed_shows),
        TEST(unchanged_cells_answer_their_tag),
        TEST(a_batch_is_what_came_during_the_last_round),
        TEST(cells_that_cannot_be_relied_on_are_not_used),
        TEST(what_is_not_desired_is_not_placed),
        TEST(placed_but_unchanged_is_auctioned_again),
        TEST(returned_work_goes_elsewhere_at_once),
        TEST(work_without_answer_goes_elsewhere_at_once),
        TEST(what_was_placed_before_is_reckoned_with),
        TEST(what_leaves_during_a_round_is_forgotten),
    };
    return cmocka_run_group_tests_name("auction rounds", tests, NULL, NULL);
}

/* The auctioneer, driven by hand-made events: what it asks of the board and of cells, and when. */
#include "test/unit/auction_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Leading --------------------------------------------------------------------------------- */

static void a_standby_follows_but_asks_no_cell(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_actual(f, RECORD, "web", 0);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_desired(f, RECORD, "web", 1);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &other.base, 5);
    play_current(f);
    assert_null(drive_call(&f->drive, "/v1/board/lead", 0));
    assert_null(play_asked_state(f, "a"));
    drive_advance(&f->drive, 2000);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->pool.entries.count, 1);
    /* The other one gives it back: asked for, and what waits is auctioned at once. */
    frame_change(&f->sent, DELETE, "lead/auctioneer", &other.base, ++f->revision);
    play_send(f);
    play_elect(f);
    assert_non_null(play_asked_state(f, "a"));
}

static void places_what_the_feed_shows(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_null(play_asked_state(f, "a")); /* not desired yet */
    play_desired(f, PUT, "web", 1);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_string_equal(w->lrps[0]->process_guid, "web");
    assert_int_equal(w->lrps[0]->index, 0);
    assert_string_equal(w->lrps[0]->domain, "some-domain");
    assert_string_equal(w->lrps[0]->rootfs, "preloaded:busybox");
    assert_string_equal(w->lrps[0]->definition, "definition-1");
    assert_string_equal(w->lrps[0]->volumedrivers[0], "nfs");
    assert_int_equal(w->lrps[0]->memorymb, 100);
    assert_int_equal(w->lrps[0]->diskmb, 50);
    assert_int_equal(w->lrps[0]->maxpids, 7);
    play_take_work(f, w, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    play_actual(f, DELETE, "web", 0); /* claimed */
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a"));
}

static void unchanged_cells_answer_their_tag(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_string_equal(play_asked_state(f, "a")->if_none_match, "");
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
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
    play_lead(f, "a");
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
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
}

static void cells_that_cannot_be_relied_on_are_not_used(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a b c d e f");
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

/* ---- Work that comes back -------------------------------------------------------------------- */

/* Two cells, three instances: two go to a, one to b. Gives the calls. */
static void hand_out_three(struct auction_rig *f, Cell__Work **ret_a, uint64_t *ret_call_a,
                           uint64_t *ret_call_b)
{
    play_lead(f, "a b");
    play_desired(f, PUT, "web", 3);
    for (int i = 0; i < 3; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b");
    play_tell_state(f, a, play_row(f, "a"));
    play_tell_state(f, b, play_row(f, "b"));
    *ret_a = play_work(f, "a", ret_call_a);
    assert_int_equal((*ret_a)->n_lrps, 2);
    assert_int_equal(play_work(f, "b", ret_call_b)->n_lrps, 1);
}

static void returned_work_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
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
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 3);
    assert_int_equal(f->x->auction.last.returned, 1);
    assert_int_equal(f->x->auction.last.placed, 3);
}

static void work_without_answer_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    play_take_work(f, w, call_b, 0);
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, call_a, CALL_UNKNOWN);
    Cell__Work *again = play_work(f, "b", &call);
    assert_int_equal(again->n_lrps, 2);
    /* b gives one back as well: nobody is left, so it waits. */
    play_take_work(f, again, call, 1);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 2);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_string_equal(play_failed(f, &call),
                        arena_printf(&f->arena, "web/%d=unable to communicate to compatible cells ",
                                     again->lrps[0]->index));
}

static void what_was_placed_before_is_reckoned_with(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    play_lead(f, "a b");
    play_desired(f, PUT, "web", 3);
    for (int i = 0; i < 3; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b");
    Cell__CellState *full = play_row(f, "b");
    full->availableresources->memorymb = 150; /* room for one */
    play_tell_state(f, a, play_row(f, "a"));
    play_tell_state(f, b, full);
    w = play_work(f, "a", &call_a);
    Cell__Work *one = play_work(f, "b", &call_b);
    assert_int_equal(one->n_lrps, 1);
    play_take_work(f, one, call_b, 0);
    play_take_work(f, w, call_a, w->n_lrps);
    assert_null(play_work(f, "b", &call));
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], w->n_lrps);
    assert_non_null(strstr(play_failed(f, &call), "insufficient resources: memory"));
}

/* ---- What stays unplaced
 * ------------------------------------------------------------------------- */

/* One instance that no cell takes: a is full. */
static void refuse_one(struct auction_rig *f, Cell__CellState **ret_full)
{
    play_lead(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    *ret_full = play_row(f, "a");
    (*ret_full)->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), *ret_full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
}

static void a_refusal_is_told_once(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    play_applied(f, call, 1);
    play_actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
    for (int i = 0; i < 14; i++) { /* the sweep after 10 s tries again, and says nothing new */
        drive_advance(&f->drive, 1000);
        if (play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), full);
        }
        assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
        frame_heartbeat(&f->sent, "e1", f->revision);
        play_send(f);
    }
    assert_true(f->x->auction.last.number >= 2);
    /* Another reason is told. */
    full->availableresources->diskmb = 0;
    for (int i = 0; i < 14 && !drive_call(&f->drive, "/v1/board/apply", 0); i++) {
        drive_advance(&f->drive, 1000);
        if (play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), full);
        } else {
            frame_heartbeat(&f->sent, "e1", f->revision);
            play_send(f);
        }
    }
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: disk, memory ");
}

static void a_new_leader_does_not_repeat_what_the_record_says(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    play_send(f);
    Cell__CellState *full = play_row(f, "a");
    full->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

static void a_report_without_answer_is_repeated(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    assert_string_equal(play_failed(f, &call), "web/0=insufficient resources: memory ");
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    bool told = false;
    for (int i = 0; i < 14 && !told; i++) {
        drive_advance(&f->drive, 1000);
        if (play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), full);
        } else {
            frame_heartbeat(&f->sent, "e1", f->revision);
            play_send(f);
        }
        told = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
    }
    assert_true(told);
}

static void more_room_is_found_within_two_seconds(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    drive_advance(&f->drive, 1999);
    assert_null(play_asked_state(f, "a"));
    drive_advance(&f->drive, 1);
    uint64_t rounds = f->x->auction.last.number;
    drive_response(&f->drive, play_state_call(f, "a"), 304, "\"tag\"", (struct bytes){0});
    assert_int_equal(f->x->auction.last.number, rounds); /* nothing has changed: no auction */
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
    drive_advance(&f->drive, 2000);
    full->availableresources->memorymb = 100;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_non_null(play_work(f, "a", &call));
}

static void a_new_cell_is_tried_at_once(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
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
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    play_desired(f, PUT, "db", 1);
    play_actual(f, PUT, "db", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    assert_int_equal(play_work(f, "a", &call)->n_lrps, 2);
}

static void placed_but_unchanged_is_auctioned_again(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
    play_take_work(f, w, call, 0);
    for (int i = 0; i < 4; i++) {
        drive_advance(&f->drive, 1000);
        assert_null(play_asked_state(f, "a"));
        frame_heartbeat(&f->sent, "e1", f->revision);
        play_send(f);
    }
    drive_advance(&f->drive, 1000);
    assert_non_null(play_asked_state(f, "a"));
}

static void what_is_not_desired_is_not_placed(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
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

static void what_leaves_during_a_round_is_forgotten(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    for (int i = 0; i < 3; i++) {
        play_actual(f, DELETE, "web", i);
    }
    play_desired(f, DELETE, "web", 3);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    play_take_work(f, w, call_b, 0);
    play_take_work(f, w, call_a, 2);
    Cell__Work *again = play_work(f, "b", &call);
    play_take_work(f, again, call, again->n_lrps);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_true(f->x->auction.phase == ROUND_IDLE);
}

static void the_pool_is_bounded_and_refilled(void **state)
{
    struct auction_rig *f = *state;
    play_end(f);
    f->config.pool_max = 2;
    play_begin(f);
    play_lead(f, "a");
    play_desired(f, PUT, "web", 4);
    for (int i = 0; i < 4; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    assert_true(f->x->pool.overflowed);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    play_take_work(f, w, call, 0);
    play_actual(f, DELETE, "web", 0);
    play_actual(f, DELETE, "web", 1);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    assert_false(f->x->pool.overflowed);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    assert_int_equal(w->lrps[0]->index + w->lrps[1]->index, 5);
}

static size_t calls_of(struct auction_rig *f, const char *part)
{
    size_t count = 0;
    while (drive_call(&f->drive, part, count)) {
        count++;
    }
    return count;
}

static void questions_to_cells_are_bounded(void **state)
{
    struct auction_rig *f = *state;
    enum { CELLS = CELL_CALLS_MAX + 3 };
    struct buf ids;
    buf_init(&ids);
    for (int i = 0; i < CELLS; i++) {
        buf_printf(&ids, "%scell-%03d", i ? " " : "", i);
    }
    play_lead(f, buf_string(&ids));
    buf_done(&ids);
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
    assert_int_equal(calls_of(f, "/state"), CELL_CALLS_MAX);
    uint64_t first = f->x->cells.open[0].id;
    drive_unanswered(&f->drive, first, CALL_REFUSED);
    assert_int_equal(calls_of(f, "/state"), 1);
    for (int i = 1; i < CELLS; i++) {
        assert_true(f->x->cells.looking);
        drive_unanswered(&f->drive, f->x->cells.open[0].id, CALL_REFUSED);
    }
    assert_false(f->x->cells.looking);
    assert_int_equal(f->x->auction.last.refused, 1);
}

static void reports_are_bounded(void **state)
{
    struct auction_rig *f = *state;
    enum { INSTANCES = REPORT_MOVES_MAX * REPORT_CALLS_MAX + 5 };
    play_lead(f, "");
    play_desired(f, PUT, "web", INSTANCES);
    for (int i = 0; i < INSTANCES; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f); /* no cell: refused at once */
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], INSTANCES);
    assert_int_equal(calls_of(f, "/v1/board/apply"), REPORT_CALLS_MAX);
    play_applied(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, REPORT_MOVES_MAX);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 1);
    uint64_t call;
    const char *text = play_failed(f, &call);
    for (int i = INSTANCES - 5; i < INSTANCES; i++) {
        assert_non_null(strstr(text, arena_printf(&f->arena, "web/%d=", i)));
    }
    play_applied(f, call, 5);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 0);
}

static void a_round_takes_a_bounded_number_the_fresh_first(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "");
    play_desired(f, PUT, "web", 9);
    for (int i = 0; i < 6; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 6);
    struct entry **list;
    size_t refused;
    play_actual(f, PUT, "web", 6);
    f->x->auction.phase = ROUND_COMMITTING; /* not now */
    f->x->auction.open_count = 1;
    play_send(f);
    assert_int_equal(pool_take(&f->x->pool, &f->arena, 3, &list, &refused), 3);
    assert_int_equal(refused, 2);
    assert_int_equal(list[0]->index, 6);
    assert_int_equal(list[1]->index, 0); /* has waited longest */
    assert_int_equal(list[2]->index, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(pool_refused(&f->x->pool, list[i], NULL, 0));
    }
    assert_int_equal(pool_take(&f->x->pool, &f->arena, 2, &list, &refused), 2);
    assert_int_equal(list[0]->index, 2);
    pool_put_back(&f->x->pool, list[0], 0);
    pool_put_back(&f->x->pool, list[1], 0);
    f->x->auction.phase = ROUND_IDLE;
    f->x->auction.open_count = 0;
}

static void a_reset_keeps_what_is_seen_again(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    frame_reset(&f->sent, "e1");
    play_send(f);
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a")); /* half a copy decides nothing */
    play_actual(f, RECORD, "web", 0);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_desired(f, RECORD, "web", 1);
    Board__LeadRecord lead_record = BOARD__LEAD_RECORD__INIT;
    lead_record.holder = f->x->life.leader.id;
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead_record.base, f->x->life.leader.term);
    play_current(f);
    assert_true(f->x->life.leader.leads);
    assert_int_equal(f->x->pool.entries.count, 1);
    frame_reset(&f->sent, "e1");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead_record.base, f->x->life.leader.term);
    play_current(f);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void a_deposed_leader_stops_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, PUT, "lead/auctioneer", &other.base, ++f->revision);
    play_send(f);
    assert_false(f->x->life.leader.leads);
    play_take_work(f, w, call_a, 2);
    play_take_work(f, w, call_b, 0);
    assert_null(play_work(f, "b", &call));
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->pool.entries.count, 3);
    assert_int_equal(f->x->pool.counts[ENTRY_FRESH], 3);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const char hint[] =
    "[{\"process_guid\":\"web\",\"domain\":\"d\",\"indices\":[0,1],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\","
    "\"MemoryMB\":-1}]";

static void hints_come_sooner_than_the_feed(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 2);
    play_send(f);
    const struct reply *r =
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_int_equal(r->status, 202);
    assert_true(play_body_is(r, "{}"));
    assert_int_equal(f->x->pool.entries.count, 2); /* invalid elements are dropped */
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    uint64_t call;
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    play_take_work(f, w, call, 0);
    play_actual(f, PUT, "web", 0); /* the feed follows: placed already */
    play_send(f);
    play_go_on(f);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 2);
    /* The other one never comes: dropped after a while. */
    play_actual(f, DELETE, "web", 0);
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
    drive_advance(&f->drive, 3000);
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void hints_in_protobuf_and_of_what_is_unknown(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    Cell__LRPStarts starts = CELL__LRPSTARTS__INIT;
    Cell__LRPStart start = CELL__LRPSTART__INIT, *list[] = {&start};
    int32_t indices[] = {0, -1};
    start.process_guid = arena_strdup(&f->arena, "web");
    start.domain = arena_strdup(&f->arena, "d");
    start.rootfs = arena_strdup(&f->arena, "preloaded:x");
    start.indices = indices;
    start.n_indices = 2;
    starts.starts = list;
    starts.n_starts = 1;
    struct buf body;
    buf_init(&body);
    buf_message(&body, &starts.base);
    assert_int_equal(
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", buf_bytes(&body))->status,
        202);
    buf_done(&body);
    assert_int_equal(f->x->pool.entries.count, 1);
    assert_null(play_asked_state(f, "a")); /* no DesiredLRP yet */
    drive_advance(&f->drive, 3000);
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void a_hint_retries_what_was_refused(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    play_ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_non_null(play_asked_state(f, "a"));
}

static void bad_requests(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    static const char *const bad[] = {"", "{}", "[", "[1]", "[{\"indices\":\"x\"}]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct reply *r =
            play_ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(bad[i]));
        assert_int_equal(r->status, 400);
        assert_string_equal(r->content_type, "application/json");
        assert_memory_equal(r->body.data, "{\"error\":\"", 10);
    }
    assert_int_equal(
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", bytes_of("\xff"))->status,
        400);
    static const char *const units[] = {"rep", "auctioneer", "converger"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        assert_int_equal(play_ask(f, units[i], "POST", "/v1/lrps", "", bytes_of("[]"))->status,
                         403);
        assert_int_equal(play_ask(f, units[i], "GET", "/state", "", bytes_of(""))->status, 200);
    }
    const struct reply *r = play_ask(f, "bbs", "GET", "/v1/lrps", "", bytes_of(""));
    assert_int_equal(r->status, 405);
    assert_string_equal(r->allow, "POST");
    assert_true(play_body_is(r, "Method Not Allowed\n"));
    r = play_ask(f, "bbs", "POST", "/v1/lrps/", "", bytes_of(""));
    assert_int_equal(r->status, 404);
    assert_true(play_body_is(r, "404 page not found\n"));
    assert_int_equal(f->x->pool.entries.count, 0);
    assert_true(f->role->ops->body_limit(f->role, "/v1/lrps") > 1024 * 1024);
    assert_int_equal(f->role->ops->body_limit(f->role, "/state"), 0);
}

static void a_standby_takes_no_hints(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    const struct reply *r =
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_int_equal(r->status, 503);
    assert_int_equal(r->retry_after_s, 1);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void state_says_who_leads_and_what_is_unplaced(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    const struct reply *r = play_ask(f, "somebody", "GET", "/state", "", bytes_of(""));
    assert_string_equal(r->content_type, "application/json");
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    static const char *const parts[] = {"\"name\":\"auctioneer-1\"",
                                        "\"leads\":true",
                                        "\"term\":11",
                                        "\"epoch\":\"e1\"",
                                        "\"process_guid\":\"web\"",
                                        "\"reason\":\"insufficient resources: memory\"",
                                        "\"cell_id\":\"a\"",
                                        "\"memory_mb\":99",
                                        "\"refused\":1"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("%s is not in %s", parts[i], text);
        }
    }
}

/* ---- Stopping and starting
 * ----------------------------------------------------------------------- */

static void stopping_gives_the_lock_back(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    const struct call *c = drive_call(&f->drive, "/v1/board/lead", 0);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__LeadRequest *r = board__lead_request__unpack(&allocator, c->body.size, c->body.data);
    assert_int_equal(r->release, 11);
    Board__LeadResponse answer = BOARD__LEAD_RESPONSE__INIT;
    drive_answer(&f->drive, c->id, &answer.base);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
    drive_timer(&f->drive);
    assert_int_equal(f->drive.out.count, 0);
}

static void stopping_waits_a_second_at_most(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    drive_advance(&f->drive, 999);
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    drive_advance(&f->drive, 1);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_standby_stops_at_once(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_wrong_configuration_ends_it(void **state)
{
    struct auction_rig *f = *state;
    static const struct {
        const char *boards, *zones, *scoring, *text;
    } rows[] = {
        {"", "", "default", "no bbs address"},
        {"http://a:1", "", "default", "not https"},
        {"https://a:1", "a,b,a", "default", "zone a is named twice"},
        {"https://a:1", "a,,b", "default", "zones must be"},
        {"https://a:1", "a,", "default", "end in a comma"},
        {"https://a:1", "", "best", "neither default nor diego"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        play_end(f);
        f->config.boards = rows[i].boards;
        f->config.zones = rows[i].zones;
        f->config.scoring = rows[i].scoring;
        play_begin(f);
        drive_start(&f->drive);
        const struct effect *e = drive_effect(&f->drive, EFFECT_EXIT, 0);
        assert_int_equal(e->exit.code, 2);
        assert_non_null(strstr(e->exit.text, rows[i].text));
    }
    play_end(f);
    f->config = (struct auctioneer_config){.name = "x",
                                           .boards = "https://a:1",
                                           .url = "",
                                           .zones = "z1,z2",
                                           .scoring = "diego",
                                           .starting_container_weight = -1};
    play_begin(f);
    assert_int_equal(f->x->rules.zone_count, 2);
    assert_true(f->x->rules.score.starting_container_weight == 0.25);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_standby_follows_but_asks_no_cell),
        TEST(places_what_the_feed_shows),
        TEST(unchanged_cells_answer_their_tag),
        TEST(a_batch_is_what_came_during_the_last_round),
        TEST(cells_that_cannot_be_relied_on_are_not_used),
        TEST(returned_work_goes_elsewhere_at_once),
        TEST(work_without_answer_goes_elsewhere_at_once),
        TEST(what_was_placed_before_is_reckoned_with),
        TEST(a_refusal_is_told_once),
        TEST(a_new_leader_does_not_repeat_what_the_record_says),
        TEST(a_report_without_answer_is_repeated),
        TEST(more_room_is_found_within_two_seconds),
        TEST(a_new_cell_is_tried_at_once),
        TEST(the_unplaced_are_tried_with_each_batch),
        TEST(placed_but_unchanged_is_auctioned_again),
        TEST(what_is_not_desired_is_not_placed),
        TEST(what_leaves_during_a_round_is_forgotten),
        TEST(the_pool_is_bounded_and_refilled),
        TEST(questions_to_cells_are_bounded),
        TEST(reports_are_bounded),
        TEST(a_round_takes_a_bounded_number_the_fresh_first),
        TEST(a_reset_keeps_what_is_seen_again),
        TEST(a_deposed_leader_stops_at_once),
        TEST(hints_come_sooner_than_the_feed),
        TEST(hints_in_protobuf_and_of_what_is_unknown),
        TEST(a_hint_retries_what_was_refused),
        TEST(bad_requests),
        TEST(a_standby_takes_no_hints),
        TEST(state_says_who_leads_and_what_is_unplaced),
        TEST(stopping_gives_the_lock_back),
        TEST(stopping_waits_a_second_at_most),
        TEST(a_standby_stops_at_once),
        TEST(a_wrong_configuration_ends_it),
    };
    return cmocka_run_group_tests_name("auction role", tests, NULL, NULL);
}

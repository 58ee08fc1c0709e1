/* Tasks in the auctioneer: which it hands to cells, what becomes of those that come back, and what
 * it says of a task that was rejected meanwhile (docs/tasks.md, Distributing tasks). */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

static void places_what_the_feed_shows(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 2);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 0);
    assert_int_equal(w->n_tasks, 1);
    const Cell__Task *t = w->tasks[0];
    assert_string_equal(t->taskguid, "t");
    assert_string_equal(t->domain, "some-domain");
    assert_string_equal(t->rootfs, "preloaded:busybox");
    assert_string_equal(t->volumedrivers[0], "nfs");
    assert_int_equal(t->memorymb, 100);
    assert_int_equal(t->diskmb, 50);
    assert_int_equal(t->maxpids, 7);
    assert_string_equal(t->attempt, ""); /* the rep draws it */
    assert_int_equal(t->created_at, PLAY_CREATED_AT);
    assert_int_equal(t->rejections, 2);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    play_task(f, DELETE, "t", 0); /* started: it has left the selection */
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
    assert_int_equal(f->x->backlog.of_kind[JOB_TASK], 0);
    assert_false(play_asked_within(f, 8));
}

/* Together with instances, in one message a cell; the order is test_schedule_order's. */
static void instances_and_tasks_travel_together(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_int_equal(w->n_tasks, 1);
}

/* A process and a task may bear the same name. */
static void a_task_is_no_instance_of_its_name(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "web", 0);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 2);
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    assert_non_null(map_get(&f->x->backlog.entries, "task/web"));
    play_task(f, DELETE, "web", 0);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 1);
}

static void placed_but_pending_is_auctioned_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_tasks(f, w, call, 0);
    assert_false(play_asked_within(f, 4));
    drive_advance(&f->drive, 1000);
    /* Nobody has asked since it was placed: that it finds no cell now is no rejection. */
    Cell__CellState *full = play_row(f, "a");
    full->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

/* What the old leader had in hand, the new one takes from the feed. */
static void a_change_of_leader_loses_no_task(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_task(f, PUT, "u", 1);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_tasks, 2);
    play_depose(f);
    play_take_tasks(f, w, call, 2);
    assert_int_equal(f->x->backlog.counts[ENTRY_FRESH], 2);
    play_end(f);
    play_begin(f); /* the other process */
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_task(f, RECORD, "t", 0);
    play_task(f, RECORD, "u", 1);
    play_current(f);
    play_elect(f);
    assert_int_equal(play_hand_out(f, "a", &call)->n_tasks, 2);
}

/* ---- Work that comes back -------------------------------------------------------------------- */

static void returned_or_lost_work_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a b c");
    play_task(f, PUT, "t", 0);
    play_send(f);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b"), c = play_state_call(f, "c");
    play_tell_state(f, a, play_row(f, "a"));
    play_tell_state(f, b, play_row(f, "b"));
    play_tell_state(f, c, play_row(f, "c"));
    Cell__Work *w = play_work(f, "a", &call);
    play_take_tasks(f, w, call, 1); /* full: no rejection by itself */
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_non_null(play_work(f, "b", &call));
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    w = play_work(f, "c", &call);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->auction.last.returned, 2);
}

static void what_all_cells_return_is_rejected(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    int64_t revision = play_task(f, PUT, "t", 0);
    play_send(f);
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    assert_string_equal(play_failed(f, &call),
                        arena_printf(&f->arena, "t@%lld=unable to communicate to compatible cells ",
                                     (long long)revision));
}

/* ---- Offers ---------------------------------------------------------------------------------- */

static int32_t offered(struct auction_rig *f, uint64_t state_call, Cell__Work **ret_work,
                       uint64_t *ret_call)
{
    play_tell_state(f, state_call, play_row(f, "a"));
    *ret_work = play_work(f, "a", ret_call);
    assert_int_equal((*ret_work)->n_tasks, 1);
    assert_int_equal((*ret_work)->tasks[0]->created_at, PLAY_CREATED_AT);
    return (*ret_work)->tasks[0]->rejections;
}

/* Somebody rejected it meanwhile: the start of what the cell was offered will be refused, so that
 * nobody waits for it. */
static void offered_again_when_it_was_rejected_meanwhile(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 0);
    play_task(f, PUT, "t", 1); /* while the cell is asked */
    play_send(f);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 0);
    play_go_on(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 1);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    play_task(f, PUT, "t", 2); /* once it is placed */
    play_send(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 2);
    play_take_tasks(f, w, call, 0);
    play_task(f, PUT, "t", 2); /* told again, it is the same offer */
    play_send(f);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_false(play_asked_within(f, 4));
}

/* A hint as a bbs gives it. */
static void hint_offer(struct auction_rig *f, int rejections)
{
    char *json = arena_printf(&f->arena,
                              "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":"
                              "\"preloaded:busybox\",\"created_at\":%d,\"rejections\":%d}]",
                              PLAY_CREATED_AT, rejections);
    assert_int_equal(play_post(f, "bbs", "/v1/tasks", json)->status, 202);
}

/* Until the feed shows it, the last hint says what is offered. */
static void a_later_hint_offers_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_leader_lock(f, "a");
    hint_offer(f, 0);
    uint64_t state_call = play_state_call(f, "a");
    hint_offer(f, 1);
    assert_int_equal(offered(f, state_call, &w, &call), 1);
}

/* Also once a cell took the offer before: its start will be refused. That the feed then shows what
 * the hint said must not make it look placed. */
static void a_hint_after_it_was_placed_offers_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_leader_lock(f, "a");
    hint_offer(f, 0);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 0);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    hint_offer(f, 0); /* told again, it is the same offer */
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    hint_offer(f, 1);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 0);
    uint64_t state_call = play_state_call(f, "a");
    play_task(f, PUT, "t", 1);
    play_send(f);
    assert_int_equal(offered(f, state_call, &w, &call), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(places_what_the_feed_shows),        TEST(instances_and_tasks_travel_together),
        TEST(a_task_is_no_instance_of_its_name), TEST(placed_but_pending_is_auctioned_again),
        TEST(a_change_of_leader_loses_no_task),  TEST(returned_or_lost_work_goes_elsewhere_at_once),
        TEST(what_all_cells_return_is_rejected), TEST(offered_again_when_it_was_rejected_meanwhile),
        TEST(a_later_hint_offers_again),          TEST(a_hint_after_it_was_placed_offers_again),
    };
    return cmocka_run_group_tests_name("auction of tasks", tests, NULL, NULL);
}

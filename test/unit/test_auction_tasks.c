/* The auctioneer and tasks: what it places, what it rejects and when, which hints it takes
 * (docs/tasks.md, Distributing tasks). */
#include "test/unit/auction_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void places_what_the_feed_shows(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    play_task(f, PUT, "t", 2);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
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
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    play_task(f, DELETE, "t", 0); /* started: it has left the selection */
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    assert_int_equal(f->x->pool.tasks, 0);
    assert_false(play_asked_within(f, 8));
}

/* Together with instances, in one message a cell; the order is test_schedule_order's. */
static void instances_and_tasks_travel_together(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "t", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_int_equal(w->n_tasks, 1);
}

/* A process and a task may bear the same name. */
static void a_task_is_no_instance_of_its_name(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "web", 0);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_non_null(map_get(&f->x->pool.entries, "task/web"));
    play_task(f, DELETE, "web", 0);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 1);
}

static void placed_but_pending_is_auctioned_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    play_take_tasks(f, w, call, 0);
    assert_false(play_asked_within(f, 4));
    drive_advance(&f->drive, 1000);
    /* Nobody has asked since it was placed: that it finds no cell now is no rejection. */
    Cell__CellState *full = play_row(f, "a");
    full->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

/* ---- Work that comes back -------------------------------------------------------------------- */

static void returned_or_lost_work_goes_elsewhere_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a b c");
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
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->auction.last.returned, 2);
}

static void what_all_cells_return_is_rejected(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    int64_t revision = play_task(f, PUT, "t", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    play_take_tasks(f, w, call, 1);
    assert_string_equal(play_failed(f, &call),
                        arena_printf(&f->arena, "t@%lld=unable to communicate to compatible cells ",
                                     (long long)revision));
}

/* ---- Offers ---------------------------------------------------------------------------------- */

static const struct reply *post(struct auction_rig *f, const char *unit, const char *json)
{
    return play_ask(f, unit, "POST", "/v1/tasks", "application/json", bytes_of(json));
}

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
static void offered_anew_when_it_was_rejected_meanwhile(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_lead(f, "a");
    play_task(f, PUT, "t", 0);
    play_send(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 0);
    play_task(f, PUT, "t", 1); /* while the cell is asked */
    play_send(f);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 0);
    play_go_on(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 1);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    play_task(f, PUT, "t", 2); /* once it is placed */
    play_send(f);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 2);
    play_take_tasks(f, w, call, 0);
    play_task(f, PUT, "t", 2); /* told again, it is the same offer */
    play_send(f);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    assert_false(play_asked_within(f, 4));
}

/* A hint as a bbs gives it. */
static void hint_offer(struct auction_rig *f, int rejections)
{
    char *json = arena_printf(&f->arena,
                              "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":"
                              "\"preloaded:busybox\",\"created_at\":%d,\"rejections\":%d}]",
                              PLAY_CREATED_AT, rejections);
    assert_int_equal(post(f, "bbs", json)->status, 202);
}

/* Until the feed shows it, the last hint says what is offered. */
static void a_later_hint_offers_anew(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_lead(f, "a");
    hint_offer(f, 0);
    uint64_t state_call = play_state_call(f, "a");
    hint_offer(f, 1);
    assert_int_equal(offered(f, state_call, &w, &call), 1);
}

/* Also once a cell took the offer before: its start will be refused. That the feed then shows what
 * the hint said must not make it look placed. */
static void a_hint_after_it_was_placed_offers_anew(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    Cell__Work *w;
    play_lead(f, "a");
    hint_offer(f, 0);
    assert_int_equal(offered(f, play_state_call(f, "a"), &w, &call), 0);
    play_take_tasks(f, w, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    hint_offer(f, 0); /* told again, it is the same offer */
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    hint_offer(f, 1);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 0);
    uint64_t state_call = play_state_call(f, "a");
    play_task(f, PUT, "t", 1);
    play_send(f);
    assert_int_equal(offered(f, state_call, &w, &call), 1);
}

/* ---- Rejected once a request ----------------------------------------------------------------- */

/* A task that no cell takes, with so many rejections: a is full. Gives its revision. */
static int64_t refuse_one(struct auction_rig *f, int32_t rejections, Cell__CellState **ret_full)
{
    play_lead(f, "a");
    int64_t revision = play_task(f, PUT, "t", rejections);
    play_send(f);
    *ret_full = play_row(f, "a");
    (*ret_full)->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), *ret_full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    return revision;
}

#define assert_rejected(f, revision, ret_call)                                                     \
    assert_string_equal(play_failed(f, ret_call),                                                  \
                        arena_printf(&(f)->arena, "t@%lld=insufficient resources: memory ",        \
                                     (long long)(revision)))

/* Time passes, and whenever the cell is asked it is as full as before. True if something was
 * rejected on the way. */
static bool rejected_within(struct auction_rig *f, int seconds, const Cell__CellState *full)
{
    for (int i = 0; i < seconds; i++) {
        if (play_asked_within(f, 1) && play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), full);
        }
        if (drive_call(&f->drive, "/v1/board/apply", 0)) {
            return true;
        }
    }
    return false;
}

static const char ask_for_t[] =
    "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":\"preloaded:x\"}]";

/* The creation is a request, its rejection is none; neither are the batches, the sweeps and the
 * looks for more room that try it again. */
static void rejected_once_until_somebody_asks(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    revision = play_task(f, PUT, "t", 1);
    play_send(f);
    play_applied(f, call, 1);
    uint64_t rounds = f->x->auction.last.number;
    assert_false(rejected_within(f, 25, full));
    assert_true(f->x->auction.last.number >= rounds + 2);
    for (int32_t rejections = 2; rejections <= 3; rejections++) {
        assert_int_equal(post(f, "bbs", ask_for_t)->status, 202);
        play_tell_state(f, play_state_call(f, "a"), full);
        assert_rejected(f, revision, &call);
        revision = play_task(f, PUT, "t", rejections);
        play_send(f);
        play_applied(f, call, 1);
        assert_false(rejected_within(f, 15, full));
    }
    /* It failed with the last one. */
    post(f, "bbs", ask_for_t);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
    play_task(f, DELETE, "t", 4);
    play_send(f);
    play_applied(f, call, 1);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void more_room_is_found_for_one_that_was_rejected(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_task(f, PUT, "t", 1);
    play_send(f);
    play_applied(f, call, 1);
    assert_true(play_asked_within(f, 3));
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    assert_non_null(play_work(f, "a", &call));
}

/* A new leader, or a cell that rejects: the record says that the request was answered. */
static void one_that_was_rejected_before_waits_for_somebody_to_ask(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 2, &full);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_false(rejected_within(f, 12, full));
    post(f, "bbs", ask_for_t);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
}

static void an_unanswered_rejection_is_repeated_unless_it_landed(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_true(rejected_within(f, 14, full));
    assert_rejected(f, revision, &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    play_task(f, PUT, "t", 1); /* it did, and so it is told after all */
    play_send(f);
    assert_false(rejected_within(f, 25, full));
}

static void a_rejection_that_landed_before_it_was_doubted(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_task(f, PUT, "t", 1);
    play_send(f);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_false(rejected_within(f, 25, full));
}

/* A standby has seen the creation, and that the leader of then rejected it. */
static void what_another_leader_rejected_is_answered(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &other.base, 5);
    play_current(f);
    play_task(f, PUT, "t", 0);
    play_task(f, PUT, "t", 1);
    frame_change(&f->sent, DELETE, "lead/auctioneer", &other.base, ++f->revision);
    play_send(f);
    play_elect(f);
    Cell__CellState *full = play_row(f, "a");
    full->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

/* Somebody removed it and desired it again: another task of the same name. */
static void one_that_is_desired_again_is_a_request_again(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_applied(f, call, 1);
    play_task(f, DELETE, "t", 1);
    revision = play_task(f, PUT, "t", 0);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_rejected(f, revision, &call);
}

/* ---- Hints ----------------------------------------------------------------------------------- */

static const char hints[] =
    "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":\"preloaded:busybox\",\"MemoryMB\":100,"
    "\"state\":\"Invalid\",\"failed\":false,\"VolumeDrivers\":null},"
    "{\"TaskGuid\":\"\",\"Domain\":\"d\",\"RootFs\":\"preloaded:x\"},"
    "{\"TaskGuid\":\"bad\",\"Domain\":\"d\",\"RootFs\":\"\"},"
    "{\"TaskGuid\":\"bad\",\"RootFs\":\"preloaded:x\",\"MemoryMB\":-1},"
    "{\"TaskGuid\":\"bad\",\"RootFs\":\"preloaded:x\",\"DiskMB\":-1}]";

static void hints_come_sooner_than_the_feed(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    const struct reply *r = post(f, "bbs", hints);
    assert_int_equal(r->status, 202);
    assert_true(play_body_is(r, "{}"));
    assert_int_equal(f->x->pool.entries.count, 1); /* invalid elements are dropped */
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_string_equal(w->tasks[0]->taskguid, "t");
    assert_int_equal(w->tasks[0]->memorymb, 100);
    play_take_tasks(f, w, call, 0);
    play_task(f, PUT, "t", 0); /* the feed follows: placed already */
    play_send(f);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->pool.hinted, 0);
    assert_false(play_asked_within(f, 4));
}

static void hints_in_protobuf(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    Cell__TaskStarts starts = CELL__TASK_STARTS__INIT;
    Cell__Task task = CELL__TASK__INIT, *list[] = {&task, &task};
    task.taskguid = arena_strdup(&f->arena, "t");
    task.rootfs = arena_strdup(&f->arena, "preloaded:x");
    starts.starts = list;
    starts.n_starts = 2;
    struct buf body;
    buf_init(&body);
    buf_message(&body, &starts.base);
    const struct reply *r =
        play_ask(f, "bbs", "POST", "/v1/tasks", "application/x-protobuf", buf_bytes(&body));
    assert_int_equal(r->status, 202);
    buf_done(&body);
    assert_int_equal(f->x->pool.entries.count, 1);
}

/* Nobody can be told of it, for its revision is not known: once the feed shows it, it is told. */
static void a_hint_that_was_refused_is_told_once_the_feed_shows_it(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "");
    post(f, "bbs", ask_for_t);
    play_go_on(f);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    int64_t revision = play_task(f, PUT, "t", 0);
    play_send(f);
    assert_string_equal(play_failed(f, &call),
                        arena_printf(&f->arena, "t@%lld=unable to communicate to compatible cells ",
                                     (long long)revision));
}

static void a_hint_that_nothing_confirms_goes(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, 0, &full);
    play_applied(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, 1);
    post(f, "bbs", "[{\"TaskGuid\":\"made-up\",\"RootFs\":\"preloaded:x\"}]");
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 2);
    assert_false(rejected_within(f, 7, full));
    assert_int_equal(f->x->pool.entries.count, 1);
    assert_int_equal(f->x->pool.hinted, 0);
    /* Neither does one that a cell took. */
    post(f, "bbs", hints);
    uint64_t looked = play_state_call(f, "a");
    post(f, "bbs", "[{\"TaskGuid\":\"made-up\",\"RootFs\":\"preloaded:busybox\"}]");
    play_tell_state(f, looked, play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_tasks, 2);
    play_take_tasks(f, w, call, 0);
    play_asked_within(f, 6);
    assert_int_equal(f->x->pool.entries.count, 1);
}

static void bad_requests(void **state)
{
    struct auction_rig *f = *state;
    play_lead(f, "a");
    static const char *const bad[] = {"", "{}", "[", "[1]", "[{\"MemoryMB\":\"x\"}]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct reply *r = post(f, "bbs", bad[i]);
        assert_int_equal(r->status, 400);
        assert_string_equal(r->content_type, "application/json");
        assert_memory_equal(r->body.data, "{\"error\":\"", 10);
    }
    static const struct {
        const char *unit;
        int status;
    } units[] = {{"rep", 403}, {"auctioneer", 403}, {"converger", 403}, {"", 202}, {"other", 202}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        assert_int_equal(post(f, units[i].unit, "[]")->status, units[i].status);
    }
    assert_int_equal(play_ask(f, "bbs", "GET", "/v1/tasks", "", bytes_of(""))->status, 405);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void a_standby_takes_no_hints(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    assert_int_equal(post(f, "bbs", hints)->status, 503);
    assert_int_equal(f->x->pool.entries.count, 0);
}

/* ---- The pool -------------------------------------------------------------------------------- */

static void the_pool_is_bounded_over_both_kinds(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_end(f);
    f->config.pool_max = 3;
    play_begin(f);
    play_lead(f, "a");
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "t1", 0);
    play_actual(f, PUT, "web", 1);
    play_task(f, PUT, "t2", 0);
    play_task(f, PUT, "t3", 0);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 3);
    assert_int_equal(f->x->pool.tasks, 1);
    assert_true(f->x->pool.overflowed);
    uint64_t looked = play_state_call(f, "a");
    assert_int_equal(post(f, "bbs", hints)->status, 202); /* no room, and the feed has it anyway */
    assert_int_equal(f->x->pool.entries.count, 3);
    play_tell_state(f, looked, play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps + w->n_tasks, 3);
    play_take_work(f, w, call, 0);
    play_actual(f, DELETE, "web", 0);
    play_task(f, DELETE, "t1", 0);
    play_actual(f, DELETE, "web", 1);
    play_send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    assert_int_equal(f->x->pool.tasks, 2);
    assert_false(f->x->pool.overflowed);
}

/* What the old leader had in hand, the new one takes from the feed. */
static void a_change_of_leader_loses_no_task(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_lead(f, "a");
    play_task(f, PUT, "t", 0);
    play_task(f, PUT, "u", 1);
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_tasks, 2);
    play_depose(f);
    play_take_tasks(f, w, call, 2);
    assert_int_equal(f->x->pool.counts[ENTRY_FRESH], 2);
    play_end(f);
    play_begin(f); /* the other process */
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_task(f, RECORD, "t", 0);
    play_task(f, RECORD, "u", 1);
    play_current(f);
    play_elect(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    assert_int_equal(play_work(f, "a", &call)->n_tasks, 2);
}

static void a_reset_keeps_what_is_seen_again(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    uint64_t call;
    int64_t revision = refuse_one(f, 0, &full);
    assert_rejected(f, revision, &call);
    play_applied(f, call, 1);
    Board__LeadRecord lead = BOARD__LEAD_RECORD__INIT;
    lead.holder = f->x->life.leader.id;
    frame_reset(&f->sent, "e1");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead.base, f->x->life.leader.term);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    f->revision = revision;
    play_task(f, RECORD, "t", 0); /* the same record: not asked for anew */
    f->revision += 10;
    play_current(f);
    assert_int_equal(f->x->pool.entries.count, 1);
    assert_false(rejected_within(f, 12, full));
    frame_reset(&f->sent, "e1");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead.base, f->x->life.leader.term);
    play_current(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    assert_int_equal(f->x->pool.tasks, 0);
}

static void state_shows_tasks(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    refuse_one(f, 0, &full);
    const struct reply *r = play_ask(f, "somebody", "GET", "/state", "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    assert_non_null(strstr(text, "\"task_guid\":\"t\""));
    assert_non_null(strstr(text, "\"tasks\":1"));
    assert_non_null(strstr(text, "\"reason\":\"insufficient resources: memory\""));
}

/* ---- GET /why -------------------------------------------------------------------------------- */

static void expect_why(struct auction_rig *f, const char *path, int status,
                       const char *const *parts)
{
    const struct reply *r = play_ask(f, "somebody", "GET", path, "", bytes_of(""));
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    if (r->status != status) {
        fail_msg("%s: %d %s", path, r->status, text);
    }
    for (; parts && *parts; parts++) {
        if (!strstr(text, *parts)) {
            fail_msg("%s is not in %s", *parts, text);
        }
    }
}

static void why_says_what_the_cells_lack(void **state)
{
    struct auction_rig *f = *state;
    Cell__CellState *full;
    refuse_one(f, 0, &full);
    static const char *const task[] = {"\"task_guid\":\"t\"",
                                       "\"state\":\"unplaced\"",
                                       "\"reason\":\"insufficient resources: memory\"",
                                       "\"memory_mb\":100",
                                       "\"cells\":1",
                                       "\"filter\":\"resources\",\"cells\":1",
                                       "\"short_of_memory\":1",
                                       "\"cell_id\":\"a\"",
                                       "\"lacks_memory_mb\":1",
                                       NULL};
    expect_why(f, "/why?task_guid=t", 200, task);
    play_actual(f, PUT, "web/a", 2);
    play_send(f);
    static const char *const stray[] = {"\"process_guid\":\"web/a\"", "\"index\":2",
                                        "\"state\":\"not desired\"", NULL};
    expect_why(f, "/why?process_guid=web%2Fa&index=2", 200, stray);
    expect_why(f, "/why?process_guid=web%2Fa&index=3", 404, NULL);
    expect_why(f, "/why?task_guid=u", 404, NULL);
}

static void why_asked_wrongly(void **state)
{
    struct auction_rig *f = *state;
    static const char *const wrong[] = {"/why",
                                        "/why?index=1",
                                        "/why?process_guid=web",
                                        "/why?process_guid=web&index=",
                                        "/why?process_guid=web&index=x",
                                        "/why?process_guid=web&index=-1",
                                        "/why?process_guid=web&index=99999999999",
                                        "/why?task_guid=t&process_guid=web&index=1"};
    drive_start(&f->drive);
    static const char *const standby[] = {"the leader is not known", NULL};
    expect_why(f, "/why?task_guid=t", 503, standby);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        expect_why(f, wrong[i], 400, NULL);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(places_what_the_feed_shows),
        TEST(instances_and_tasks_travel_together),
        TEST(a_task_is_no_instance_of_its_name),
        TEST(placed_but_pending_is_auctioned_again),
        TEST(returned_or_lost_work_goes_elsewhere_at_once),
        TEST(what_all_cells_return_is_rejected),
        TEST(offered_anew_when_it_was_rejected_meanwhile),
        TEST(a_later_hint_offers_anew),
        TEST(a_hint_after_it_was_placed_offers_anew),
        TEST(rejected_once_until_somebody_asks),
        TEST(more_room_is_found_for_one_that_was_rejected),
        TEST(one_that_was_rejected_before_waits_for_somebody_to_ask),
        TEST(an_unanswered_rejection_is_repeated_unless_it_landed),
        TEST(a_rejection_that_landed_before_it_was_doubted),
        TEST(what_another_leader_rejected_is_answered),
        TEST(one_that_is_desired_again_is_a_request_again),
        TEST(hints_come_sooner_than_the_feed),
        TEST(hints_in_protobuf),
        TEST(a_hint_that_was_refused_is_told_once_the_feed_shows_it),
        TEST(a_hint_that_nothing_confirms_goes),
        TEST(bad_requests),
        TEST(a_standby_takes_no_hints),
        TEST(the_pool_is_bounded_over_both_kinds),
        TEST(a_change_of_leader_loses_no_task),
        TEST(a_reset_keeps_what_is_seen_again),
        TEST(state_shows_tasks),
        TEST(why_says_what_the_cells_lack),
        TEST(why_asked_wrongly),
    };
    return cmocka_run_group_tests_name("auction of tasks", tests, NULL, NULL);
}

/* Hints of what is to be placed, which a bbs gives beside the feed: POST /v1/lrps and /v1/tasks. */
#include "common/model/record.h"
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

/* Bodies that are no list of hints, and one that nearly is. */
static void expect_bad_json(struct auction_rig *f, const char *path, const char *nearly)
{
    const char *const bad[] = {"", "{}", "[", "[1]", nearly};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct reply *r = play_post(f, "bbs", path, bad[i]);
        assert_int_equal(r->status, 400);
        assert_string_equal(r->content_type, "application/json");
        assert_memory_equal(r->body.data, "{\"error\":\"", 10);
    }
}

/* ---- Of instances ---------------------------------------------------------------------------- */

static const char lrp_hints[] =
    "[{\"process_guid\":\"web\",\"domain\":\"d\",\"indices\":[0,1],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\","
    "\"MemoryMB\":-1}]";

static void hints_of_lrps_come_sooner_than_the_feed(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 2);
    play_send(f);
    const struct reply *r = play_post(f, "bbs", "/v1/lrps", lrp_hints);
    assert_int_equal(r->status, 202);
    assert_true(play_body_is(r, "{}"));
    assert_int_equal(f->x->backlog.entries.count, 2); /* invalid elements are dropped */
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    play_take_work(f, w, call, 0);
    play_actual(f, PUT, "web", 0); /* the feed follows: placed already */
    play_send(f);
    play_go_on(f);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 2);
    /* The other one never comes: dropped after a while. */
    play_actual(f, DELETE, "web", 0);
    play_heartbeat(f);
    drive_advance(&f->drive, 3000);
    play_heartbeat(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

static void hints_in_protobuf_and_of_what_is_unknown(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
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
    SCOPED_BUF(body);
    buf_message(&body, &starts.base);
    assert_int_equal(
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", buf_bytes(&body))->status,
        202);
    assert_int_equal(f->x->backlog.entries.count, 1);
    assert_null(play_asked_state(f, "a")); /* no DesiredLRP yet */
    drive_advance(&f->drive, 3000);
    play_heartbeat(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

/* A hint ran ahead of the feed, and the auction offered what the process was before: that start is
 * refused on the board, and nothing else would say so. */
static void what_was_offered_of_an_old_definition_is_offered_again(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 3);
    play_send(f);
    play_post(f, "bbs", "/v1/lrps", lrp_hints);
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_string_equal(w->lrps[0]->definition_id, "definition-1");
    play_take_work(f, w, call, 0);
    play_desired(f, DELETE, "web", 3);
    play_send(f);
    assert_null(play_asked_state(f, "a")); /* nothing is desired */
    play_desired_as(f, PUT, "web", 1, "definition-2");
    play_send(f);
    w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 1); /* the other one is not desired any more */
    assert_string_equal(w->lrps[0]->definition_id, "definition-2");
    play_take_work(f, w, call, 0);
    play_desired_as(f, PUT, "web", 2, "definition-2"); /* the same definition, scaled up */
    play_send(f);
    w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_int_equal(w->lrps[0]->index, 1);
}

/* The same, heard while the cell is being asked. */
static void so_it_is_when_that_is_heard_before_the_cell_answers(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_unclaimed(f, "a", 1);
    Cell__Work *w = play_hand_out(f, "a", &call);
    play_desired_as(f, PUT, "web", 1, "definition-2");
    play_send(f);
    play_take_work(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 0);
    play_go_on(f);
    assert_string_equal(play_hand_out(f, "a", &call)->lrps[0]->definition_id, "definition-2");
}

static void a_hint_retries_what_was_refused(void **state)
{
    struct auction_rig *f = *state;
    play_refuse_lrp(f);
    play_post(f, "bbs", "/v1/lrps", lrp_hints);
    assert_non_null(play_asked_state(f, "a"));
}

static void bad_hints_of_lrps(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    expect_bad_json(f, "/v1/lrps", "[{\"indices\":\"x\"}]");
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
    assert_int_equal(f->x->backlog.entries.count, 0);
    assert_true(f->role->ops->body_limit(f->role, "/v1/lrps") > 1024 * 1024);
    assert_int_equal(f->role->ops->body_limit(f->role, "/state"), 0);
}

static void a_standby_takes_no_hints_of_lrps(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    const struct reply *r = play_post(f, "bbs", "/v1/lrps", lrp_hints);
    assert_int_equal(r->status, 503);
    assert_int_equal(r->retry_after_s, 1);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

/* ---- Of instances whose record is known: late ones, and such as run ahead of the feed ---------
 */

/* As a bbs of ours tells: this instance of "web" was UNCLAIMED at this revision. */
static void hint_at(struct auction_rig *f, int32_t index, int64_t revision)
{
    Cell__LRPStarts starts = CELL__LRPSTARTS__INIT;
    Cell__LRPStart start = CELL__LRPSTART__INIT, *list[] = {&start};
    start.process_guid = arena_strdup(&f->arena, "web");
    start.domain = start.rootfs = arena_strdup(&f->arena, "d");
    start.indices = &index;
    start.revisions = &revision;
    start.n_indices = start.n_revisions = 1;
    starts.starts = list;
    starts.n_starts = 1;
    SCOPED_BUF(body);
    buf_message(&body, &starts.base);
    assert_int_equal(
        play_ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", buf_bytes(&body))->status,
        202);
}

/* web/0 is handed out to the only cell, which takes it. */
static void place(struct auction_rig *f)
{
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    play_take_work(f, w, call, 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
}

/* The feed tells that web/0 has become UNCLAIMED, at f->revision; or that it is so no more. */
static void feed(struct auction_rig *f, Board__FeedFrame__Kind kind)
{
    play_actual(f, kind, "web", 0);
    play_heartbeat(f);
}

static void desire_one(struct auction_rig *f)
{
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 1);
    play_send(f);
    play_heartbeat(f);
}

/* The hint comes when the instance has been claimed: nothing is auctioned a second time, and its
 * crash finds no placement that would have to be waited for. */
static void a_late_hint_changes_nothing(void **state)
{
    struct auction_rig *f = *state;
    desire_one(f);
    feed(f, PUT);
    int64_t revision = f->revision;
    place(f);
    feed(f, DELETE);
    hint_at(f, 0, revision);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.entries.count, 0);
    feed(f, PUT);
    place(f);
    hint_at(f, 0, f->revision); /* of the crash, after the feed */
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
}

/* It comes in the middle of the auction of the very need that it tells of. */
static void a_hint_of_what_is_being_auctioned_changes_nothing(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    desire_one(f);
    feed(f, PUT);
    Cell__Work *w = play_hand_out(f, "a", &call);
    hint_at(f, 0, f->revision);
    play_take_work(f, w, call, 0);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
}

/* The same, and the cell gives it back: what was asked for meanwhile is tried at once, not with the
 * next sweep over the refused. */
static void what_is_asked_for_while_it_is_refused_is_tried_at_once(void **state)
{
    struct auction_rig *f = *state;
    for (int asked = 0; asked < 2; asked++) {
        uint64_t call;
        desire_one(f);
        feed(f, PUT);
        Cell__Work *w = play_hand_out(f, "a", &call);
        if (asked) {
            hint_at(f, 0, f->revision);
        }
        play_take_work(f, w, call, 1);
        assert_int_equal(f->x->backlog.counts[asked ? ENTRY_FRESH : ENTRY_REFUSED], 1);
        play_go_on(f);
        assert_true((play_asked_state(f, "a") != NULL) == asked);
        play_end(f);
        play_begin(f);
    }
}

/* The feed is silent while the instance is claimed, runs and crashes: only hints tell. When the
 * feed goes on it tells of all that again, and nothing is auctioned a second time. */
static void a_hint_of_a_crash_runs_ahead_of_the_feed(void **state)
{
    struct auction_rig *f = *state;
    desire_one(f);
    int64_t first = f->revision + 1, second = first + 2; /* UNCLAIMED; claimed between them */
    hint_at(f, 0, first);
    place(f);
    hint_at(f, 0, first); /* repeated */
    assert_null(play_asked_state(f, "a"));
    hint_at(f, 0, second);
    place(f);
    feed(f, PUT);
    feed(f, DELETE);
    assert_int_equal(f->revision, first + 1);
    hint_at(f, 0, first); /* late */
    feed(f, PUT);
    assert_int_equal(f->revision, second);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    feed(f, DELETE);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

/* The same when the feed had told of the first need. */
static void it_runs_ahead_of_a_feed_that_has_stopped(void **state)
{
    struct auction_rig *f = *state;
    desire_one(f);
    feed(f, PUT);
    place(f);
    hint_at(f, 0, f->revision + 2);
    place(f);
    feed(f, DELETE);
    feed(f, PUT);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->backlog.hinted, 0);
}

/* It comes while the auction hands the first need out: whether that start meets the second nobody
 * knows. */
static void it_runs_ahead_of_the_auction(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    desire_one(f);
    feed(f, PUT);
    Cell__Work *w = play_hand_out(f, "a", &call);
    hint_at(f, 0, f->revision + 2);
    play_take_work(f, w, call, 0);
    play_go_on(f);
    place(f);
}

/* A gap in the feed: what was placed is UNCLAIMED at the same revision, or at a later one. */
static void after_a_gap_only_a_later_revision_counts(void **state)
{
    struct auction_rig *f = *state;
    desire_one(f);
    feed(f, PUT);
    place(f);
    for (int later = 0; later < 2; later++) {
        f->revision += 2 * later;
        frame_reset(&f->sent, "e1");
        play_lock(f, RECORD, f->x->life.leader.id, f->x->life.leader.term);
        play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
        play_desired(f, RECORD, "web", 1);
        play_actual(f, RECORD, "web", 0);
        play_current(f);
        assert_true((play_asked_state(f, "a") != NULL) == later);
    }
    place(f);
}

/* The board never tells of it: what it tells instead counts again. */
static void a_hint_that_only_contradicts_is_dropped(void **state)
{
    struct auction_rig *f = *state;
    desire_one(f);
    feed(f, PUT);
    place(f);
    hint_at(f, 0, f->revision + 1000);
    place(f);
    drive_advance(&f->drive, 3000);
    play_heartbeat(f);
    drive_advance(&f->drive, 2500);
    play_heartbeat(f);
    assert_int_equal(f->x->backlog.hinted, 0);
    place(f);
}

/* ---- Of tasks -------------------------------------------------------------------------------- */

static const char task_hints[] =
    "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":\"preloaded:busybox\",\"MemoryMB\":100,"
    "\"state\":\"Invalid\",\"failed\":false,\"VolumeDrivers\":null},"
    "{\"TaskGuid\":\"\",\"Domain\":\"d\",\"RootFs\":\"preloaded:x\"},"
    "{\"TaskGuid\":\"bad\",\"Domain\":\"d\",\"RootFs\":\"\"},"
    "{\"TaskGuid\":\"bad\",\"RootFs\":\"preloaded:x\",\"MemoryMB\":-1},"
    "{\"TaskGuid\":\"bad\",\"RootFs\":\"preloaded:x\",\"DiskMB\":-1}]";

static void hints_of_tasks_come_sooner_than_the_feed(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "a");
    const struct reply *r = play_post(f, "bbs", "/v1/tasks", task_hints);
    assert_int_equal(r->status, 202);
    assert_true(play_body_is(r, "{}"));
    assert_int_equal(f->x->backlog.entries.count, 1); /* invalid elements are dropped */
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_string_equal(w->tasks[0]->taskguid, "t");
    assert_int_equal(w->tasks[0]->memorymb, 100);
    play_take_tasks(f, w, call, 0);
    play_task(f, PUT, "t", 0); /* the feed follows: placed already */
    play_send(f);
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], 1);
    assert_int_equal(f->x->backlog.hinted, 0);
    assert_false(play_asked_within(f, 4));
}

static void hints_of_tasks_in_protobuf(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    Cell__TaskStarts starts = CELL__TASK_STARTS__INIT;
    Cell__Task task = CELL__TASK__INIT, *list[] = {&task, &task};
    task.taskguid = arena_strdup(&f->arena, "t");
    task.rootfs = arena_strdup(&f->arena, "preloaded:x");
    starts.starts = list;
    starts.n_starts = 2;
    SCOPED_BUF(body);
    buf_message(&body, &starts.base);
    const struct reply *r =
        play_ask(f, "bbs", "POST", "/v1/tasks", "application/x-protobuf", buf_bytes(&body));
    assert_int_equal(r->status, 202);
    assert_int_equal(f->x->backlog.entries.count, 1);
}

static void hint_task_at(struct auction_rig *f, int64_t revision)
{
    Cell__TaskStarts starts = CELL__TASK_STARTS__INIT;
    Cell__Task task = CELL__TASK__INIT, *list[] = {&task};
    task.taskguid = arena_strdup(&f->arena, "t");
    task.rootfs = arena_strdup(&f->arena, "preloaded:x");
    task.revision = revision;
    starts.starts = list;
    starts.n_starts = 1;
    SCOPED_BUF(body);
    buf_message(&body, &starts.base);
    assert_int_equal(
        play_ask(f, "bbs", "POST", "/v1/tasks", "application/x-protobuf", buf_bytes(&body))->status,
        202);
}

/* The hint comes when the task has been started: it is not handed out a second time. */
static void a_late_hint_of_a_task_changes_nothing(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    play_task(f, PUT, "t", 0);
    play_heartbeat(f);
    int64_t revision = f->revision;
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_tasks, 1);
    play_take_tasks(f, w, call, 0);
    play_task(f, DELETE, "t", 0);
    play_heartbeat(f);
    hint_task_at(f, revision);
    assert_int_equal(f->x->backlog.entries.count, 0);
    assert_null(play_asked_state(f, "a"));
    hint_task_at(f, f->revision + 1); /* desired again: this one runs ahead of the feed */
    assert_int_equal(f->x->backlog.entries.count, 1);
}

/* No task of the board is so large; with the work of others in one message every cell would refuse
 * it. */
static void a_hint_larger_than_a_record_is_dropped(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    Cell__TaskStarts starts = CELL__TASK_STARTS__INIT;
    Cell__Task small = CELL__TASK__INIT, large = CELL__TASK__INIT, *list[] = {&small, &large};
    char *tag = arena_alloc(&f->arena, RECORD_MAX_BYTES + 1);
    memset(tag, 'x', RECORD_MAX_BYTES);
    small.taskguid = arena_strdup(&f->arena, "t");
    small.rootfs = large.rootfs = arena_strdup(&f->arena, "preloaded:x");
    large.taskguid = arena_strdup(&f->arena, "large");
    large.n_placementtags = 1;
    large.placementtags = &tag;
    starts.starts = list;
    starts.n_starts = 2;
    SCOPED_BUF(body);
    buf_message(&body, &starts.base);
    const struct reply *r =
        play_ask(f, "bbs", "POST", "/v1/tasks", "application/x-protobuf", buf_bytes(&body));
    assert_int_equal(r->status, 202);
    assert_int_equal(f->x->backlog.entries.count, 1);
}

/* Nobody can be told of it, for its revision is not known: once the feed shows it, it is told. */
static void a_hint_that_was_refused_is_reported_once_the_feed_shows_it(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_leader_lock(f, "");
    play_post(f, "bbs", "/v1/tasks", play_task_hint);
    play_go_on(f);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
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
    play_refuse_task(f, 0, &full);
    play_applied(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, 1);
    play_post(f, "bbs", "/v1/tasks", "[{\"TaskGuid\":\"made-up\",\"RootFs\":\"preloaded:x\"}]");
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 2);
    assert_false(play_told_within(f, 7, full));
    assert_int_equal(f->x->backlog.entries.count, 1);
    assert_int_equal(f->x->backlog.hinted, 0);
    /* Neither does one that a cell took. */
    play_post(f, "bbs", "/v1/tasks", task_hints);
    uint64_t looked = play_state_call(f, "a");
    play_post(f, "bbs", "/v1/tasks",
              "[{\"TaskGuid\":\"made-up\",\"RootFs\":\"preloaded:busybox\"}]");
    play_tell_state(f, looked, play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_tasks, 2);
    play_take_tasks(f, w, call, 0);
    play_asked_within(f, 6);
    assert_int_equal(f->x->backlog.entries.count, 1);
}

static void bad_hints_of_tasks(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    expect_bad_json(f, "/v1/tasks", "[{\"MemoryMB\":\"x\"}]");
    static const struct {
        const char *unit;
        int status;
    } units[] = {{"rep", 403},    {"auctioneer", 403}, {"converger", 403},
                 {"client", 202}, {"", 403},           {"other", 403}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        assert_int_equal(play_post(f, units[i].unit, "/v1/tasks", "[]")->status, units[i].status);
    }
    assert_int_equal(play_ask(f, "bbs", "GET", "/v1/tasks", "", bytes_of(""))->status, 405);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

static void a_standby_takes_no_hints_of_tasks(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    assert_int_equal(play_post(f, "bbs", "/v1/tasks", task_hints)->status, 503);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(hints_of_lrps_come_sooner_than_the_feed),
        TEST(hints_in_protobuf_and_of_what_is_unknown),
        TEST(what_was_offered_of_an_old_definition_is_offered_again),
        TEST(so_it_is_when_that_is_heard_before_the_cell_answers),
        TEST(a_hint_retries_what_was_refused),
        TEST(bad_hints_of_lrps),
        TEST(a_standby_takes_no_hints_of_lrps),
        TEST(a_late_hint_changes_nothing),
        TEST(a_hint_of_what_is_being_auctioned_changes_nothing),
        TEST(what_is_asked_for_while_it_is_refused_is_tried_at_once),
        TEST(a_hint_of_a_crash_runs_ahead_of_the_feed),
        TEST(it_runs_ahead_of_a_feed_that_has_stopped),
        TEST(it_runs_ahead_of_the_auction),
        TEST(after_a_gap_only_a_later_revision_counts),
        TEST(a_hint_that_only_contradicts_is_dropped),
        TEST(hints_of_tasks_come_sooner_than_the_feed),
        TEST(hints_of_tasks_in_protobuf),
        TEST(a_late_hint_of_a_task_changes_nothing),
        TEST(a_hint_larger_than_a_record_is_dropped),
        TEST(a_hint_that_was_refused_is_reported_once_the_feed_shows_it),
        TEST(a_hint_that_nothing_confirms_goes),
        TEST(bad_hints_of_tasks),
        TEST(a_standby_takes_no_hints_of_tasks),
    };
    return cmocka_run_group_tests_name("auction hints", tests, NULL, NULL);
}

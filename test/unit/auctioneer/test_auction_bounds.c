/* What the auctioneer bounds: its backlog, a round, questions to cells, reports to the board. */
#include "common/model/keys.h"
#include "rep/http/request.h"
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

static void the_backlog_is_bounded_and_refilled(void **state)
{
    struct auction_rig *f = *state;
    play_end(f);
    f->config.backlog_max = 2;
    play_begin(f);
    play_unclaimed(f, "a", 4);
    assert_int_equal(f->x->backlog.entries.count, 2);
    assert_true(f->x->backlog.overflowed);
    uint64_t call;
    Cell__Work *w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    play_take_work(f, w, call, 0);
    play_actual(f, DELETE, "web", 0);
    play_actual(f, DELETE, "web", 1);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 2);
    assert_false(f->x->backlog.overflowed);
    w = play_hand_out(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    assert_int_equal(w->lrps[0]->index + w->lrps[1]->index, 5);
}

static void the_backlog_is_bounded_over_both_kinds(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call;
    play_end(f);
    f->config.backlog_max = 3;
    play_begin(f);
    play_leader_lock(f, "a");
    play_desired(f, PUT, "web", 2);
    play_actual(f, PUT, "web", 0);
    play_task(f, PUT, "t1", 0);
    play_actual(f, PUT, "web", 1);
    play_task(f, PUT, "t2", 0);
    play_task(f, PUT, "t3", 0);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 3);
    assert_int_equal(f->x->backlog.of_kind[JOB_TASK], 1);
    assert_true(f->x->backlog.overflowed);
    uint64_t looked = play_state_call(f, "a");
    /* No room, and the feed has it anyway. */
    assert_int_equal(play_post(f, "bbs", "/v1/tasks", play_task_hint)->status, 202);
    assert_int_equal(f->x->backlog.entries.count, 3);
    play_tell_state(f, looked, play_row(f, "a"));
    Cell__Work *w = play_work(f, "a", &call);
    assert_int_equal(w->n_lrps + w->n_tasks, 3);
    play_take_work(f, w, call, 0);
    play_actual(f, DELETE, "web", 0);
    play_task(f, DELETE, "t1", 0);
    play_actual(f, DELETE, "web", 1);
    play_send(f);
    assert_int_equal(f->x->backlog.entries.count, 2);
    assert_int_equal(f->x->backlog.of_kind[JOB_TASK], 2);
    assert_false(f->x->backlog.overflowed);
}

static void a_round_takes_a_bounded_number_the_fresh_first(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "");
    play_desired(f, PUT, "web", 9);
    for (int i = 0; i < 6; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 6);
    struct entry **list;
    size_t refused;
    play_actual(f, PUT, "web", 6);
    f->x->auction.phase = ROUND_COMMITTING; /* not now */
    f->x->auction.open_count = 1;
    play_send(f);
    assert_int_equal(backlog_take(&f->x->backlog, &f->arena, 3, &list, &refused), 3);
    assert_int_equal(refused, 2);
    assert_int_equal(list[0]->index, 6);
    assert_int_equal(list[1]->index, 0); /* has waited longest */
    assert_int_equal(list[2]->index, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(backlog_refused(&f->x->backlog, list[i], NULL, 0));
    }
    assert_int_equal(backlog_take(&f->x->backlog, &f->arena, 2, &list, &refused), 2);
    assert_int_equal(list[0]->index, 2);
    backlog_put_back(&f->x->backlog, list[0], 0);
    backlog_put_back(&f->x->backlog, list[1], 0);
    f->x->auction.phase = ROUND_IDLE;
    f->x->auction.open_count = 0;
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
    SCOPED_BUF(ids);
    for (int i = 0; i < CELLS; i++) {
        buf_printf(&ids, "%scell-%03d", i ? " " : "", i);
    }
    play_unclaimed(f, buf_string(&ids), 1);
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
    enum { INSTANCES = MOVER_MOVES_MAX * MOVER_CALLS_MAX + 5 };
    play_unclaimed(f, "", INSTANCES); /* no cell: refused at once */
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], INSTANCES);
    assert_int_equal(calls_of(f, "/v1/board/apply"), MOVER_CALLS_MAX);
    play_applied(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, MOVER_MOVES_MAX);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 1);
    uint64_t call;
    const char *text = play_failed(f, &call);
    for (int i = INSTANCES - 5; i < INSTANCES; i++) {
        assert_non_null(strstr(text, arena_printf(&f->arena, "web/%d=", i)));
    }
    play_applied(f, call, 5);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 0);
}

/* As long as the board takes none: more wait than are tried from one sweep to the next. */
static void reports_that_fail_are_not_heaped_up(void **state)
{
    struct auction_rig *f = *state;
    enum { INSTANCES = 12 * MOVER_MOVES_MAX * MOVER_CALLS_MAX };
    play_unclaimed(f, "", INSTANCES);
    for (int second = 0; second < 60; second++) {
        uint64_t calls[MOVER_CALLS_MAX] = {0};
        for (size_t i = 0; i < MOVER_CALLS_MAX; i++) {
            const struct call *c = drive_call(&f->drive, "/v1/board/apply", i);
            calls[i] = c ? c->id : 0;
        }
        for (size_t i = 0; i < MOVER_CALLS_MAX && calls[i]; i++) {
            drive_unanswered(&f->drive, calls[i], CALL_UNKNOWN);
        }
        play_heartbeat(f);
        drive_advance(&f->drive, 1000);
    }
    assert_int_equal(calls_of(f, "/v1/board/apply"), MOVER_CALLS_MAX);
    assert_true(f->x->report.capacity <= 2 * INSTANCES);
}

/* A Pending task of so many volume mounts that its work has half a MiB. */
static void play_heavy_task(struct auction_rig *f, const char *guid)
{
    enum { MOUNTS = 110000 };
    Models__VolumeMount mount = MODELS__VOLUME_MOUNT__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    Models__Task task = MODELS__TASK__INIT;
    mount.driver = (char *)"nfs";
    definition.root_fs = (char *)"preloaded:busybox";
    definition.memory_mb = 1;
    definition.n_volume_mounts = MOUNTS;
    definition.volume_mounts = ARENA_ARRAY(&f->arena, MOUNTS, Models__VolumeMount *);
    for (size_t i = 0; i < MOUNTS; i++) {
        definition.volume_mounts[i] = &mount;
    }
    task.task_guid = (char *)guid;
    task.domain = (char *)"d";
    task.state = MODELS__TASK__STATE__Pending;
    task.created_at = PLAY_CREATED_AT;
    task.task_definition = &definition;
    frame_change(&f->sent, PUT, key_task(&f->arena, guid), &task.base, ++f->revision);
}

/* One message to a cell that is too large for it would be refused whole, and so would the work of
 * others in it, round after round. */
static void work_is_handed_out_in_parts(void **state)
{
    enum { TASKS = 10 };
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    for (int i = 0; i < TASKS; i++) {
        play_heavy_task(f, arena_printf(&f->arena, "t-%d", i));
    }
    play_send(f);
    play_tell_state(f, play_state_call(f, "a"), play_row(f, "a"));
    size_t tasks = 0, calls = 0;
    uint64_t ids[TASKS];
    const struct call *c;
    for (; (c = drive_call(&f->drive, "https://a:1801/work", calls)); calls++) {
        assert_true(c->body.size < WORK_BODY_MAX);
        assert_true(calls < TASKS);
        ids[calls] = c->id;
        ProtobufCAllocator allocator = arena_protobuf(&f->arena);
        tasks += cell__work__unpack(&allocator, c->body.size, c->body.data)->n_tasks;
    }
    assert_int_equal(tasks, TASKS);
    const Cell__Work nothing_came_back = CELL__WORK__INIT;
    for (size_t i = 0; i < calls; i++) {
        drive_answer(&f->drive, ids[i], &nothing_came_back.base);
    }
    assert_int_equal(f->x->backlog.counts[ENTRY_PLACED], TASKS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_backlog_is_bounded_and_refilled),
        TEST(the_backlog_is_bounded_over_both_kinds),
        TEST(a_round_takes_a_bounded_number_the_fresh_first),
        TEST(questions_to_cells_are_bounded),
        TEST(work_is_handed_out_in_parts),
        TEST(reports_are_bounded),
        TEST(reports_that_fail_are_not_heaped_up),
    };
    return cmocka_run_group_tests_name("auction bounds", tests, NULL, NULL);
}

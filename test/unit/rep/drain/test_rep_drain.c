/* A cell that is emptied: who may ask for it, what it takes no more, what becomes of what runs and
 * of its tasks, its limit, and its end. */
#include "common/base/random.h"
#include "rep/drain/drain.h"
#include "rep/driver/driver_io.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/drain/drain_rig.h"

#include <signal.h>
#include <string.h>

#define STATE(name) MODELS__TASK__STATE__##name

static bool is_known(struct rep_rig *g, uint64_t *ret_id)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Board__CellRequest *r = board__cell_request__unpack(NULL, c.body.size, c.body.data);
    assert_non_null(r);
    bool known = r->known;
    board__cell_request__free_unpacked(r, NULL);
    *ret_id = c.id;
    return known;
}

/* Reports of an open incarnation say so, and make no record; where there is none the incarnation is
 * opened. */
static void reports_of_an_open_incarnation_make_no_record(void **state)
{
    SCOPED_REP_RIG(g);
    uint64_t id;
    rep_rig_start(&g);
    assert_false(is_known(&g, &id));
    drain_rig_answer(&g, id);
    rep_rig_feed_open(&g);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_task_work(&g, "t-1", 10); /* not empty, so it does not leave */
    drive_event(&g.d, (struct event){.kind = EVENT_STOP, .stop = STOP_IN_ORDER});
    assert_true(is_known(&g, &id));
    Board__CellResponse answer = BOARD__CELL_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceNotFound;
    error.message = (char *)"cell cell-1 is unknown, or has left: register the cell first";
    answer.error = &error;
    drive_answer(&g.d, id, &answer.base);
    assert_false(g.exited);
    rep_rig_advance(&g, 1000);
    assert_false(is_known(&g, &id));
    drain_rig_answer(&g, id);
}

static void only_the_machine_itself_asks_for_it(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    assert_int_equal(drain_rig_post(&g, false, "client").status, 404);
    static const char *const others[] = {"rep", "bbs", "auctioneer", "converger", "etcd", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(drain_rig_post(&g, true, others[i]).status, 403);
    }
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    struct reply r = drain_rig_post(&g, true, "client");
    assert_int_equal(r.status, 202);
    static const char text[] = "{\"ping_path\":\"/ping\"}";
    assert_int_equal(r.body.size, strlen(text));
    assert_memory_equal(r.body.data, text, strlen(text));
    drain_rig_told(&g);
    assert_int_equal(drain_rig_post(&g, true, "client").status, 202);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    assert_int_equal(rep_rig_work(&g, "other", 100), 1);
    assert_false(rep_rig_task_work(&g, "t-1", 100));
}

static void an_empty_cell_leaves_at_once(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    drain_rig_term(&g);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 1);
    drain_rig_told(&g); /* and only then, lest that comes later and makes the record again */
    drain_rig_leaves(&g);
}

static void what_was_not_heard_is_reported_again_before_it_leaves(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    drain_rig_term(&g);
    drive_unanswered(&g.d, rep_rig_take_call(&g, "/v1/board/cell").id, CALL_UNKNOWN);
    rep_rig_advance(&g, 1000);
    drain_rig_told(&g);
    drain_rig_leaves(&g);
}

/* Records of it may be there that it has not heard of. */
static void it_does_not_leave_by_an_old_copy(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    drive_closed(&g.d, g.feed_id);
    drain_rig_term(&g);
    drain_rig_told(&g);
    drive_advance(&g.d, 3000);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    rep_rig_feed_open(&g);
    drain_rig_leaves(&g);
}

static void a_leave_that_was_not_heard_is_repeated(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    drain_rig_term(&g);
    drain_rig_told(&g);
    drive_unanswered(&g.d, rep_rig_take_call(&g, "/v1/board/cell").id, CALL_UNKNOWN);
    rep_rig_advance(&g, 1000);
    drain_rig_leaves(&g);
}

/* The record of a task that it has rejected still names it. */
static void a_rejected_task_holds_no_cell(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_task_put(&g, rep_rig_task(&g, "t-1", STATE(Pending), RIG_CELL, "attempt-1"));
    drain_rig_term(&g);
    drain_rig_told(&g);
    drain_rig_leaves(&g);
}

static void an_interrupt_leaves_all_running(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    drive_event(&g.d, (struct event){.kind = EVENT_STOP, .stop = STOP_AT_ONCE});
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 0);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
}

static Models__Task *running_task(struct rep_rig *g, const char *attempt)
{
    return rep_rig_task(g, "t-1", STATE(Running), RIG_CELL, attempt);
}

static const char *granted_task(struct rep_rig *g)
{
    assert_true(rep_rig_task_work(g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(g, "start");
    const char *attempt = start.move->task->attempt;
    rep_rig_task_answer(g, start, MODELS__ERROR__TYPE__UnknownError, running_task(g, attempt));
    rep_rig_task_put(g, running_task(g, attempt));
    return attempt;
}

static void a_task_that_has_not_begun_is_rejected(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *attempt = granted_task(&g);
    drain_rig_term(&g);
    drain_rig_told(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
    struct rep_rig_move reject = rep_rig_take_move(&g, "reject");
    assert_string_equal(reject.move->task->error_message, "the cell is being emptied");
    Models__Task *pending = rep_rig_task(&g, "t-1", STATE(Pending), RIG_CELL, attempt);
    rep_rig_task_answer(&g, reject, MODELS__ERROR__TYPE__UnknownError, pending);
    rep_rig_task_put(&g, pending); /* it still names the cell, as Diego's does */
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
}

static void a_task_that_executes_has_until_the_limit(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.evacuation_ns = 30 * SECOND_NS;
    rep_rig_open(&g, NULL, 0);
    const char *attempt = granted_task(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    drain_rig_term(&g);
    drain_rig_told(&g);
    rep_rig_advance(&g, 25000);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_advance(&g, 6000);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, "t-1", 0); /* it says that all is well, and it has not done its work */
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_string_equal(complete.move->task->error_message,
                        "the cell was emptied before it was done");
    assert_string_equal(complete.move->task->attempt, attempt);
}

static void a_task_that_ended_before_the_limit_is_reported_as_it_ended(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.evacuation_ns = 30 * SECOND_NS;
    rep_rig_open(&g, NULL, 0);
    granted_task(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    drain_rig_term(&g);
    drain_rig_told(&g);
    rep_rig_advance(&g, 28000);
    rep_rig_exited(&g, "t-1", 0);
    struct verb_call read = rep_rig_take_verb(&g, VERB_READ);
    drive_event(&g.d, (struct event){.kind = EVENT_VERB,
                                     .verb = {.id = read.id,
                                              .verb = VERB_READ,
                                              .guid = "t-1",
                                              .outcome = VERB_DONE,
                                              .text = "",
                                              .data = {(const uint8_t *)"42", 2}}});
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_false(complete.move->task->failed);
    rep_rig_advance(&g, 3000); /* the limit */
    drive_unanswered(&g.d, complete.id, CALL_UNKNOWN);
    rep_rig_advance(&g, 500);
    complete = rep_rig_take_move(&g, "complete");
    assert_false(complete.move->task->failed);
    assert_string_equal(complete.move->task->result, "42");
}

static void what_crashed_before_the_limit_is_reported_as_a_crash(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.evacuation_ns = 30 * SECOND_NS;
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_exited(&g, guid, 1);
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    drain_rig_term(&g);
    drain_rig_told(&g);
    rep_rig_advance(&g, 31000); /* the limit */
    drive_unanswered(&g.d, crash.id, CALL_UNKNOWN);
    rep_rig_advance(&g, 1000);
    crash = rep_rig_take_move(&g, "evacuate_crashed");
    assert_non_null(strstr(crash.move->instance->error_message, "Exited with status 1"));
}

static void what_runs_is_asked_about_again_and_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    drain_rig_term(&g);
    drain_rig_told(&g);
    struct rep_rig_move m = rep_rig_take_move(&g, "evacuate_running");
    assert_string_equal(m.move->instance->actual_lrp_instance_key->instance_guid, guid);
    assert_non_null(m.move->instance->actual_lrp_net_info);
    /* The answer of these rigs keeps nothing: the container goes, stopped first. */
    rep_rig_move_done(&g, m, NULL);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, guid, 0);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_false(g.exited);
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
}

static void past_the_limit(struct rep_rig *g)
{
    rep_rig_init(g);
    g->config.evacuation_ns = 1; /* so that a rep started again waits no longer either */
    g->config.evacuation = drain_rig_kept(0, 0, RIG_BOOT, true);
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    rep_rig_advance(g, 1);
}

static void what_is_adopted_past_the_limit_is_stopped_in_order(void **state)
{
    struct rep_rig g;
    past_the_limit(&g);
    rep_rig_advance(&g, 16000); /* longer than the grace and the time to be heard */
    assert_false(g.exited);
    struct container_status one = rep_rig_status(&g, "a", "web", CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &one, 1);
    struct verb_call v = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGTERM);
    rep_rig_verb(&g, v, VERB_DONE, "");
    rep_rig_advance(&g, 9000); /* its grace begins now */
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
    assert_false(g.exited);
    rep_rig_advance(&g, 2000);
    v = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGKILL);
    rep_rig_verb(&g, v, VERB_DONE, "");
    rep_rig_advance(&g, 5000);
    rep_rig_take_verb(&g, VERB_REMOVE);
    rep_rig_advance(&g, 5000);
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 1);
    rep_rig_done(&g);
}

static void without_a_listing_it_ends_all_the_same(void **state)
{
    struct rep_rig g;
    past_the_limit(&g);
    rep_rig_advance(&g, 19000);
    assert_false(g.exited);
    rep_rig_advance(&g, 2000);
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 1);
    rep_rig_done(&g);
}

/* The board went back to when this cell was emptied: its rep knows better, and says so (seed
 * 9005072). */
static void an_evacuation_of_a_board_that_went_back_is_not_ours(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    struct call c = rep_rig_take_call(&g, "/v1/board/cell");
    Board__CellRequest *r = board__cell_request__unpack(NULL, c.body.size, c.body.data);
    assert_non_null(r);
    assert_false(r->cell->evacuating);
    board__cell_request__free_unpacked(r, NULL);
    Board__CellResponse answer = BOARD__CELL_RESPONSE__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    cell.incarnation = g.config.incarnation;
    cell.evacuating = true;
    answer.cell = &cell;
    answer.board_generation = (char *)RIG_BOARD_GENERATION;
    drive_answer(&g.d, c.id, &answer.base);
    rep_rig_feed_open(&g);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_run(&g, "web");
    assert_int_equal(rep_rig_said(&g, "evacuation begins"), 0);
}

/* As many as a cell holds at most. EFFECTS_MAX is asserted where effects are made. */
static struct container_status *full_cell(struct rep_rig *g)
{
    struct container_status *list =
        ARENA_ARRAY(&g->arena, DRIVER_CONTAINERS_MAX, struct container_status);
    for (int i = 0; i < DRIVER_CONTAINERS_MAX; i++) {
        const char *guid = arena_printf(&g->arena, "i-%06d", i);
        list[i] = rep_rig_status(g, guid, guid, CONTAINER_RUNNING);
    }
    return list;
}

static void a_full_cell_is_stopped_in_bounded_steps(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.evacuation_ns = 5 * SECOND_NS;
    rep_rig_open(&g, full_cell(&g), DRIVER_CONTAINERS_MAX);
    drain_rig_term(&g);
    rep_rig_advance(&g, 4000);
    g.logs = 0;
    rep_rig_advance(&g, 2000);
    assert_in_range(g.logs, 1, EFFECTS_MAX / 2);
    assert_false(g.exited);
}

static void a_full_cell_is_adopted_past_the_limit(void **state)
{
    struct rep_rig g;
    past_the_limit(&g);
    g.logs = 0;
    rep_rig_answer_list(&g, full_cell(&g), DRIVER_CONTAINERS_MAX);
    assert_in_range(g.logs, 1, EFFECTS_MAX / 2);
    size_t stopped = 0;
    for (int i = 0; i < 10; i++) {
        stopped += rep_rig_verbs(&g, VERB_SIGNAL);
        g.verb_count = 0; /* of a listing, too: it is kept unanswered */
        rep_rig_advance(&g, 1);
    }
    assert_int_equal(stopped, DRIVER_CONTAINERS_MAX);
    rep_rig_done(&g);
}

/* Containers of every kind and in every state, drawn: what adoption finds of an earlier rep. */
static struct container_status *mixed_cell(struct rep_rig *g, uint64_t seed)
{
    struct random random;
    random_seed(&random, (uint64_t[2]){seed, ~seed});
    struct container_status *list =
        ARENA_ARRAY(&g->arena, DRIVER_CONTAINERS_MAX, struct container_status);
    for (int i = 0; i < DRIVER_CONTAINERS_MAX; i++) {
        const char *guid = arena_printf(&g->arena, "i-%06d", i);
        enum container_state state =
            (enum container_state)random_below(&random, CONTAINER_EXITED + 1);
        bool task = random_below(&random, 2);
        list[i] = task ? rep_rig_task_status(g, guid, guid, random_below(&random, 2), state)
                       : rep_rig_status(g, guid, guid, state);
        list[i].exit_code = (int)random_below(&random, 2);
    }
    return list;
}

static void answer_lists(struct rep_rig *g, const struct container_status *list, size_t count)
{
    while (rep_rig_verbs(g, VERB_LIST)) {
        rep_rig_answer_list(g, list, count);
    }
    g->verb_count = 0;
    g->call_count = 0;
}

/* All at once, a moment before the limit or after it; then all that runs ends unseen, or is gone.
 */
static void a_full_cell_is_adopted_about_its_limit_and_ends(void **state)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        SCOPED_REP_RIG(g);
        g.config.evacuation_ns = (int64_t)(seed % 3) * MILLISECOND_NS + 1;
        g.config.evacuation = drain_rig_kept(0, 0, "another", true);
        rep_rig_start(&g);
        rep_rig_answer_incarnation(&g);
        rep_rig_feed_open(&g);
        struct container_status *list = mixed_cell(&g, seed);
        rep_rig_answer_list(&g, list, DRIVER_CONTAINERS_MAX);
        for (int i = 0; i < 3; i++) {
            rep_rig_advance(&g, 1);
            answer_lists(&g, list, DRIVER_CONTAINERS_MAX);
        }
        for (int i = 0; i < DRIVER_CONTAINERS_MAX; i++) {
            list[i].state = CONTAINER_EXITED;
            list[i].text = "";
        }
        for (int i = 0; i < 40 && !g.exited; i++) {
            rep_rig_advance(&g, 1000);
            answer_lists(&g, list, seed % 2 ? DRIVER_CONTAINERS_MAX : 0);
        }
        assert_true(g.exited);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_of_an_open_incarnation_make_no_record),
        cmocka_unit_test(only_the_machine_itself_asks_for_it),
        cmocka_unit_test(an_empty_cell_leaves_at_once),
        cmocka_unit_test(what_was_not_heard_is_reported_again_before_it_leaves),
        cmocka_unit_test(it_does_not_leave_by_an_old_copy),
        cmocka_unit_test(a_leave_that_was_not_heard_is_repeated),
        cmocka_unit_test(a_rejected_task_holds_no_cell),
        cmocka_unit_test(an_interrupt_leaves_all_running),
        cmocka_unit_test(a_task_that_has_not_begun_is_rejected),
        cmocka_unit_test(a_task_that_executes_has_until_the_limit),
        cmocka_unit_test(a_task_that_ended_before_the_limit_is_reported_as_it_ended),
        cmocka_unit_test(what_crashed_before_the_limit_is_reported_as_a_crash),
        cmocka_unit_test(what_runs_is_asked_about_again_and_again),
        cmocka_unit_test(what_is_adopted_past_the_limit_is_stopped_in_order),
        cmocka_unit_test(without_a_listing_it_ends_all_the_same),
        cmocka_unit_test(an_evacuation_of_a_board_that_went_back_is_not_ours),
        cmocka_unit_test(a_full_cell_is_stopped_in_bounded_steps),
        cmocka_unit_test(a_full_cell_is_adopted_past_the_limit),
        cmocka_unit_test(a_full_cell_is_adopted_about_its_limit_and_ends),
    };
    return cmocka_run_group_tests_name("a cell is emptied", tests, NULL, NULL);
}

/* The life of a task on a cell: work, start, container, the note before its process, its outcome;
 * cancelled, refused, rejected, and after every way in which its rep may have died. */
#include "common/codec/scan.h"
#include "common/model/keys.h"
#include "models/task_requests.pb-c.h"
#include "rep/container/note.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <signal.h>
#include <string.h>

#define STATE(name) MODELS__TASK__STATE__##name
#define TYPE(name) MODELS__ERROR__TYPE__##name

#define DONE TYPE(UnknownError) /* refused with nothing: done */

static Models__Task *running(struct rep_rig *g, const char *attempt)
{
    return rep_rig_task(g, "t-1", STATE(Running), RIG_CELL, attempt);
}

static bool notes_executing(struct verb_call v)
{
    Rep__Note *note = rep__note__unpack(NULL, v.note.size, v.note.data);
    assert_non_null(note);
    bool executing = note->task->executing;
    rep__note__free_unpacked(note, NULL);
    return executing;
}

/* Taken and granted; gives the attempt. */
static const char *granted(struct rep_rig *g)
{
    assert_true(rep_rig_task_work(g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(g, "start");
    assert_string_equal(start.move->subject->key, "t-1");
    assert_string_equal(start.move->task->cell_id, RIG_CELL);
    const char *attempt = start.move->task->attempt;
    assert_true(strlen(attempt) > 20);
    assert_int_equal(rep_rig_verbs(g, VERB_PREPARE), 0);
    rep_rig_task_answer(g, start, DONE, running(g, attempt));
    rep_rig_task_put(g, running(g, attempt));
    return attempt;
}

/* And its process runs. */
static const char *executing(struct rep_rig *g)
{
    const char *attempt = granted(g);
    struct verb_call prepare = rep_rig_take_verb(g, VERB_PREPARE);
    assert_false(notes_executing(prepare));
    rep_rig_verb(g, prepare, VERB_DONE, "");
    struct verb_call note = rep_rig_take_verb(g, VERB_NOTE);
    assert_true(notes_executing(note));
    assert_true(note.durable);
    assert_int_equal(rep_rig_verbs(g, VERB_START), 0);
    rep_rig_verb(g, note, VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_START), VERB_DONE, "");
    return attempt;
}

static void answer_read(struct rep_rig *g, struct bytes data)
{
    struct verb_call v = rep_rig_take_verb(g, VERB_READ);
    assert_string_equal(v.path, "/tmp/result");
    drive_event(&g->d, (struct event){.kind = EVENT_VERB,
                                      .verb = {.id = v.id,
                                               .verb = VERB_READ,
                                               .guid = v.guid,
                                               .outcome = VERB_DONE,
                                               .text = "",
                                               .data = data}});
}

/* The container is deleted, all capacity is back, and nothing more is said. */
static void is_gone(struct rep_rig *g)
{
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_REMOVE), VERB_DONE, "");
    rep_rig_advance(g, 70000);
    assert_int_equal(rep_rig_calls(g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(g, VERB_START), 0);
    assert_int_equal(rep_rig_work(g, "big", 1000), 0);
}

static void over(struct rep_rig *g, const char *attempt)
{
    rep_rig_task_delete(g, running(g, attempt));
    is_gone(g);
}

static void open_rig(struct rep_rig *g, const struct container_status *list, size_t count)
{
    rep_rig_init(g);
    rep_rig_open(g, list, count);
}

/* ---- As it should be ------------------------------------------------------------------------- */

static void work_becomes_a_result(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = executing(&g);
    rep_rig_advance(&g, 100000); /* three passes: nothing is said or done twice */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    rep_rig_exited(&g, "t-1", 0);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    answer_read(&g, bytes_of("forty-two"));
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_string_equal(complete.move->task->attempt, attempt);
    assert_false(complete.move->task->failed);
    assert_string_equal(complete.move->task->result, "forty-two");
    assert_string_equal(complete.move->task->error_message, "");
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
    rep_rig_task_answer(&g, complete, DONE, rep_rig_task(&g, "t-1", STATE(Completed), "", attempt));
    over(&g, attempt);
    rep_rig_done(&g);
}

static void a_failure_says_its_status(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = executing(&g);
    rep_rig_exited(&g, "t-1", 3);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_string_equal(complete.move->task->error_message, "STG: Exited with status 3");
    assert_string_equal(complete.move->task->result, "");
    assert_int_equal(rep_rig_verbs(&g, VERB_READ), 0);
    rep_rig_task_answer(&g, complete, DONE, rep_rig_task(&g, "t-1", STATE(Completed), "", attempt));
    over(&g, attempt);
    rep_rig_done(&g);
}

static void without_a_readable_result_it_failed(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct rep_rig g;
        open_rig(&g, NULL, 0);
        executing(&g);
        rep_rig_exited(&g, "t-1", 0);
        if (i == 0) {
            rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_READ), VERB_FAILED, "no such file");
        } else {
            answer_read(&g, (struct bytes){(const uint8_t *)"a\0b", 3});
        }
        struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
        assert_true(complete.move->task->failed);
        assert_string_equal(complete.move->task->error_message, "failed to fetch result");
        assert_string_equal(complete.move->task->result, "");
        rep_rig_done(&g);
    }
}

/* ---- Taking it ------------------------------------------------------------------------------- */

static void work_is_returned(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_false(rep_rig_task_work(&g, "t-big", 1001));
    assert_false(rep_rig_task_work(&g, "", 10));
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    assert_true(rep_rig_task_work(&g, "t-1", 100)); /* is here, and is not reserved twice */
    assert_int_equal(rep_rig_calls(&g, "apply"), 1);
    assert_int_equal(rep_rig_work(&g, "rest", 901), 1);
    assert_int_equal(rep_rig_work(&g, "rest", 900), 0);
    rep_rig_done(&g);
}

static void state_shows_tasks(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = granted(&g);
    for (int over = 0; over < 2; over++) {
        if (over) {
            rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_FAILED, "no");
        }
        rep_rig_request(&g, "auctioneer", "GET", "/state", "application/x-protobuf",
                        (struct bytes){0});
        struct reply reply = rep_rig_take_reply(&g);
        Cell__CellState *s = cell__cell_state__unpack(NULL, reply.body.size, reply.body.data);
        assert_int_equal(s->n_lrps, 0);
        assert_int_equal(s->n_tasks, 1);
        assert_string_equal(s->tasks[0]->taskguid, "t-1");
        assert_string_equal(s->tasks[0]->attempt, attempt);
        assert_string_equal(s->tasks[0]->state, over ? "Completed" : "Running");
        assert_int_equal(s->tasks[0]->failed, over);
        assert_int_equal(s->startingcontainercount, !over);
        assert_int_equal(s->availableresources->memorymb, over ? 1000 : 900);
        assert_int_equal(s->availableresources->containers, 3);
        cell__cell_state__free_unpacked(s, NULL);
    }
    rep_rig_done(&g);
}

/* Its container's name is not longer than drivers take, and is its own. */
static void a_long_guid_is_run(void **state)
{
    char guids[2][256];
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *names[2];
    for (int i = 0; i < 2; i++) {
        memset(guids[i], 'g', 255);
        guids[i][254] = (char)('a' + i);
        guids[i][255] = '\0';
        assert_true(rep_rig_task_work(&g, guids[i], 100));
        struct rep_rig_move start = rep_rig_take_move(&g, "start");
        assert_string_equal(start.move->subject->key, guids[i]);
        rep_rig_task_answer(
            &g, start, DONE,
            rep_rig_task(&g, guids[i], STATE(Running), RIG_CELL, start.move->task->attempt));
        names[i] = rep_rig_take_verb(&g, VERB_PREPARE).guid;
        assert_int_equal(strlen(names[i]), 64);
    }
    assert_string_not_equal(names[0], names[1]);
    rep_rig_done(&g);
}

static void a_start_is_asked_until_it_is_answered(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    const char *attempt = NULL;
    for (int i = 0; i < 20; i++) { /* longer than a reservation lives that was never sent */
        struct rep_rig_move start = rep_rig_take_move(&g, "start");
        assert_true(!attempt || strcmp(attempt, start.move->task->attempt) == 0);
        attempt = start.move->task->attempt;
        drive_unanswered(&g.d, start.id, CALL_UNKNOWN);
        rep_rig_advance(&g, 7000);
    }
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "start"), DONE, running(&g, attempt));
    rep_rig_take_verb(&g, VERB_PREPARE);
    rep_rig_done(&g);
}

static void a_refused_start_drops_the_reservation(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "start"), TYPE(InvalidStateTransition),
                        rep_rig_task(&g, "t-1", STATE(Running), "cell-2", "other"));
    rep_rig_advance(&g, 70000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    assert_int_equal(rep_rig_work(&g, "big", 1000), 0);
    rep_rig_done(&g);
}

/* ---- It cannot be run here ------------------------------------------------------------------- */

static void what_cannot_be_made_is_rejected(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = granted(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_FAILED, "disk full");
    struct rep_rig_move reject = rep_rig_take_move(&g, "reject");
    assert_string_equal(reject.move->task->attempt, attempt);
    assert_string_equal(reject.move->task->error_message, "failed to create container: disk full");
    Models__Task *pending = rep_rig_task(&g, "t-1", STATE(Pending), RIG_CELL, attempt);
    rep_rig_task_answer(&g, reject, DONE, pending);
    rep_rig_task_put(&g, pending); /* its cell_id stays, as in Diego */
    is_gone(&g);
    rep_rig_done(&g);
}

static void without_its_note_it_is_not_started(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    granted(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rep_rig_calls(&g, "apply"), 0);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), i ? VERB_UNCERTAIN : VERB_FAILED, "no");
        rep_rig_advance(&g, 2000);
    }
    rep_rig_take_move(&g, "reject");
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    rep_rig_done(&g);
}

/* What holds the prepared container dies while the note is written: nothing was executed, whatever
 * that ended with, and another cell may fare better. */
static void one_that_ends_before_its_start_is_rejected(void **state)
{
    static const int codes[] = {0, 137};
    static const enum verb_outcome outcomes[] = {VERB_DONE, VERB_FAILED};
    for (size_t i = 0; i < 4; i++) {
        struct rep_rig g;
        open_rig(&g, NULL, 0);
        granted(&g);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
        struct verb_call note = rep_rig_take_verb(&g, VERB_NOTE);
        rep_rig_exited(&g, "t-1", codes[i % 2]);
        rep_rig_verb(&g, note, outcomes[i / 2], "");
        rep_rig_advance(&g, 2000); /* after a failure it waits */
        rep_rig_take_move(&g, "reject");
        assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
        rep_rig_done(&g);
    }
}

static void what_nobody_can_run_fails(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    Models__Task *task = running(&g, start.move->task->attempt);
    Models__Action nothing = MODELS__ACTION__INIT;
    Models__TryAction tries = MODELS__TRY_ACTION__INIT;
    tries.action = &nothing;
    task->task_definition->action->run_action = NULL;
    task->task_definition->action->try_action = &tries;
    rep_rig_task_answer(&g, start, DONE, task);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_string_equal(complete.move->task->error_message, "the definition has no action");
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    rep_rig_done(&g);
}

/* A run action within others, its variable at the deepest place that a request may have. */
static Models__Action *deepest_action(struct arena *a)
{
    static Models__EnvironmentVariable variable = MODELS__ENVIRONMENT_VARIABLE__INIT;
    static Models__EnvironmentVariable *env[] = {&variable};
    enum { DEFINITION = 1, ACTION, RUN, VARIABLE, LEVELS = (SCAN_DEPTH_MAX - VARIABLE) / 2 };
    Models__Action *action = arena_message(a, &models__action__descriptor);
    action->run_action = arena_message(a, &models__run_action__descriptor);
    action->run_action->path = (char *)"x";
    action->run_action->n_env = 1;
    action->run_action->env = env;
    for (int i = 0; i < LEVELS; i++) {
        Models__Action *outer = arena_message(a, &models__action__descriptor);
        outer->try_action = arena_message(a, &models__try_action__descriptor);
        outer->try_action->action = action;
        action = outer;
    }
    return action;
}

/* The answer that shows a task has more around it than the request that brought it. */
static void the_deepest_task_is_read(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    Models__Task *task = running(&g, start.move->task->attempt);
    task->task_definition->action = deepest_action(&g.arena);
    Models__DesireTaskRequest request = MODELS__DESIRE_TASK_REQUEST__INIT;
    request.task_definition = task->task_definition;
    SCOPED_BUF(body);
    buf_message(&body, &request.base);
    assert_int_equal(
        scan_message(request.base.descriptor, buf_bytes(&body), SIZE_MAX, NULL, NULL), 0);
    rep_rig_task_answer(&g, start, DONE, task);
    struct verb_call prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_int_equal(prepare.spec->step_count, 1);
    assert_int_equal(prepare.spec->steps[0].step, (SCAN_DEPTH_MAX - 4) / 2 + 1);
    rep_rig_done(&g);
}

/* As much to decode as a request may bring (12 of 16 MiB), in 260 KB. */
static void make_heavy(struct arena *a, Models__TaskDefinition *d)
{
    enum {
        VARIABLES = 130000,
        HEAVY_BYTES = 11 * 1024 * 1024,
        REQUEST_BYTES_MAX = 16 * 1024 * 1024
    };
    static Models__EnvironmentVariable variable = MODELS__ENVIRONMENT_VARIABLE__INIT;
    d->n_environment_variables = VARIABLES;
    d->environment_variables = ARENA_ARRAY(a, VARIABLES, Models__EnvironmentVariable *);
    for (size_t i = 0; i < VARIABLES; i++) {
        d->environment_variables[i] = &variable;
    }
    SCOPED_BUF(body);
    size_t decoded;
    buf_message(&body, &d->base);
    assert_int_equal(
        scan_message(d->base.descriptor, buf_bytes(&body), SIZE_MAX, &decoded, NULL), 0);
    assert_in_range(decoded, HEAVY_BYTES, REQUEST_BYTES_MAX);
}

/* What waits while all calls are under way travels together, and is granted. Gives how many. */
static size_t grant_next_call(struct rep_rig *g)
{
    struct call c = rep_rig_take_call(g, "/v1/board/apply");
    ProtobufCAllocator allocator = arena_protobuf(&g->arena);
    const Board__ApplyRequest *request =
        board__apply_request__unpack(&allocator, c.body.size, c.body.data);
    Board__ApplyResponse answer = BOARD__APPLY_RESPONSE__INIT;
    answer.results = ARENA_ARRAY(&g->arena, request->n_moves, Board__MoveResult *);
    g->revision++;
    for (; answer.n_results < request->n_moves; answer.n_results++) {
        const Board__Move *move = request->moves[answer.n_results];
        Board__MoveResult *r = arena_message(&g->arena, &board__move_result__descriptor);
        r->outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
        r->revision = g->revision;
        r->task =
            rep_rig_task(g, move->subject->key, STATE(Running), RIG_CELL, move->task->attempt);
        make_heavy(&g->arena, r->task->task_definition);
        answer.results[answer.n_results] = r;
    }
    drive_answer(&g->d, c.id, &answer.base);
    return request->n_moves;
}

static void heavy_tasks_that_start_together_are_read(void **state)
{
    enum { TASKS = 12 };
    SCOPED_REP_RIG(g);
    g.config.containers = TASKS;
    rep_rig_open(&g, NULL, 0);
    for (int i = 0; i < TASKS; i++) {
        assert_true(rep_rig_task_work(&g, arena_printf(&g.arena, "t-%d", i), 10));
    }
    size_t granted_count = 0;
    while (rep_rig_calls(&g, "apply")) {
        granted_count += grant_next_call(&g);
        rep_rig_advance(&g, 1); /* a step makes no more of them than it has memory for */
        assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), granted_count);
    }
    assert_int_equal(granted_count, TASKS);
}

static void a_failed_start_is_its_outcome(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    granted(&g);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_FAILED, "no such program");
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_string_equal(complete.move->task->error_message,
                        "failed to run container: no such program");
    rep_rig_done(&g);
}

/* The driver did not say what became of its start, and the listing says: nothing. */
static void an_unanswered_start_is_not_repeated(void **state)
{
    static const enum container_state found[] = {CONTAINER_PREPARED, CONTAINER_RUNNING,
                                                 CONTAINER_EXITED};
    for (size_t i = 0; i < 3; i++) {
        struct rep_rig g;
        open_rig(&g, NULL, 0);
        const char *attempt = granted(&g);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_UNCERTAIN, "hung");
        rep_rig_advance(&g, 2000);
        struct container_status s = rep_rig_task_status(&g, "t-1", attempt, true, found[i]);
        s.exit_code = 7;
        rep_rig_answer_list(&g, &s, 1);
        assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
        if (found[i] == CONTAINER_RUNNING) {
            rep_rig_exited(&g, "t-1", 7);
        }
        struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
        assert_true(complete.move->task->failed);
        assert_true(
            i == 0 ? strstr(complete.move->task->error_message, "not started twice") != NULL
                   : strcmp(complete.move->task->error_message, "STG: Exited with status 7") == 0);
        rep_rig_advance(&g, 100000);
        assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
        rep_rig_done(&g);
    }
}

/* ---- It is not wanted any more --------------------------------------------------------------- */

static void stopped_and_deleted(struct rep_rig *g)
{
    struct verb_call term = rep_rig_take_verb(g, VERB_SIGNAL);
    assert_int_equal(term.signal, SIGTERM);
    rep_rig_verb(g, term, VERB_DONE, "");
    rep_rig_exited(g, "t-1", 143);
    is_gone(g);
}

static void a_cancel_stops_it(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = executing(&g);
    rep_rig_task_delete(&g, running(&g, attempt));
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "start"), TYPE(InvalidStateTransition),
                        rep_rig_task(&g, "t-1", STATE(Completed), "", attempt));
    stopped_and_deleted(&g);
    /* By the name that its user knows. */
    assert_int_equal(rep_rig_said(&g, "stop asked task_guid=t-1"), 1);
    assert_int_equal(rep_rig_said(&g, "container to be deleted task_guid=t-1"), 1);
    assert_int_equal(rep_rig_said(&g, "instance_guid=t-1"), 0);
    rep_rig_done(&g);
}

static void a_cancel_is_reported(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = executing(&g);
    for (int i = 0; i < 2; i++) {
        rep_rig_request(&g, i ? "bbs" : "stranger", "POST", "/v1/tasks/t-1/cancel", "",
                        (struct bytes){0});
        assert_int_equal(rep_rig_take_reply(&g).status, i ? 202 : 403);
        assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), (size_t)i);
    }
    rep_rig_request(&g, "bbs", "POST", "/v1/tasks/nobody/cancel", "", (struct bytes){0});
    assert_int_equal(rep_rig_take_reply(&g).status, 202);
    rep_rig_task_delete(&g, running(&g, attempt));
    stopped_and_deleted(&g);
    rep_rig_done(&g);
}

/* Cancelled while it waits, is made, and between its note and its process. */
static void a_cancel_ends_what_has_not_begun(void **state)
{
    for (int stage = 0; stage < 3; stage++) {
        struct rep_rig g;
        open_rig(&g, NULL, 0);
        struct rep_rig_move start = {0};
        const char *attempt = "";
        if (stage == 0) {
            assert_true(rep_rig_task_work(&g, "t-1", 100));
            start = rep_rig_take_move(&g, "start");
        } else {
            attempt = granted(&g);
        }
        rep_rig_request(&g, "bbs", "POST", "/v1/tasks/t-1/cancel", "", (struct bytes){0});
        assert_int_equal(rep_rig_take_reply(&g).status, 202);
        if (stage == 0) {
            rep_rig_task_answer(&g, start, TYPE(InvalidStateTransition),
                                rep_rig_task(&g, "t-1", STATE(Completed), "", ""));
            rep_rig_advance(&g, 70000);
            assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
            assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0); /* nothing was made */
        } else {
            rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE),
                         stage == 1 ? VERB_DONE : VERB_FAILED, "");
            assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
            over(&g, attempt);
        }
        rep_rig_done(&g);
    }
}

/* The board says that another attempt has it: it was completed by somebody else's word. */
static void another_attempt_has_it(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    executing(&g);
    rep_rig_task_put(&g, running(&g, "another"));
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "start"), TYPE(InvalidStateTransition),
                        running(&g, "another"));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, "t-1", 143);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    /* And that one has no container. */
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_string_equal(complete.move->task->attempt, "another");
    assert_string_equal(complete.move->task->error_message, "task container does not exist");
    rep_rig_done(&g);
}

/* ---- Desired again under the same guid --------------------------------------------------------
 * */

static Models__Task *again(struct rep_rig *g)
{
    Models__Task *task = rep_rig_task(g, "t-1", STATE(Pending), "", "");
    task->created_at = RIG_TASK_CREATED + 1;
    return task;
}

/* Before its start was granted a reservation is for whatever is desired; from then on for that one.
 */
static void a_grant_is_for_one_task(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->task->created_at, 0);
    rep_rig_task_answer(&g, start, DONE, running(&g, start.move->task->attempt));
    rep_rig_task_put(&g, running(&g, start.move->task->attempt));
    Rep__Note *note;
    struct verb_call prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    struct err err;
    assert_int_equal(note_read(prepare.note, "t-1", &note, &err), 0);
    assert_int_equal(note->task->created_at, RIG_TASK_CREATED);
    rep__note__free_unpacked(note, NULL);
    rep_rig_done(&g);
}

/* The old process is not the new task: it is stopped, its outcome told to nobody, and work for the
 * new one is returned for as long as its container is there. */
static void desired_again_it_is_another(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    const char *attempt = executing(&g);
    assert_false(rep_rig_task_work(&g, "t-1", 100));
    rep_rig_task_delete(&g, running(&g, attempt));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_string_equal(start.move->task->attempt, attempt);
    assert_int_equal(start.move->task->created_at, RIG_TASK_CREATED);
    assert_false(rep_rig_task_work(&g, "t-1", 100));
    rep_rig_task_answer(&g, start, TYPE(ResourceConflict), again(&g));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    assert_false(rep_rig_task_work(&g, "t-1", 100));
    rep_rig_exited(&g, "t-1", 0);
    assert_false(rep_rig_task_work(&g, "t-1", 100));
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_true(rep_rig_task_work(&g, "t-1", 100));
    start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->task->created_at, 0);
    rep_rig_done(&g);
}

/* The same after its end: what it came to is not the new task's outcome. */
static void its_outcome_is_not_anothers(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    executing(&g);
    rep_rig_exited(&g, "t-1", 3);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_int_equal(complete.move->task->created_at, RIG_TASK_CREATED);
    rep_rig_task_answer(&g, complete, TYPE(ResourceConflict), again(&g));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    rep_rig_done(&g);
}

/* And by the note, after its rep died. */
static void a_restarted_rep_knows_which_it_was(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = rep_rig_task_status(&g, "t-1", "a-1", true, CONTAINER_RUNNING);
    rep_rig_open(&g, &s, 1);
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->task->created_at, RIG_TASK_CREATED);
    rep_rig_task_answer(&g, start, TYPE(ResourceConflict), again(&g));
    stopped_and_deleted(&g);
}

/* A conflict about the attempt is not one about the incarnation. */
static void a_conflict_of_its_own(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    executing(&g);
    rep_rig_exited(&g, "t-1", 3);
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "complete"), TYPE(ResourceConflict),
                        running(&g, "another"));
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    rep_rig_take_verb(&g, VERB_REMOVE);
    rep_rig_done(&g);
}

/* ---- After its rep died ---------------------------------------------------------------------- */

enum { NOTHING_THERE = -1 };

/* The board says that it runs here, and this is what the driver has of it. */
static void back(struct rep_rig *g, int state, bool noted, int exit_code)
{
    rep_rig_init(g);
    struct container_status s =
        rep_rig_task_status(g, "t-1", "a-1", noted, (enum container_state)state);
    s.exit_code = exit_code;
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    rep_rig_task_put(g, running(g, "a-1"));
    assert_int_equal(rep_rig_calls(g, "apply"), 0); /* not before it was listed */
    rep_rig_answer_list(g, &s, state != NOTHING_THERE);
}

static void died_before_it_was_prepared(void **state)
{
    struct rep_rig g;
    back(&g, NOTHING_THERE, false, 0);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_string_equal(complete.move->task->attempt, "a-1");
    assert_string_equal(complete.move->task->error_message, "task container does not exist");
    assert_string_equal(complete.move->task->result, "task container does not exist");
    rep_rig_task_answer(&g, complete, DONE, rep_rig_task(&g, "t-1", STATE(Completed), "", "a-1"));
    rep_rig_task_delete(&g, running(&g, "a-1"));
    rep_rig_advance(&g, 70000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_done(&g);
}

static void died_before_its_note(void **state)
{
    struct rep_rig g;
    back(&g, CONTAINER_PREPARED, false, 0);
    struct verb_call note = rep_rig_take_verb(&g, VERB_NOTE);
    assert_true(notes_executing(note));
    rep_rig_verb(&g, note, VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    rep_rig_exited(&g, "t-1", 0);
    answer_read(&g, bytes_of(""));
    assert_false(rep_rig_take_move(&g, "complete").move->task->failed);
    rep_rig_done(&g);
}

static void died_after_its_note(void **state)
{
    struct rep_rig g;
    back(&g, CONTAINER_PREPARED, true, 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_true(complete.move->task->failed);
    assert_non_null(strstr(complete.move->task->error_message, "not started twice"));
    rep_rig_advance(&g, 100000);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    rep_rig_done(&g);
}

static void died_while_it_started(void **state)
{
    struct rep_rig g;
    back(&g, CONTAINER_STARTING, true, 0);
    rep_rig_advance(&g, 2000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    struct container_status s = rep_rig_task_status(&g, "t-1", "a-1", true, CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &s, 1);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    rep_rig_exited(&g, "t-1", 1);
    rep_rig_take_move(&g, "complete");
    rep_rig_done(&g);
}

static void died_while_it_ran(void **state)
{
    struct rep_rig g;
    back(&g, CONTAINER_RUNNING, true, 0);
    rep_rig_advance(&g, 5000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
    rep_rig_exited(&g, "t-1", 0);
    answer_read(&g, bytes_of("late"));
    assert_string_equal(rep_rig_take_move(&g, "complete").move->task->result, "late");
    rep_rig_done(&g);
}

static void died_after_its_end(void **state)
{
    struct rep_rig g;
    back(&g, CONTAINER_EXITED, true, 9);
    struct rep_rig_move complete = rep_rig_take_move(&g, "complete");
    assert_string_equal(complete.move->task->error_message, "STG: Exited with status 9");
    rep_rig_done(&g);
}

/* Its machine was restarted meanwhile. What was not executed may be, elsewhere; nothing that was
 * prepared in another boot is started. */
static void its_machine_was_restarted(void **state)
{
    static const struct {
        enum container_state state;
        bool executing;
        const char *move;
    } rows[] = {
        {CONTAINER_PREPARED, false, "reject"},
        {CONTAINER_PREPARED, true, "complete"},
        {CONTAINER_EXITED, true, "complete"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rep_rig g;
        rep_rig_init(&g);
        struct container_status s =
            rep_rig_task_status(&g, "t-1", "a-1", rows[i].executing, rows[i].state);
        s.text = "its machine was restarted";
        s.rebooted = true;
        rep_rig_start(&g);
        rep_rig_answer_incarnation(&g);
        rep_rig_feed_open(&g);
        rep_rig_task_put(&g, running(&g, "a-1"));
        rep_rig_answer_list(&g, &s, 1);
        struct rep_rig_move over = rep_rig_take_move(&g, rows[i].move);
        assert_string_equal(over.move->task->error_message, "its machine was restarted");
        assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
        assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 0);
        rep_rig_done(&g);
    }
}

/* Its completion is recorded; what remains is asked about and deleted. */
static void died_before_it_was_deleted(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = rep_rig_task_status(&g, "t-1", "a-1", true, CONTAINER_EXITED);
    s.exit_code = 9;
    rep_rig_open(&g, &s, 1);
    rep_rig_task_answer(&g, rep_rig_take_move(&g, "complete"), TYPE(InvalidStateTransition),
                        rep_rig_task(&g, "t-1", STATE(Completed), "", "a-1"));
    is_gone(&g);
}

/* Nobody can tell what it says: that there is none would throw its outcome away. */
static void a_record_of_a_later_version_is_left_alone(void **state)
{
    struct rep_rig g;
    open_rig(&g, NULL, 0);
    executing(&g);
    rep_rig_feed_later_version(&g, key_task(&g.arena, "t-1"));
    rep_rig_advance(&g, 100000); /* three passes */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
    rep_rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_becomes_a_result),
        cmocka_unit_test(a_failure_says_its_status),
        cmocka_unit_test(without_a_readable_result_it_failed),
        cmocka_unit_test(work_is_returned),
        cmocka_unit_test(state_shows_tasks),
        cmocka_unit_test(a_long_guid_is_run),
        cmocka_unit_test(a_start_is_asked_until_it_is_answered),
        cmocka_unit_test(a_refused_start_drops_the_reservation),
        cmocka_unit_test(what_cannot_be_made_is_rejected),
        cmocka_unit_test(without_its_note_it_is_not_started),
        cmocka_unit_test(one_that_ends_before_its_start_is_rejected),
        cmocka_unit_test(what_nobody_can_run_fails),
        cmocka_unit_test(the_deepest_task_is_read),
        cmocka_unit_test(heavy_tasks_that_start_together_are_read),
        cmocka_unit_test(a_failed_start_is_its_outcome),
        cmocka_unit_test(an_unanswered_start_is_not_repeated),
        cmocka_unit_test(a_cancel_stops_it),
        cmocka_unit_test(a_cancel_is_reported),
        cmocka_unit_test(a_cancel_ends_what_has_not_begun),
        cmocka_unit_test(another_attempt_has_it),
        cmocka_unit_test(a_grant_is_for_one_task),
        cmocka_unit_test(desired_again_it_is_another),
        cmocka_unit_test(its_outcome_is_not_anothers),
        cmocka_unit_test(a_restarted_rep_knows_which_it_was),
        cmocka_unit_test(a_conflict_of_its_own),
        cmocka_unit_test(died_before_it_was_prepared),
        cmocka_unit_test(died_before_its_note),
        cmocka_unit_test(died_after_its_note),
        cmocka_unit_test(died_while_it_started),
        cmocka_unit_test(died_while_it_ran),
        cmocka_unit_test(died_after_its_end),
        cmocka_unit_test(its_machine_was_restarted),
        cmocka_unit_test(died_before_it_was_deleted),
        cmocka_unit_test(a_record_of_a_later_version_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tasks: Diego's paths (behaviour.md 13). Each write but desire becomes the named move that it is.
 * Reads give the records as the board holds them. */
#include "bbs/route/opened.h"
#include "bbs/route/read.h"
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "common/model/definition_views.h"

/* ---- reads ----------------------------------------------------------------------------------- */

static const ProtobufCMessage *r2_view(struct arena *a, ProtobufCMessage *decoded)
{
    task_as_r2(a, (Models__Task *)decoded);
    return decoded;
}

static const struct record_viewer r2_viewer = {&models__task__descriptor, r2_view};

static size_t pick_tasks(struct view *v, const void *request, struct picked **ret)
{
    const Models__TasksRequest *r = request;
    Board__Selector selector = read_selector(v, RECORD_TASK);
    selector.domain = r->domain;
    selector.cell_id = r->cell_id;
    return view_pick(v, &selector, ret);
}

static size_t pick_task(struct view *v, const void *request, struct picked **ret)
{
    const char *guid = ((const Models__TaskByGuidRequest *)request)->task_guid;
    return read_pick_one(v, key_task(view_arena(v), guid), ret);
}

static void valid_guid(struct validation *v, const void *request)
{
    valid_task_guid(v, ((const Models__TaskByGuidRequest *)request)->task_guid);
}

const struct read_row read_tasks = {.pick = pick_tasks};
const struct read_row read_tasks_r2 = {
    .pick = pick_tasks, .viewer = &r2_viewer, .differs = task_has_layers};
const struct read_row read_task = {
    .valid = valid_guid, .pick = pick_task, .one = true, .opened = opened_task};
const struct read_row read_task_r2 = {.valid = valid_guid,
                                      .pick = pick_task,
                                      .one = true,
                                      .viewer = &r2_viewer,
                                      .differs = task_has_layers};

/* ---- writes ---------------------------------------------------------------------------------- */

void route_desire_task(struct ask *ask, struct effects *out)
{
    valid_desire_task(&ask->faults, ask->in.request);
    valid_unsealed(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &desire_task_row, out);
    }
}

/* `done` answers; its context is the ask. */
static void run(struct ask *ask, Board__Move *m, op_done *done, struct effects *out)
{
    const struct op_row *op = ask_move(ask, &task_moves, m);
    if (ask_valid(ask, out)) {
        board_op(ask->router->board, op, &ask->in, ask->arena, done, ask, out);
    }
}

/* Only who made it Running is to execute it. */
static void start_answer(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    if (result->end == OP_UNAVAILABLE || result->plan->verdict != PLAN_COMMIT) {
        ask_answer(context, result, out);
        return;
    }
    Models__StartTaskResponse response = MODELS__START_TASK_RESPONSE__INIT;
    response.should_start = true;
    effects_reply_message(out, ask->request_id, &response.base);
}

void route_start_task(struct ask *ask, struct effects *out)
{
    const Models__StartTaskRequest *r = ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "start", r->task_guid);
    m->task->cell_id = r->cell_id;
    run(ask, m, start_answer, out);
}

/* Those that name a task and nothing else. */
static void run_plain(struct ask *ask, const char *name, struct effects *out)
{
    char *guid = ((const Models__TaskGuidRequest *)ask->in.request)->task_guid;
    run(ask, move_new_task(ask->arena, name, guid), ask_answer, out);
}

void route_cancel_task(struct ask *ask, struct effects *out)
{
    run_plain(ask, "cancel", out);
}

void route_resolving_task(struct ask *ask, struct effects *out)
{
    run_plain(ask, "resolving", out);
}

void route_delete_task(struct ask *ask, struct effects *out)
{
    run_plain(ask, "delete", out);
}

void route_fail_task(struct ask *ask, struct effects *out)
{
    const Models__FailTaskRequest *r = ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "fail", r->task_guid);
    m->task->error_message = r->failure_reason;
    run(ask, m, ask_answer, out);
}

void route_reject_task(struct ask *ask, struct effects *out)
{
    const Models__RejectTaskRequest *r = ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "reject", r->task_guid);
    m->task->error_message = r->rejection_reason;
    run(ask, m, ask_answer, out);
}

void route_complete_task(struct ask *ask, struct effects *out)
{
    const Models__CompleteTaskRequest *r = ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "complete", r->task_guid);
    m->task->cell_id = r->cell_id;
    m->task->failed = r->failed;
    m->task->error_message = r->failure_reason;
    m->task->result = r->result;
    run(ask, m, ask_answer, out);
}

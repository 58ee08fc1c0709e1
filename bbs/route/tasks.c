/* Tasks: Diego's paths (behaviour.md 13). Each write but desire becomes the named move that it is.
 * Reads pass the read barrier and give the records as the board holds them. */
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/records.h"
#include "bbs/route/route.h"
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "common/model/definition_views.h"

#include <assert.h>

/* ---- reads ----------------------------------------------------------------------------------- */

static const ProtobufCMessage *r2_view(struct arena *a, ProtobufCMessage *decoded)
{
    task_as_r2(a, (Models__Task *)decoded);
    return decoded;
}

static const struct record_viewer r2_viewer = {&models__task__descriptor, r2_view};

static void add_task(struct records *records, struct blob *task, bool r2)
{
    struct blob *const parts[RECORD_PARTS] = {task};
    if (r2 && task_has_layers(record_body(blob_bytes(task)))) {
        records_add_view(records, parts, &r2_viewer);
    } else {
        records_add(records, parts);
    }
}

static void tasks_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    const Models__TasksRequest *r = (const Models__TasksRequest *)ask->in.request;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(view_arena(v), record_type_name(RECORD_TASK));
    selector.domain = r->domain;
    selector.cell_id = r->cell_id;
    struct blob **blobs;
    size_t count = view_select(v, &selector, &blobs);
    struct records *records = records_new(count);
    for (size_t i = 0; i < count; i++) {
        add_task(records, blobs[i], r2);
    }
    records_answer(records, ask->request_id, out);
}

static void tasks_r2_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    tasks_read(context, v, true, out);
}

static void tasks_r3_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    tasks_read(context, v, false, out);
}

void route_list_tasks_r2(struct ask *ask, struct effects *out)
{
    ask_read(ask, tasks_r2_read, out);
}

void route_list_tasks(struct ask *ask, struct effects *out)
{
    ask_read(ask, tasks_r3_read, out);
}

static void task_read(struct ask *ask, struct view *v, bool r2, struct effects *out)
{
    const char *guid = ((const Models__TaskByGuidRequest *)ask->in.request)->task_guid;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const struct seen *seen = view_peek(v, key_task(view_arena(v), guid));
    if (!seen) {
        answer_error(out, ask->request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                     error_text(MODELS__ERROR__TYPE__ResourceNotFound));
        return;
    }
    struct records *records = records_new(1);
    add_task(records, seen->blob, r2);
    records_answer(records, ask->request_id, out);
}

static void task_r2_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    task_read(context, v, true, out);
}

static void task_r3_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    task_read(context, v, false, out);
}

static void get_task(struct ask *ask, board_read *read, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_task_guid(&v, ((const Models__TaskByGuidRequest *)ask->in.request)->task_guid);
    if (ask_valid(ask, &v, out)) {
        ask_read(ask, read, out);
    }
}

void route_get_task_r2(struct ask *ask, struct effects *out)
{
    get_task(ask, task_r2_read, out);
}

void route_get_task(struct ask *ask, struct effects *out)
{
    get_task(ask, task_r3_read, out);
}

/* ---- writes ---------------------------------------------------------------------------------- */

void route_desire_task(struct ask *ask, struct effects *out)
{
    struct validation v;
    validation_init(&v);
    valid_desire_task(&v, (const Models__DesireTaskRequest *)ask->in.request);
    if (ask_valid(ask, &v, out)) {
        ask_op(ask, &desire_task_row, out);
    }
}

/* `done` answers; its context is the ask. */
static void run(struct ask *ask, Board__Move *m, op_done *done, struct effects *out)
{
    const struct move_row *row = move_row_named(&task_moves, m->move);
    assert(row);
    struct validation v;
    validation_init(&v);
    row->valid(&v, m);
    if (ask_valid(ask, &v, out)) {
        ask->in.request = &m->base;
        board_op(ask->router->board, row->op, &ask->in, ask->arena, done, ask, out);
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
    const Models__StartTaskRequest *r = (const Models__StartTaskRequest *)ask->in.request;
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
    const Models__FailTaskRequest *r = (const Models__FailTaskRequest *)ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "fail", r->task_guid);
    m->task->error_message = r->failure_reason;
    run(ask, m, ask_answer, out);
}

void route_reject_task(struct ask *ask, struct effects *out)
{
    const Models__RejectTaskRequest *r = (const Models__RejectTaskRequest *)ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "reject", r->task_guid);
    m->task->error_message = r->rejection_reason;
    run(ask, m, ask_answer, out);
}

void route_complete_task(struct ask *ask, struct effects *out)
{
    const Models__CompleteTaskRequest *r = (const Models__CompleteTaskRequest *)ask->in.request;
    Board__Move *m = move_new_task(ask->arena, "complete", r->task_guid);
    m->task->cell_id = r->cell_id;
    m->task->failed = r->failed;
    m->task->error_message = r->failure_reason;
    m->task->result = r->result;
    run(ask, m, ask_answer, out);
}

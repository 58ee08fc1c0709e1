#include "rep/task/cell_task.h"

#include "common/model/keys.h"
#include "common/model/sealed_values.h"
#include "models/task_requests.pb-c.h"
#include "rep/container/join.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/pull.h"
#include "rep/container/room.h"
#include "rep/container/spec.h"
#include "rep/container/steps.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

/* A record has at most 1 MiB (design.md 2); decoded, some times that. */
enum { TASK_DECODED_MAX = 16 * 1024 * 1024 };

/* ---- What it is called ----------------------------------------------------------------------- */

static const char *words(const struct container *c, struct arena *a)
{
    return arena_printf(a, "task_guid=%s", c->about->task->guid);
}

static const char *origin(const struct container *c, struct arena *a)
{
    return arena_printf(a, "attempt=%s", c->about->task->attempt);
}

static const char *label(const struct container *c, struct arena *a)
{
    return arena_strdup(a, c->about->task->guid);
}

/* ---- What is known of it --------------------------------------------------------------------- */

static bool is_executing(const struct container *c)
{
    return task_step_side(c->step) == TASK_EXECUTING;
}

/* Within its phase; the phase moves with container_transition(). */
static void set_step(struct container *c, enum task_step step)
{
    assert(task_step_phase(step) == c->phase);
    c->table->version += task_step_failed(step) != task_step_failed(c->step); /* /state shows it */
    c->step = step;
}

static void set_executing(struct container *c)
{
    c->about->task->executing = true;
    c->table->version++;
}

/* The table's word on what the feed says. Where it would delete, a bbs is asked first. Before the
 * feed brought its first snapshot an unseen record says nothing: wait for it. */
static struct harmony judge(const struct rep *r, const struct container *c,
                            enum harmony_task_record seen)
{
    if (seen == TASK_RECORD_IS_UNSEEN && r->feed_client.revision == 0) {
        return (struct harmony){0, HARMONY_NOTHING, "the board is not known yet"};
    }
    struct harmony h = harmonise_task(task_step_side(c->step), seen);
    if (h.action == HARMONY_DELETE) {
        h.action = harmony_task_question(task_step_side(c->step));
    }
    return h;
}

/* Whatever became of the note. */
static void found(struct container *c, enum container_state state)
{
    if (state != CONTAINER_PREPARED) {
        set_executing(c);
    }
}

/* What was prepared may go on from here, but in another boot of the machine. Whether the process of
 * one that says executing was asked for, nobody can tell any more. */
static void adopted(struct container *c, const struct container_status *s, struct effects *out)
{
    if (s->state == CONTAINER_PREPARED) {
        container_transition(c, PHASE_TRIGGER_PREPARED, "prepared by an earlier rep", out);
    }
    if (s->state == CONTAINER_PREPARED && s->rebooted) {
        container_never_ran(c, s->text, out);
    } else if (c->phase == PHASE_CREATED && is_executing(c)) {
        set_step(c, STEP_STARTED);
    }
}

static void entered(struct container *c)
{
    c->step = task_step_entered(c->phase, c->about->task->executing);
    assert(c->phase == PHASE_NONE || task_step_phase(c->step) == c->phase);
}

/* ---- Towards its process --------------------------------------------------------------------- */

/* No other cell could do better. */
static void hopeless(struct container *c, const char *why, struct effects *out)
{
    container_complete(c, PHASE_TRIGGER_FAILED, why, out);
    assert(c->step == STEP_REJECTABLE);
    set_step(c, STEP_FAILED);
}

/* By this definition, of which the spec borrows. */
static void prepare_as(struct rep *r, struct container *c,
                       const Models__TaskDefinition *definition, struct effects *out)
{
    struct err err;
    assert(!is_executing(c));
    if (!definition || spec_check_task(definition, &err) < 0) {
        hopeless(c, definition ? arena_strdup(out->arena, err.text) : "it has no definition", out);
        return;
    }
    const char *why = room_refuses(r, c, definition->network, definition->privileged, out->arena);
    if (why) {
        hopeless(c, why, out);
        return;
    }
    if (pull_first(r, c, definition->root_fs, definition->image_username,
                   definition->image_password, out)) {
        return;
    }
    Rep__Note *note = spec_note_task(c->about, definition);
    join_tell_network(r, note);
    container_learn(c, note);
    struct container_spec *spec = ARENA_NEW(out->arena, struct container_spec);
    spec_make_task(out->arena, definition, c->about, r->config.address, c->image, spec);
    if (!pull_suits(c, spec, out)) {
        return;
    }
    struct verb_call *call = operation_verb(r, c, OP_PREPARE, out);
    call->spec = spec;
    call->note = note_pack(out->arena, c->about);
    c->made = true;
}

static void fetch_failed(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    boards_failed(&r->boards, c->op_url);
    operation_retry_later(r, c);
    effects_log(out, LOG_WARN_LEVEL, "task not fetched", "task_guid=%s url=%s why=\"%s\"",
                c->about->task->guid, c->op_url, why);
}

static void definition_came(void *context, const struct response *response, struct effects *out)
{
    struct container *c = context;
    struct rep *r = c->table->rep;
    const char *why = "an answer without a task";
    assert(c->op == OP_FETCH);
    c->op = OP_NONE;
    container_touch(c);
    if (c->step != STEP_GRANTED || c->pull_id ||
        judge(r, c, knowledge_task_seen(&r->knowledge, c->about->task)).action != HARMONY_GO_ON) {
        return; /* look_at() sees to it */
    }
    const Models__TaskResponse *answer = (const Models__TaskResponse *)boards_answer(
        out->arena, response, &models__task_response__descriptor, TASK_DECODED_MAX, &why);
    const Models__Error *error = answer ? answer->error : NULL;
    const Models__Task *task = answer ? answer->task : NULL;
    if (error || !task || strcmp(task->attempt, c->about->task->attempt) != 0) {
        fetch_failed(r, c, error ? error->message : why, out);
    } else if (sealed_values_any(&task->base)) {
        fetch_failed(r, c, "its secrets are not opened for this cell yet", out);
    } else {
        prepare_as(r, c, task->task_definition, out);
    }
}

/* What this rep knows of the board has secrets sealed: a bbs opens them for who runs the task. */
static void fetch(struct rep *r, struct container *c, struct effects *out)
{
    Models__TaskByGuidRequest request = MODELS__TASK_BY_GUID_REQUEST__INIT;
    request.task_guid = c->about->task->guid;
    assert(c->op == OP_NONE);
    c->op = OP_FETCH;
    c->op_url = boards_url(&r->boards);
    c->op_id = boards_call(&r->boards, out, "/v1/tasks/get_by_task_guid.r3", "", &request.base,
                           r->now.mono_ns + BOARD_CALL_TIMEOUT_NS);
    askers_add(&r->askers, c->op_id, definition_came, c);
}

static void prepare(struct rep *r, struct container *c, struct effects *out)
{
    enum harmony_task_record seen;
    const Models__Task *record = /* the spec borrows from it */
        knowledge_task(&r->knowledge, out->arena, c->about->task, &seen);
    assert(record && !is_executing(c));
    if (sealed_values_any(&record->base)) {
        fetch(r, c, out);
    } else {
        prepare_as(r, c, record->task_definition, out);
    }
}

/* What will be so, on the disk before it is: whatever befalls this rep, none after it starts the
 * task again. */
static void note_executing(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->phase == PHASE_CREATED && !is_executing(c));
    Rep__Note note = *c->about; /* shallow: only packed */
    Rep__TaskNote task = *c->about->task;
    task.executing = true;
    note.task = &task;
    struct verb_call *call = operation_verb(r, c, OP_NOTE, out);
    call->note = note_pack(out->arena, &note);
    call->durable = true;
}

static void start(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->step == STEP_NOTED && c->about->task->executing); /* on the disk */
    set_step(c, STEP_STARTED);
    operation_verb(r, c, OP_START, out);
}

/* Found out by a listing, or left by an earlier rep. */
static void never_started(struct rep *r, struct container *c, struct effects *out)
{
    (void)r;
    container_complete(c, PHASE_TRIGGER_FAILED,
                       "failed to run container: its start came to nothing, and a task is not "
                       "started twice",
                       out);
}

/* What brings a granted task one step further. */
static void (*const go_on[TASK_STEP_COUNT])(struct rep *r, struct container *c,
                                            struct effects *out) = {
    [STEP_GRANTED] = prepare,
    [STEP_MADE] = note_executing,
    [STEP_NOTED] = start,
    [STEP_STARTED] = never_started,
};

/* Its start is granted. */
static void advance(struct rep *r, struct container *c, struct effects *out)
{
    if (c->uncertain) {
        listing_want(&r->listing);
        return;
    }
    if (c->steps.inside || c->pull_id || operation_must_wait(r, c)) {
        return;
    }
    if (c->phase == PHASE_RESERVED) {
        container_transition(c, PHASE_TRIGGER_CLAIMED, "its start is recorded", out);
    }
    if (c->step == STEP_MADE && steps_bring(r, c)) {
        return;
    }
    if (go_on[c->step] && c->attempts >= LAUNCH_ATTEMPTS_MAX) {
        container_complete(c, PHASE_TRIGGER_FAILED, LAUNCH_UNANSWERED, out);
    } else if (go_on[c->step]) {
        go_on[c->step](r, c, out);
    }
}

static void noted(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out)
{
    if (answer->outcome == VERB_DONE) {
        set_executing(c);
        c->failures = 0;
        if (c->phase == PHASE_CREATED) { /* else what was prepared has ended meanwhile */
            set_step(c, STEP_NOTED);
        }
        return;
    }
    effects_log(out, LOG_WARN_LEVEL, "note not written", "task_guid=%s why=\"%s\"",
                c->about->task->guid, answer->text);
    c->attempts++;
    operation_retry_later(r, c);
}

/* ---- Its outcome ----------------------------------------------------------------------------- */

static void no_result(struct container *c, const char *why, struct effects *out)
{
    effects_log(out, LOG_WARN_LEVEL, "result not fetched", "task_guid=%s file=\"%s\" why=\"%s\"",
                c->about->task->guid, c->about->task->result_file, why);
    set_step(c, STEP_FAILED);
    container_set_text(c, "failed to fetch result");
}

static void fetched(struct rep *r, struct container *c, const struct verb_answer *answer,
                    struct effects *out)
{
    struct bytes data = answer->data;
    if (answer->outcome == VERB_UNCERTAIN && ++c->attempts < LAUNCH_ATTEMPTS_MAX) {
        operation_retry_later(r, c);
    } else if (answer->outcome != VERB_DONE) {
        no_result(c, answer->text, out);
    } else if (memchr(data.size ? (const char *)data.data : "x", 0, data.size)) {
        no_result(c, "it is no text: there is a NUL in it", out);
    } else {
        set_step(c, STEP_SUCCEEDED);
        c->result = strndup(data.size ? (const char *)data.data : "", data.size);
        assert(c->result);
    }
}

/* One that was stopped in the middle has not done its work, whatever it makes of that
 * (docs/tasks.md, Evacuation); nor has one that ended before it was executed. */
static void ended_well(struct container *c)
{
    if (c->step == STEP_REJECTABLE) {
        return;
    }
    if (c->end == END_SHUTDOWN) {
        container_set_text(c, "the cell was emptied before it was done");
    } else {
        set_step(c, c->about->task->result_file[0] ? STEP_ENDED : STEP_SUCCEEDED);
    }
}

static void read_result(struct rep *r, struct container *c, struct effects *out)
{
    if (!operation_must_wait(r, c)) {
        operation_verb(r, c, OP_READ, out)->path =
            arena_strdup(out->arena, c->about->task->result_file);
    }
}

/* ---- The driver has answered ----------------------------------------------------------------- */

static void verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out)
{
    if (answer->verb == VERB_PREPARE || answer->verb == VERB_START) {
        operation_launched(r, c, answer, "run", out);
    } else if (answer->verb == VERB_NOTE) {
        noted(r, c, answer, out);
    } else if (answer->verb == VERB_READ) {
        fetched(r, c, answer, out);
    }
}

/* The cell is being emptied, and it has not begun: another one is to run it. */
static void turn_down(struct container *c, struct effects *out)
{
    assert(!is_executing(c));
    if (c->phase == PHASE_RESERVED) {
        container_transition(c, PHASE_TRIGGER_CLAIMED, "its start is recorded", out);
    }
    container_complete(c, PHASE_TRIGGER_FAILED, "the cell is being emptied", out);
}

/* ---- What the table says --------------------------------------------------------------------- */

/* A message may come late, when a task of that guid has been desired again and is here. */
static bool is_meant(const struct container *c, const char *task_guid, const char *attempt)
{
    const Rep__TaskNote *task = c->about->task;
    return task && strcmp(task->guid, task_guid) == 0 &&
           (!attempt || !attempt[0] || strcmp(task->attempt, attempt) == 0);
}

void cell_task_cancel(struct rep *r, const char *task_guid, const char *attempt,
                      struct effects *out)
{
    struct container *c =
        container_find(&r->containers, note_name_of_task(out->arena, task_guid));
    if (c && is_meant(c, task_guid, attempt)) {
        container_abandon(c, "a bbs says that it is cancelled", out);
    }
}

static void carry_out(struct rep *r, struct container *c, struct effects *out)
{
    enum harmony_task_record seen;
    struct arena scratch; /* a definition may be long, and many are looked at in one step */
    arena_init(&scratch);
    const Models__Task *record = knowledge_task(&r->knowledge, &scratch, c->about->task, &seen);
    struct harmony h = judge(r, c, seen);
    bool on = h.action == HARMONY_GO_ON;
    assert(!on || record);
    if (on && !c->about->task->created_at) {
        c->about->task->created_at = record->created_at; /* granted: it is this one's from now on */
    }
    arena_done(&scratch);
    if (on && r->drain.on && !is_executing(c) && !c->uncertain) {
        turn_down(c, out);
    } else if (on) {
        advance(r, c, out);
    } else if (h.action == HARMONY_COMPLETE && c->step == STEP_ENDED) {
        read_result(r, c, out);
    } else if (harmony_is_move(h.action)) {
        moves_want(r, c, h.action);
    }
}

static const char *look_at(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->op == OP_NONE && c->about->task);
    if (c->step == STEP_OFFERED) {
        bool late = r->now.mono_ns >= c->reserved_until_ns;
        if (late || r->drain.on) {
            return late ? "the reservation was not used in time" : "the cell is being emptied";
        }
        container_due(c, c->reserved_until_ns);
    }
    if (c->end == END_DISOWNED && c->phase == PHASE_COMPLETED) {
        container_delete(c, "nobody waits for it", out);
    } else if (container_stop_asked(c) && c->phase == PHASE_RUNNING) {
        operation_signal(r, c, out);
    } else {
        carry_out(r, c, out);
    }
    if (c->uncertain) {
        listing_want(&r->listing);
    }
    return NULL;
}

/* ---- Its record ------------------------------------------------------------------------------ */

static void refused(struct rep *r, struct container *c, enum harmony_action action,
                    const Models__Error *error, struct effects *out)
{
    Models__Error__Type type = error ? error->type : MODELS__ERROR__TYPE__UnknownError;
    enum harmony_task_record seen = knowledge_task_seen(&r->knowledge, c->about->task);
    struct harmony h = harmonise_task_refused(task_step_side(c->step), seen, action, type);
    effects_log(out, LOG_INFO_LEVEL, "move refused",
                "task_guid=%s move=%s error=%d row=%d then=%s why=\"%s\"", c->about->task->guid,
                harmony_action_name(action), (int)type, h.row, harmony_action_name(h.action),
                h.why);
    if (h.action == HARMONY_DELETE) {
        container_abandon(c, h.why, out);
    } else {
        operation_retry_later(r, c);
    }
}

static void settled(struct rep *r, struct container *c, const struct move_order *o,
                    const Board__MoveResult *result, struct effects *out)
{
    enum harmony_action action = o->action;
    assert(harmony_is_move(action));
    cell_task_learn(r, key_task(out->arena, c->about->task->guid), result);
    if (result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED) {
        refused(r, c, action, result->error, out);
        return;
    }
    c->failures = 0;
    c->retry_ns = 0;
    if (action == HARMONY_COMPLETE) {
        container_delete(c, "its outcome is recorded", out);
    } else if (action == HARMONY_REJECT) {
        container_delete(c, "it is rejected", out);
    } else {
        enum harmony_task_record seen = knowledge_task_seen(&r->knowledge, c->about->task);
        if (!harmony_is_rest(judge(r, c, seen).action)) {
            operation_retry_later(r, c); /* what is known is newer, and says otherwise */
        }
    }
}

static void on_record(struct rep *r, const char *key, const struct followed *record,
                      struct effects *out)
{
    (void)record;
    const char *guid = key_component(out->arena, key, 1);
    struct container *c = container_find(&r->containers, note_name_of_task(out->arena, guid));
    if (c) {
        container_touch(c);
    } else {
        moves_look_at_stray(r, key, out);
    }
}

static const char *record_key(const struct rep *r, const struct container *c, struct arena *a)
{
    (void)r;
    return key_task(a, c->about->task->guid);
}

/* ---- What the cell tells of it --------------------------------------------------------------- */

static void state(const struct container *c, struct arena *a, Cell__CellState *s)
{
    const Rep__Note *about = c->about;
    bool over = c->phase == PHASE_COMPLETED;
    Cell__Task *to = arena_message(a, &cell__task__descriptor);
    to->taskguid = about->task->guid;
    to->domain = about->task->domain;
    to->n_placementtags = about->n_placement_tags;
    to->placementtags = about->placement_tags;
    to->rootfs = about->root_fs;
    to->memorymb = about->memory_mb;
    to->diskmb = about->disk_mb;
    to->maxpids = about->max_pids;
    to->state = (char *)(over ? "Completed" : "Running");
    to->failed = task_step_failed(c->step);
    to->attempt = about->task->attempt;
    assert(s->n_lrps + s->n_tasks < c->table->by_guid.count);
    s->tasks[s->n_tasks++] = to;
}

static void measured(const struct container *c, struct arena *a, Cell__ContainerMetrics *figures,
                     Cell__CellMetrics *all)
{
    Cell__TaskMetrics *m = arena_message(a, &cell__task_metrics__descriptor);
    m->task_guid = c->about->task->guid;
    m->metrics = figures;
    all->tasks[all->n_tasks++] = m;
}

const struct container_kind task_kind = {
    .words = words,
    .origin = origin,
    .label = label,
    .look_at = look_at,
    .verb = verb,
    .entered = entered,
    .ended_well = ended_well,
    .found = found,
    .adopted = adopted,
    .record = on_record,
    .record_key = record_key,
    .move = cell_task_move,
    .settled = settled,
    .stray = cell_task_stray,
    .stray_move = cell_task_stray_move,
    .stray_settled = cell_task_stray_settled,
    .state = state,
    .measured = measured,
};

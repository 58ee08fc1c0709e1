#include "bbs/task/task.h"

#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

#include <assert.h>
#include <string.h>

_Static_assert((int)MODELS__TASK__STATE__Pending == (int)TASK_PENDING &&
                   (int)MODELS__TASK__STATE__Running == (int)TASK_RUNNING &&
                   (int)MODELS__TASK__STATE__Completed == (int)TASK_COMPLETED &&
                   (int)MODELS__TASK__STATE__Resolving == (int)TASK_RESOLVING,
               "the wire's numbers are the table's");

int task_state(const Models__Task *task)
{
    int state = task ? (int)task->state : TASK_NONE;
    bool known = !task || (state > TASK_NONE && state < TASK_STATE_COUNT);
    return known ? state : -1;
}

const Board__Move *task_move(const struct task_snapshot *s, const struct op_input *in,
                             struct plan *p)
{
    const Board__Move *m = (const Board__Move *)in->request;
    if (in->actor == ACTOR_REP && strcmp(m->cell_id, in->peer_name) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest, "cell %s may not move tasks of cell %s",
                    in->peer_name, m->cell_id[0] ? m->cell_id : "(none)");
        return NULL;
    }
    if (!move_speaker_authorised(&s->by, in, p)) {
        return NULL;
    }
    if (!s->task) {
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return NULL;
    }
    p->record = &s->task->base;
    if (m->task_created_at && m->task_created_at != s->task->created_at) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not the one that this cell was granted: it was desired anew",
                    s->task->task_guid);
        return NULL;
    }
    return m;
}

const char *task_callback_url(const Models__Task *task)
{
    return task->task_definition ? task->task_definition->completion_callback_url : "";
}

bool task_awaited(const struct task_snapshot *s, struct moment now)
{
    return task_callback_url(s->task)[0] &&
           kept_left_ns(TASK_KEEP_UNDELIVERED_NS, s->task->first_completed_at, s->seen, s->made,
                        now) > 0;
}

int64_t task_limit_ns(const struct op_input *in, int64_t default_ns)
{
    int64_t said = ((const Board__Move *)in->request)->after_ns;
    return said > 0 ? said : default_ns;
}

/* Fewer than were offered: the board was restored to what it was before; nothing of the offer is over
 * by that (docs/tasks.md, Once). */
static bool same_offer(const Models__Task *task, const Board__Move *m)
{
    bool told = m->optional_task_rejections_case ==
                BOARD__MOVE__OPTIONAL_TASK_REJECTIONS_TASK_REJECTIONS;
    return !told || task->rejection_count <= m->task_rejections;
}

uint32_t task_guards(const Models__Task *task, const Board__Move *m)
{
    bool cell = strcmp(task->cell_id, m->cell_id) == 0;
    bool attempt = cell && strcmp(task->attempt, m->attempt) == 0;
    return (cell ? TASK_IF_SAME_CELL : 0) |
           (attempt ? TASK_IF_SAME_ATTEMPT : TASK_IF_OTHER_ATTEMPT) |
           (same_offer(task, m) ? TASK_IF_SAME_OFFER : 0);
}

void task_refuse_transition(struct plan *p, const Models__Task *task, int to)
{
    int from = task_state(task);
    plan_refuse(p, MODELS__ERROR__TYPE__InvalidStateTransition, "Cannot transition from %s to %s",
                from < 0 ? "Invalid" : task_lifecycle.states[from], task_lifecycle.states[to]);
}

Models__Task *task_change(struct arena *a, const Models__Task *before, int state, struct moment now)
{
    Models__Task *after = arena_copy(a, before, sizeof(*before));
    after->state = (Models__Task__State)state;
    after->updated_at = now.wall_ns > before->updated_at ? now.wall_ns : before->updated_at;
    return after;
}

Models__Task *task_completed(struct arena *a, const Models__Task *before, bool failed,
                             const char *reason, const char *result, struct moment now)
{
    Models__Task *after = task_change(a, before, TASK_COMPLETED, now);
    after->first_completed_at = after->updated_at;
    after->failed = failed;
    after->failure_reason = actual_cut_text(a, reason);
    after->result = (char *)(uintptr_t)result;
    /* A Pending one has the id of the cell that rejected it: there it has not run. */
    after->ran_on_cell_id =
        task_state(before) == TASK_RUNNING ? before->cell_id : before->ran_on_cell_id;
    after->cell_id = (char *)(uintptr_t)protobuf_c_empty_string;
    return after;
}

void task_put(struct plan *p, const struct op_input *in, const Models__Task *task, const char *name)
{
    if (models__task__get_packed_size(task) > TASK_BYTES_MAX) {
        plan_refuse_as(p, MODELS__ERROR__TYPE__InvalidRequest);
        return;
    }
    p->record = &task->base;
    plan_put(p, key_task(p->arena, task->task_guid), name, in->actor, &task->base);
}

void task_over(struct plan *p, const struct op_input *in, const Models__Task *task,
               const char *name)
{
    task_put(p, in, task, name);
    if (p->verdict == PLAN_COMMIT && task_callback_url(task)[0]) {
        plan_notice_callback(p, task->task_guid);
    }
}

void task_delete(struct plan *p, const struct op_input *in, const Models__Task *task,
                 const char *name)
{
    p->record = NULL;
    plan_delete(p, key_task(p->arena, task->task_guid), name, in->actor);
}

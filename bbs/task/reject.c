/* reject: no cell could take the task, or its cell could not execute it (behaviour.md 13.3;
 * docs/tasks.md, Once). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

static bool retries_spent(const Models__Task *task)
{
    bool given = task->optional_max_retries_case == MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
    return task->rejection_count >= (given ? task->max_retries : TASK_MAX_RETRIES);
}

static void refuse(struct plan *p, const Models__Task *task, const struct op_input *in,
                   bool spent)
{
    if (in->actor != ACTOR_CLIENT) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not what the %s rejects: it is %s, and has moved on",
                    task->task_guid, actor_name(in->actor),
                    task_state(task) < 0 ? "of an unknown state"
                                         : task_lifecycle.states[task_state(task)]);
    } else if (spent) {
        task_refuse_transition(p, task, TASK_COMPLETED);
    } else {
        plan_refuse_as(p, MODELS__ERROR__TYPE__InvalidRequest);
    }
}

/* What a rejection leaves on the task, whatever becomes of it. */
static void note_rejection(struct arena *a, const Board__Move *m, Models__Task *after)
{
    after->rejection_count++;
    after->rejection_reason = actual_cut_text(a, m->error_message);
}

/* 1. No such task: ResourceNotFound.
 * 2. The lifecycle forbids it. Our own roles, whose attempt or revision is another: ResourceConflict.
 *    A client: InvalidRequest, or InvalidStateTransition to Completed when its rejections are spent.
 * 3. The same attempt again, when it is Pending: nothing.
 * 4. Rejected max_retries times before: Completed, failed, for the reason given, which is that of one
 *    rejection more.
 * 5. Pending, with one rejection more and the reason; the cell's id and the attempt stay. */
void task_reject_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    const Board__Move *m = task_move(s, in, p); /* 1 */
    if (!m) {
        return;
    }
    uint32_t guards = task_guards(s->task, m);
    guards |= retries_spent(s->task) ? TASK_IF_RETRIES_SPENT : 0;
    guards |= s->revision == m->task_revision ? TASK_IF_SAME_REVISION : 0;
    int from = task_state(s->task);
    int to = lifecycle_move(&task_lifecycle, from, in->actor, TASK_NEWS_REJECT, guards);
    if (to < 0) { /* 2 */
        refuse(p, s->task, in, guards & TASK_IF_RETRIES_SPENT);
    } else if (to == from && in->actor == ACTOR_REP) { /* 3 */
        return;
    } else if (to == TASK_COMPLETED) { /* 4 */
        Models__Task *after =
            task_completed(p->arena, s->task, true, m->error_message, "", in->now);
        note_rejection(p->arena, m, after);
        task_over(p, in, after, "reject");
    } else { /* 5 */
        Models__Task *after = task_change(p->arena, s->task, to, in->now);
        note_rejection(p->arena, m, after);
        task_put(p, in, after, "reject");
    }
}

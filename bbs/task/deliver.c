/* deliver: the callback of a task that is over has not been heard, and is tried again (behaviour.md
 * 14.2; docs/tasks.md, Completion). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Completed, or without a callback URL, or over for 7 days: ResourceConflict.
 * 3. Nothing changes, no event; this bbs calls. */
void task_deliver_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_DELIVER,
                            task_awaited(s, in->now) ? TASK_IF_AWAITED : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not Completed, or nobody awaits its callback",
                    s->task->task_guid);
        return;
    }
    plan_notice_callback(p, s->task->task_guid); /* 3 */
}

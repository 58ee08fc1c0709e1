/* ask: the task still waits for a cell, and the auctioneer is told again (behaviour.md 14.2). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Pending: ResourceConflict, the question is out of date.
 * 3. Nothing changes, no event; the auctioneer is told. */
void task_ask_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_ASK, 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "task %s awaits no placement",
                    s->task->task_guid);
        return;
    }
    plan_notice_task(p, s->task->task_guid); /* 3 */
}

/* resolving: a client takes note of how the task ended, or a bbs calls who awaits it (behaviour.md
 * 13.3, 13.4). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Completed, or, when a bbs is to call, not awaited: InvalidStateTransition to Resolving.
 * 3. Resolving. */
void task_resolving_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_RESOLVING,
                            task_awaited(s, in->now) ? TASK_IF_AWAITED : 0);
    if (to < 0) { /* 2 */
        task_refuse_transition(p, s->task, TASK_RESOLVING);
        return;
    }
    task_put(p, in, task_change(p->arena, s->task, to, in->now), "resolving"); /* 3 */
}

/* delete: how the task ended has been taken note of, by a client or by who was called back
 * (behaviour.md 13.3, 13.4). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Resolving, or not any more as the bbs made it that called: InvalidStateTransition, which
 *    says "to Resolving" as Diego does (behaviour.md 17).
 * 3. The record goes. */
void task_delete_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    const Board__Move *m = task_move(s, in, p);
    if (!m) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_DELETE,
                            s->revision == m->task_revision ? TASK_IF_SAME_REVISION : 0);
    if (to < 0) { /* 2 */
        task_refuse_transition(p, s->task, TASK_RESOLVING);
        return;
    }
    task_delete(p, in, s->task, "delete"); /* 3 */
}

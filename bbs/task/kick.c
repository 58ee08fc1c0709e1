/* kick: who resolves the task did not come to an end (behaviour.md 14.2). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Resolving, or not for long enough: ResourceConflict.
 * 3. Completed again; updated_at stays, as in Diego. */
void task_kick_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    bool stuck = stood_left_ns(task_limit_ns(in, TASK_KICK_NS), s->task->updated_at, s->seen,
                               in->now) <= 0;
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_KICK,
                            stuck ? TASK_IF_STUCK : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "task %s is not Resolving for %lld s",
                    s->task->task_guid, (long long)(task_limit_ns(in, TASK_KICK_NS) / SECOND_NS));
        return;
    }
    Models__Task *after = task_change(p->arena, s->task, to, in->now);
    after->updated_at = s->task->updated_at;
    task_put(p, in, after, "kick"); /* 3 */
}

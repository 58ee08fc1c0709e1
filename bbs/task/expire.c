/* expire: no cell took the task for too long (behaviour.md 14.2). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

/* 1. No such task: ResourceNotFound.
 * 2. Not Pending, or not for longer than the time limit: ResourceConflict.
 * 3. Completed, failed, "not started within time limit". */
void task_expire_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    bool expired =
        surely_left_ns(task_limit_ns(in, TASK_EXPIRE_PENDING_NS), s->made, in->now) < 0;
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_EXPIRE,
                            expired ? TASK_IF_EXPIRED : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "task %s has not expired",
                    s->task->task_guid);
        return;
    }
    task_put(p, in,
             task_completed(p->arena, s->task, true, "not started within time limit", "", in->now),
             "expire"); /* 3 */
}

/* forget: the task is over and was kept long enough (behaviour.md 14.2; DESIGN 5). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

/* With a callback URL somebody waits for the outcome, so keep_s does not shorten it. */
static int64_t keep_ns(const Models__Task *task, const struct op_input *in)
{
    if (task_callback_url(task)[0]) {
        return TASK_KEEP_UNDELIVERED_NS;
    }
    bool given = task->optional_keep_s_case == MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    return given ? task->keep_s * SECOND_NS : task_limit_ns(in, TASK_KEEP_NS);
}

/* 1. No such task: ResourceNotFound.
 * 2. Not Completed, or still to be kept: ResourceConflict.
 * 3. The record goes. */
void task_forget_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    bool enough = kept_left_ns(keep_ns(s->task, in), s->task->first_completed_at, s->seen,
                                    s->made, in->now) <= 0;
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_FORGET,
                            enough ? TASK_IF_KEPT_ENOUGH : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not Completed, or is still to be kept", s->task->task_guid);
        return;
    }
    task_delete(p, in, s->task, "forget"); /* 3 */
}

/* fail: a client says that the task failed (behaviour.md 13.3). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. It is over: InvalidStateTransition to Completed.
 * 3. Completed, failed, for the reason given; no result, no cell. */
void task_fail_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    const Board__Move *m = task_move(s, in, p);
    if (!m) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_FAIL, 0);
    if (to < 0) { /* 2 */
        task_refuse_transition(p, s->task, TASK_COMPLETED);
        return;
    }
    task_over(p, in, task_completed(p->arena, s->task, true, m->error_message, "", in->now), /* 3 */
              "fail");
}

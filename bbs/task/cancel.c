/* cancel: a client does not want the task any more (behaviour.md 13.3). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. It is over: InvalidStateTransition to Completed.
 * 3. Completed, failed, "task was cancelled"; no result, no cell.
 * 4. The cell that ran it is told, and which attempt: a word that comes late ends no other. */
void task_cancel_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_CANCEL, 0);
    if (to < 0) { /* 2 */
        task_refuse_transition(p, s->task, TASK_COMPLETED);
        return;
    }
    task_over(p, in, task_completed(p->arena, s->task, true, "task was cancelled", "", in->now), /* 3 */
              "cancel");
    if (p->verdict == PLAN_COMMIT && task_state(s->task) == TASK_RUNNING) { /* 4 */
        plan_notice_cancel(p, s->task->task_guid, s->task->attempt, s->task->cell_id);
    }
}

/* disappear: the cell that runs the task is absent for too long (behaviour.md 14.2; DESIGN 6,
 * task_loss). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

/* Of a cell without a record nobody knows since when: the task's own last change must do. */
static bool cell_gone(const struct task_snapshot *s, const struct op_input *in)
{
    int64_t limit_ns = task_limit_ns(in, TASK_LOSS_NS);
    return move_cell_absent(s->cell) &&
           surely_left_ns(limit_ns, s->seen, in->now) <= 0 &&
           (!s->cell || surely_left_ns(limit_ns, s->cell_seen, in->now) <= 0);
}

/* 1. No such task: ResourceNotFound.
 * 2. Not Running, or its cell is there, or not yet absent for long enough: ResourceConflict.
 * 3. Completed, failed, "cell disappeared before completion"; the cell's id stays. */
void task_disappear_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (!task_move(s, in, p)) { /* 1 */
        return;
    }
    int to = lifecycle_move(&task_lifecycle, task_state(s->task), in->actor, TASK_NEWS_DISAPPEAR,
                            cell_gone(s, in) ? TASK_IF_CELL_GONE : 0);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s does not run on a cell that is absent for %lld s", s->task->task_guid,
                    (long long)(task_limit_ns(in, TASK_LOSS_NS) / SECOND_NS));
        return;
    }
    Models__Task *after =
        task_completed(p->arena, s->task, true, "cell disappeared before completion", "", in->now);
    after->cell_id = s->task->cell_id;
    task_put(p, in, after, "disappear"); /* 3 */
}

/* start: a cell takes the task (behaviour.md 13.3; docs/tasks.md, Once). */
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

/* 1. No such task: ResourceNotFound.
 * 2. The lifecycle forbids it (another cell or attempt has it, it is over, it was rejected since it
 *    was offered): InvalidStateTransition to Running.
 * 3. It is this cell's and this attempt's already: nothing; an ordinary client hears should_start
 *    = false.
 * 4. Running on the cell, by the attempt. */
void task_start_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    const Board__Move *m = task_move(s, in, p); /* 1 */
    if (!m) {
        return;
    }
    int from = task_state(s->task);
    int to = lifecycle_move(&task_lifecycle, from, in->actor, TASK_NEWS_START,
                            task_guards(s->task, m));
    if (to < 0) { /* 2 */
        task_refuse_transition(p, s->task, TASK_RUNNING);
        return;
    }
    if (to == from) { /* 3 */
        return;
    }
    Models__Task *after = task_change(p->arena, s->task, to, in->now); /* 4 */
    after->cell_id = m->cell_id;
    after->attempt = m->attempt;
    task_put(p, in, after, "start");
}

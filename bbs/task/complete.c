/* complete: the task was executed, or never can be (behaviour.md 13.3; docs/tasks.md, Completion). */
#include "bbs/lrp/actual.h"
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

#include <string.h>

/* A completed task is on no cell any more, so its attempt alone tells. */
static bool same_outcome(struct arena *a, const Models__Task *task, const Board__Move *m)
{
    return task->attempt[0] && strcmp(task->attempt, m->attempt) == 0 &&
           task->failed == m->failed && strcmp(task->result, m->result) == 0 &&
           strcmp(task->failure_reason, actual_cut_text(a, m->error_message)) == 0;
}

static void refuse(struct plan *p, const Models__Task *task, const Board__Move *m)
{
    if (task_state(task) != TASK_RUNNING) {
        task_refuse_transition(p, task, TASK_COMPLETED);
    } else if (strcmp(task->cell_id, m->cell_id) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__RunningOnDifferentCell, "Running on cell %s not %s",
                    task->cell_id, m->cell_id);
    } else {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s runs on cell %s by another attempt", task->task_guid, task->cell_id);
    }
}

/* 1. No such task: ResourceNotFound.
 * 2. Not Running: InvalidStateTransition to Completed. On another cell: RunningOnDifferentCell. By
 *    another attempt of the rep: ResourceConflict.
 * 3. This attempt completed it with this outcome: nothing.
 * 4. Completed, with the outcome given; the reason cut, the result whole; no cell. */
void task_complete_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    const Board__Move *m = task_move(s, in, p); /* 1 */
    if (!m) {
        return;
    }
    uint32_t guards = task_guards(s->task, m);
    guards |= same_outcome(p->arena, s->task, m) ? TASK_IF_SAME_OUTCOME : 0;
    int from = task_state(s->task);
    int to = lifecycle_move(&task_lifecycle, from, in->actor, TASK_NEWS_COMPLETE, guards);
    if (to < 0) { /* 2 */
        refuse(p, s->task, m);
    } else if (to != from) { /* 3 */
        task_over(p, in,
                  task_completed(p->arena, s->task, m->failed, m->error_message, m->result,
                                 in->now),
                  "complete"); /* 4 */
    }
}

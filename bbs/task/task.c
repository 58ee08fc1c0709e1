#include "bbs/task/task.h"

#include "bbs/board/errors.h"
#include "bbs/lrp/actual.h"
#include "common/lifecycle/task.h"

const Models__Task *turn_task(const struct move_turn *t)
{
    return (const Models__Task *)t->record;
}

void task_refuse_transition(const struct move_turn *t, int to)
{
    plan_refuse(
        t->plan, MODELS__ERROR__TYPE__InvalidStateTransition, "Cannot transition from %s to %s",
        t->from < 0 ? "Invalid" : task_lifecycle.states[t->from], task_lifecycle.states[to]);
}

Models__Task *task_change(const struct move_turn *t)
{
    const Models__Task *before = turn_task(t);
    int64_t now_ns = t->in->now.wall_ns;
    Models__Task *after = arena_copy(t->plan->arena, before, sizeof(*before));
    after->state = (Models__Task__State)t->to;
    after->updated_at = now_ns > before->updated_at ? now_ns : before->updated_at;
    return after;
}

Models__Task *task_completed(const struct move_turn *t, bool failed, const char *reason,
                             const char *result)
{
    const Models__Task *before = turn_task(t);
    Models__Task *after = task_change(t);
    after->first_completed_at = after->updated_at;
    after->failed = failed;
    after->failure_reason = actual_cut_text(t->plan->arena, reason);
    after->result = (char *)(uintptr_t)result;
    /* A Pending one has the id of the cell that rejected it: there it has not run. */
    after->ran_on_cell_id = t->from == TASK_RUNNING ? before->cell_id : before->ran_on_cell_id;
    after->cell_id = (char *)(uintptr_t)protobuf_c_empty_string;
    return after;
}

void task_put(const struct move_turn *t, const Models__Task *task)
{
    if (models__task__get_packed_size(task) > TASK_BYTES_MAX) {
        plan_refuse_as(t->plan, MODELS__ERROR__TYPE__InvalidRequest);
        return;
    }
    move_put(t, key_task(t->plan->arena, task->task_guid), t->from, t->to, &task->base);
}

void task_over(const struct move_turn *t, const Models__Task *task)
{
    task_put(t, task);
    if (t->plan->verdict == PLAN_COMMIT && task_callback_url(task)[0]) {
        plan_notice_callback(t->plan, task->task_guid);
    }
}

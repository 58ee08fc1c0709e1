/* What the moves of a task do (behaviour.md 13.3, 13.4, 14.2; docs/tasks.md), one function each. */
#include "bbs/board/errors.h"
#include "bbs/lrp/actual.h"
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

#include <assert.h>

/* A cell takes it. It is this cell's and this attempt's already: nothing; an ordinary client hears
 * should_start = false. */
void task_start(const struct move_turn *t)
{
    if (t->to == t->from) {
        return;
    }
    Models__Task *after = task_change(t);
    after->cell_id = move_task(t->move)->cell_id;
    after->attempt = move_task(t->move)->attempt;
    task_put(t, after);
}

/* A client does not want it any more: no result, no cell. The cell that ran it is notified, and
 * which attempt: a word that comes late ends no other. */
void task_cancel(const struct move_turn *t)
{
    const Models__Task *before = turn_task(t);
    task_over(t, task_completed(t, true, "task was cancelled", ""));
    if (t->plan->verdict == PLAN_COMMIT && t->from == TASK_RUNNING) {
        plan_notice_cancel(t->plan, before->task_guid, before->attempt, before->cell_id);
    }
}

/* A client says that it failed: no result, no cell. */
void task_fail(const struct move_turn *t)
{
    assert(t->to == TASK_COMPLETED);
    task_over(t, task_completed(t, true, move_task(t->move)->error_message, ""));
}

/* Our own roles, whose attempt or revision is another: ResourceConflict. A client: InvalidRequest,
 * or InvalidStateTransition to Completed when its rejections are spent. */
void task_refuse_reject(const struct move_turn *t)
{
    if (t->in->actor != ACTOR_CLIENT) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not what the %s rejects: it is %s, and has moved on",
                    turn_task(t)->task_guid, actor_name(t->in->actor),
                    t->from < 0 ? "of an unknown state" : task_lifecycle.states[t->from]);
    } else if (t->guards & TASK_IF_RETRIES_SPENT) {
        task_refuse_transition(t, TASK_COMPLETED);
    } else {
        plan_refuse_as(t->plan, MODELS__ERROR__TYPE__InvalidRequest);
    }
}

/* No cell could take it, or its cell could not execute it.
 * 1. The same attempt again, when it is Pending: nothing.
 * 2. Rejected max_retries times before: Completed, failed, for the reason given, which is that of
 * one rejection more.
 * 3. Pending, with one rejection more and the reason; the cell's id and the attempt stay. */
void task_reject(const struct move_turn *t)
{
    if (t->to == t->from && t->in->actor == ACTOR_REP) { /* 1 */
        return;
    }
    const char *reason = move_task(t->move)->error_message;
    assert(t->to == TASK_COMPLETED || t->to == TASK_PENDING);
    Models__Task *after =
        t->to == TASK_COMPLETED ? task_completed(t, true, reason, "") : task_change(t);
    after->rejection_count++;
    after->rejection_reason = actual_cut_text(t->plan->arena, reason);
    if (t->to == TASK_COMPLETED) { /* 2 */
        task_over(t, after);
    } else { /* 3 */
        task_put(t, after);
    }
}

/* Not Running: InvalidStateTransition to Completed. On another cell: RunningOnDifferentCell. By
 * another attempt of the rep: ResourceConflict. */
void task_refuse_complete(const struct move_turn *t)
{
    const Models__Task *task = turn_task(t);
    if (t->from != TASK_RUNNING) {
        task_refuse_transition(t, TASK_COMPLETED);
    } else if (!(t->guards & TASK_IF_SAME_CELL)) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__RunningOnDifferentCell,
                    "Running on cell %s not %s", task->cell_id, move_task(t->move)->cell_id);
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s runs on cell %s by another attempt", task->task_guid, task->cell_id);
    }
}

/* It was executed, or never can be: the reason cut, the result whole; no cell. This attempt
 * completed it with this outcome before: nothing. */
void task_complete(const struct move_turn *t)
{
    const Board__TaskMove *m = move_task(t->move);
    if (t->to != t->from) {
        task_over(t, task_completed(t, m->failed, m->error_message, m->result));
    }
}

/* A client takes note of how it ended, or a bbs calls who awaits it. */
void task_resolving(const struct move_turn *t)
{
    task_put(t, task_change(t));
}

/* delete, forget: how it ended has been taken note of, or it was kept long enough. */
void task_delete(const struct move_turn *t)
{
    t->plan->record = NULL;
    move_delete(t, key_task(t->plan->arena, turn_task(t)->task_guid), t->from, t->row->name);
}

/* No cell took it for too long. */
void task_expire(const struct move_turn *t)
{
    assert(t->to == TASK_COMPLETED);
    task_put(t, task_completed(t, true, "not started within time limit", ""));
}

/* It still waits for a cell: nothing changes, no event; the auctioneer is notified. */
void task_ask(const struct move_turn *t)
{
    assert(t->from == t->to);
    plan_notice_task(t->plan, turn_task(t)->task_guid);
}

/* Its cell is absent for too long (design.md 6, One failure detector); the cell's id stays. */
void task_disappear(const struct move_turn *t)
{
    assert(t->to == TASK_COMPLETED && *turn_task(t)->cell_id);
    Models__Task *after = task_completed(t, true, "cell disappeared before completion", "");
    after->cell_id = turn_task(t)->cell_id;
    task_put(t, after);
}

/* Who resolves it did not come to an end: Completed again; updated_at stays, as in Diego. */
void task_kick(const struct move_turn *t)
{
    Models__Task *after = task_change(t);
    after->updated_at = turn_task(t)->updated_at;
    task_put(t, after);
}

/* Its callback has not been heard: nothing changes, no event; this bbs calls. */
void task_deliver(const struct move_turn *t)
{
    plan_notice_callback(t->plan, turn_task(t)->task_guid);
}

/* The guards of task.def, as far as they hold between a move and what was read for it. */
#include "bbs/lrp/actual.h"
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

#include <string.h>

int64_t task_limit_ns(const struct move_turn *t, int64_t setting_ns)
{
    int64_t said_ns = move_task(t->move)->after_ns;
    return said_ns > 0 ? said_ns : setting_ns;
}

const struct task_times *turn_times(const struct move_turn *t)
{
    return ((const struct task_snapshot *)t->snapshot)->times;
}

uint32_t no_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

/* Fewer than were offered: the board was restored to what it was before; nothing of the offer is
 * over by that (docs/tasks.md, Once). */
static bool same_offer(const Models__Task *task, const Board__TaskMove *m)
{
    bool reported =
        m->optional_rejections_case == BOARD__TASK_MOVE__OPTIONAL_REJECTIONS_REJECTIONS;
    return !reported || task->rejection_count <= m->rejections;
}

uint32_t offer_guards(const struct move_turn *t)
{
    const Models__Task *task = turn_task(t);
    const Board__TaskMove *m = move_task(t->move);
    bool cell = strcmp(task->cell_id, m->cell_id) == 0;
    bool attempt = cell && strcmp(task->attempt, m->attempt) == 0;
    return (cell ? TASK_IF_SAME_CELL : 0) |
           (attempt ? TASK_IF_SAME_ATTEMPT : TASK_IF_OTHER_ATTEMPT) |
           (same_offer(task, m) ? TASK_IF_SAME_OFFER : 0);
}

uint32_t revision_guards(const struct move_turn *t)
{
    const struct task_snapshot *s = t->snapshot;
    return s->revision == t->move->subject->revision ? TASK_IF_SAME_REVISION : 0;
}

static bool retries_spent(const Models__Task *task, const struct task_times *times)
{
    bool given = task->optional_max_retries_case == MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
    return task->rejection_count >= (given ? task->max_retries : times->max_retries);
}

uint32_t reject_guards(const struct move_turn *t)
{
    return offer_guards(t) | revision_guards(t) |
           (retries_spent(turn_task(t), turn_times(t)) ? TASK_IF_RETRIES_SPENT : 0);
}

/* A completed task is on no cell any more, so its attempt alone tells. */
uint32_t complete_guards(const struct move_turn *t)
{
    const Models__Task *task = turn_task(t);
    const Board__TaskMove *m = move_task(t->move);
    bool same = task->attempt[0] && strcmp(task->attempt, m->attempt) == 0 &&
                task->failed == m->failed && strcmp(task->result, m->result) == 0 &&
                strcmp(task->failure_reason,
                       actual_cut_text(t->plan->arena, m->error_message)) == 0;
    return offer_guards(t) | (same ? TASK_IF_SAME_OUTCOME : 0);
}

static struct task_facts facts_of(const struct move_turn *t)
{
    const struct task_snapshot *s = t->snapshot;
    struct task_facts f;
    task_facts_of(s->task, &f);
    f.seen = s->seen;
    f.made = s->made;
    f.absent = cell_is_absent(s->cell);
    f.cell_seen = s->cell_seen;
    return f;
}

/* It has been in its state for long enough, by what the move says or the setting. */
static bool is_over(const struct move_turn *t, task_left *left, int64_t setting_ns)
{
    const struct task_facts f = facts_of(t);
    return left(&f, task_limit_ns(t, setting_ns), t->in->now) <= 0;
}

/* Somebody awaits its callback: as `forget` counts it, until nobody is thought to any more. */
static bool is_awaited(const struct move_turn *t, const struct task_facts *f)
{
    return f->has_url && task_awaited_left_ns(f, turn_times(t)->undelivered_ns, t->in->now) > 0;
}

uint32_t awaited_guards(const struct move_turn *t)
{
    const struct task_facts f = facts_of(t);
    return is_awaited(t, &f) ? TASK_IF_AWAITED : 0;
}

uint32_t expired_guards(const struct move_turn *t)
{
    return is_over(t, task_pending_left_ns, turn_times(t)->expire_pending_ns) ? TASK_IF_EXPIRED : 0;
}

uint32_t gone_guards(const struct move_turn *t)
{
    return is_over(t, task_absent_left_ns, turn_times(t)->loss_ns) ? TASK_IF_CELL_GONE : 0;
}

uint32_t stuck_guards(const struct move_turn *t)
{
    return is_over(t, task_unchanged_left_ns, turn_times(t)->kick_ns) ? TASK_IF_STUCK : 0;
}

/* What is awaited goes by no limit of the move. */
uint32_t kept_guards(const struct move_turn *t)
{
    const struct task_facts f = facts_of(t);
    bool enough = f.has_url ? !is_awaited(t, &f)
                            : is_over(t, task_kept_left_ns, turn_times(t)->expire_completed_ns);
    return enough ? TASK_IF_KEPT_ENOUGH : 0;
}

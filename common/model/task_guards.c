#include "common/model/task_guards.h"

#include "common/lifecycle/task.h"

_Static_assert((int)MODELS__TASK__STATE__Pending == (int)TASK_PENDING &&
                   (int)MODELS__TASK__STATE__Running == (int)TASK_RUNNING &&
                   (int)MODELS__TASK__STATE__Completed == (int)TASK_COMPLETED &&
                   (int)MODELS__TASK__STATE__Resolving == (int)TASK_RESOLVING,
               "the wire's numbers are the table's");

int task_state(const Models__Task *task)
{
    int state = task ? (int)task->state : TASK_NONE;
    bool known = !task || (state > TASK_NONE && state < TASK_STATE_COUNT);
    return known ? state : -1;
}

const char *task_callback_url(const Models__Task *task)
{
    return task->task_definition ? task->task_definition->completion_callback_url : "";
}

void task_facts_of(const Models__Task *task, struct task_facts *ret)
{
    bool kept = task->optional_keep_s_case == MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
    *ret = (struct task_facts){
        .state = (int8_t)task_state(task),
        .has_url = *task_callback_url(task),
        .updated_ns = task->updated_at,
        .completed_ns = task->first_completed_at,
        .keep_ns = kept ? task->keep_s * SECOND_NS : NEVER_NS,
    };
}

int64_t task_pending_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    int64_t left_ns = surely_left_ns(limit_ns, f->made, now);
    return left_ns == NEVER_NS ? left_ns : left_ns + 1; /* longer, by a nanosecond */
}

int64_t task_unchanged_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    return stood_left_ns(limit_ns, f->updated_ns, f->seen, now);
}

/* Of a cell without a record nobody knows since when: the task's own last change must do. */
int64_t task_absent_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    bool later = f->cell_seen.since_ns > f->seen.since_ns;
    return f->absent ? surely_left_ns(limit_ns, later ? f->cell_seen : f->seen, now) : NEVER_NS;
}

static int64_t over_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    return kept_left_ns(limit_ns, f->completed_ns, f->seen, f->made, now);
}

int64_t task_kept_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    int64_t keep_ns = f->keep_ns == NEVER_NS ? limit_ns : f->keep_ns;
    return f->has_url ? NEVER_NS : over_left_ns(f, keep_ns, now);
}

int64_t task_awaited_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    return f->has_url ? over_left_ns(f, limit_ns, now) : NEVER_NS;
}

int64_t task_undelivered_left_ns(const struct task_facts *f, int64_t limit_ns, struct moment now)
{
    return f->has_url ? task_unchanged_left_ns(f, limit_ns, now) : NEVER_NS;
}

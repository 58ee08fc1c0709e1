#include "converger/task_passes.h"

#include "common/lifecycle/task.h"
#include "common/model/task_times.h"

#include <stddef.h>

#define UNPLACED_AFTER_NS (30 * SECOND_NS)

struct task_pass {
    const char *name;
    int state;
    const char *move;
    size_t limit; /* where in struct task_limits */
    task_left *left;
};

struct task_limits task_limits_of(const struct task_limits *given)
{
    struct task_limits l = *given;
    l.expire_pending_ns = l.expire_pending_ns ? l.expire_pending_ns : TASK_EXPIRE_PENDING_NS;
    l.unplaced_after_ns = l.unplaced_after_ns ? l.unplaced_after_ns : UNPLACED_AFTER_NS;
    l.loss_ns = l.loss_ns ? l.loss_ns : TASK_LOSS_NS;
    l.kick_ns = l.kick_ns ? l.kick_ns : TASK_KICK_NS;
    l.expire_completed_ns = l.expire_completed_ns ? l.expire_completed_ns : TASK_KEEP_NS;
    l.undelivered_ns = l.undelivered_ns ? l.undelivered_ns : TASK_KEEP_UNDELIVERED_NS;
    return l;
}

#define TASK_PASS(name, state, move, limit, left)                                                  \
    {#name, TASK_##state, move, offsetof(struct task_limits, limit), task_##left##_left_ns},
static const struct task_pass rows[] = {
#include "converger/tasks.def"
};
#undef TASK_PASS

void task_passes_run(const struct task_facts *f, const struct task_limits *limits,
                     struct moment now, struct task_repair *ret)
{
    *ret = (struct task_repair){.due_ns = NEVER_NS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t limit_ns = *(const int64_t *)((const char *)limits + rows[i].limit);
        int64_t left_ns = rows[i].state == f->state ? rows[i].left(f, limit_ns, now) : NEVER_NS;
        if (left_ns > 0 && left_ns != NEVER_NS) {
            ret->due_ns = earlier_ns(ret->due_ns, now.mono_ns + left_ns);
        } else if (left_ns <= 0 && !ret->pass) {
            ret->pass = rows[i].name;
            ret->move = rows[i].move;
            ret->after_ns = limit_ns;
        }
    }
}

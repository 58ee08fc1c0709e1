#include "converger/task_passes.h"

#include "common/lifecycle/task.h"

struct task_pass {
    const char *name;
    int state;
    const char *move;
    size_t limit; /* where in struct task_times */
    task_left *left;
};

#define TASK_PASS(name, state, move, limit, left)                                                  \
    {#name, TASK_##state, move, offsetof(struct task_times, limit), task_##left##_left_ns},
static const struct task_pass rows[] = {
#include "converger/tasks.def"
};
#undef TASK_PASS

static int64_t limit_of(const struct task_pass *row, const struct task_times *times)
{
    return *(const int64_t *)(const void *)((const char *)times + row->limit);
}

void task_passes_run(const struct task_facts *f, const struct task_times *given,
                     const struct task_times *in_force, struct moment now,
                     struct task_repair *ret)
{
    *ret = (struct task_repair){.due_ns = NEVER_NS};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t given_ns = limit_of(&rows[i], given);
        int64_t limit_ns = given_ns ? given_ns : limit_of(&rows[i], in_force);
        int64_t left_ns = rows[i].state == f->state ? rows[i].left(f, limit_ns, now) : NEVER_NS;
        if (left_ns > 0 && left_ns != NEVER_NS) {
            ret->due_ns = earlier_ns(ret->due_ns, now.mono_ns + left_ns);
        } else if (left_ns <= 0 && !ret->pass) {
            ret->pass = rows[i].name;
            ret->move = rows[i].move;
            ret->after_ns = given_ns;
        }
    }
}

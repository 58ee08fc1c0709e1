/* The decisions of the converger about tasks: from one task, as the board shows it, to its repair,
 * if it needs one. The rows are tasks.def. Pure. */
#pragma once

#include "common/model/task_guards.h"
#include "common/model/task_times.h"

struct task_repair {
    const char *pass; /* which row found it; NULL = nothing is to be done now */
    const char *move; /* named move that repairs it */
    int64_t after_ns; /* the given limit that it goes by; 0 = the cluster's */
    int64_t due_ns;   /* monotonic: the next one that only waits for time; NEVER_NS = none */
};

/* Runs the rows, by the limits given, and by those in force where they are 0. */
void task_passes_run(const struct task_facts *f, const struct task_times *given,
                     const struct task_times *in_force, struct moment now,
                     struct task_repair *ret);

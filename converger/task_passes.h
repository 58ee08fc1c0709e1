/* The decisions of the converger about tasks: one task as the board shows it in, at most one repair
 * out. The rows are tasks.def. Pure. */
#ifndef CONVERGER_TASK_PASSES_H
#define CONVERGER_TASK_PASSES_H

#include "common/model/task_guards.h"

/* For how long a task may be in each state; 0 in a configuration = default (task_times.h). */
struct task_limits {
    int64_t expire_pending_ns;   /* Pending since it was created: it is failed: 30 min */
    int64_t unplaced_after_ns;   /* Pending and unchanged: the auctioneer is asked again: 30 s */
    int64_t loss_ns;             /* Running on an absent cell: it is failed: 60 s */
    int64_t kick_ns;             /* Resolving: Completed again; Completed with a callback URL: the
                                    callback is tried again: 45 s */
    int64_t expire_completed_ns; /* Completed without a URL: it goes, unless the task says otherwise
                                    (keep_s): 24 h */
    int64_t undelivered_ns;      /* Completed with one: it goes: 7 days */
};

/* The same without 0. */
struct task_limits task_limits_of(const struct task_limits *given);

struct task_repair {
    const char *pass; /* which row found it; NULL = nothing is to be done now */
    const char *move; /* named move that repairs it */
    int64_t after_ns; /* the limit that it goes by */
    int64_t due_ns;   /* monotonic: the next one that only waits for time; NEVER_NS = none */
};

/* Runs the rows. */
void task_passes_run(const struct task_facts *f, const struct task_limits *limits,
                     struct moment now, struct task_repair *ret);

#endif

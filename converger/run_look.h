/* What is to be done about a run of a job, by what a converger knows of it (docs/rest.md, Jobs;
 * common/lifecycle/job_run.def). Pure. */
#pragma once

#include "common/contract/moment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs of a system that are over and kept, and for how long: as in bbs/job_run/job_run.h. */
enum { RUNS_KEPT = 200, RUN_KEPT_DAYS = 30 };

struct run_facts {
    int state;            /* of the run: JOB_RUN_...; -1 = of a newer version */
    int system;           /* of its system: SYSTEM_...; SYSTEM_NONE: it is gone */
    bool confirmed;       /* the system is, in this board generation */
    bool pool_ready;      /* its node pool is there, or it needs none */
    bool told;            /* its record says why it waits for that */
    int task;             /* of its Task: TASK_...; TASK_NONE: there is none */
    int64_t completed_at; /* of one that is over */
    size_t later;         /* runs of the system that are over later than it */
};

/* The move; NULL = none is due. *ret_due_ns is when time alone makes one due, by the monotonic
 * clock; NEVER_NS = never. */
const char *run_look(const struct run_facts *f, struct moment now, int64_t *ret_due_ns);

/* Child processes of a driver: started without blocking, at most so many at once, each with a
 * deadline (design.md 7). A job is one run of the shim; what it reports comes over a pipe, its end
 * over a pidfd. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/driver/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_base;
struct driver_job;
struct driver_jobs;

enum {
    JOBS_MAX = 8192,           /* waiting and working; one more is refused */
    JOB_REPORT_BYTES = 8192,   /* kept of what a job reports */
    JOB_GRACE_MS = 2000,       /* between being told to end and being killed, and again until its
                                  place is given away */
};

enum job_event {
    JOB_STARTED, /* it reported "S": its place is free again, it goes on; one that outlives is
                    let go with this, as its last event, and not reaped */
    JOB_LATE,    /* the deadline has passed; it is being ended, JOB_ENDED follows */
    JOB_ENDED,   /* the last event, then it is freed: report and exit_code are known */
};

struct job_plan {
    const char *key;          /* jobs of one key take turns; NULL: never waits for another */
    const char *dir;          /* working directory */
    const char *const *argv;  /* of the shim; NULL-terminated, copied */
    const char *const *envp;  /* NULL: as this process's */
    int64_t deadline_ns;      /* monotonic; NEVER_NS: none */
    bool outlives;            /* belongs to a container: let go once it has started, and left
                                 alone at the end of the driver */
    void (*on_event)(struct driver_job *j, enum job_event event);
    void (*forget)(void *owner); /* instead of any further event, in jobs_free(); may be NULL */
    void *owner;
};

/* At most `places` work at once. */
struct driver_jobs *jobs_new(struct event_base *loop, int places);

/* Forgets all: those that wait never begin, those that work are ended unless they outlive. No event
 * comes any more. Accepts NULL. */
void jobs_free(struct driver_jobs *jobs);

/* Queues a job; it begins from the loop. -ERR_TOO_LARGE when too many wait. */
int jobs_add(struct driver_jobs *jobs, const struct job_plan *plan, struct err *err);

/* Ends the jobs of this owner as if their deadlines had passed; their events follow. */
void jobs_cancel(struct driver_jobs *jobs, const void *owner);

/* Whether a job of this key waits or works (a started one does not count). */
bool jobs_busy(const struct driver_jobs *jobs, const char *key);

void *job_owner(const struct driver_job *j);           /* as its plan named it */
bool job_began(const struct driver_job *j);            /* false: it never ran */
struct shim_report job_report(const struct driver_job *j); /* the latest so far */
struct bytes
job_text(const struct driver_job *j); /* all it reported: what prepare and remove say */
int job_exit_code(const struct driver_job *j); /* after JOB_ENDED; 128 + signal when killed */

/* Runs a job at once and waits for its end, for at most timeout_ms: for the probe, before a loop
 * runs. What it reported is appended to `out`. Gives its exit code, or -ERR_TIMEOUT, after which it
 * is killed, or -ERR_IO. */
int job_run(const struct job_plan *plan, int timeout_ms, struct buf *out, struct err *err);

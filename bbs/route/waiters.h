/* Requests whose answer waits for the last portion of a job, 5 s at most (design.md 2, Jobs).
 * Pure. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/moment.h"

#include <sys/queue.h>

#define WAITER_MAX_NS (5 * SECOND_NS)

enum {
    WAITERS_MAX = 16384,              /* at once */
    WAITERS_ENOUGH = EFFECTS_MAX / 2, /* effects of a step: the next step answers the rest. More
                                         than EFFECTS_ENOUGH, so that a busy board starves nobody */
};

struct waiters {
    TAILQ_HEAD(, waiter) list; /* those whose time is over, then by deadline */
    size_t count;
    size_t reserved;           /* places of requests that may have to wait */
};

void waiters_init(struct waiters *w);

/* Before anything is done, so that a request that finds no place was not done at all. False when
 * WAITERS_MAX wait or may have to. */
bool waiters_reserve(struct waiters *w);
void waiters_release(struct waiters *w); /* it need not wait */

/* With the place that was reserved: the request is answered well when the job ends or its time is
 * over: what it asked for stands. `json`: in JSON. */
void waiters_add(struct waiters *w, uint64_t request_id, const char *job_key, bool json,
                 struct moment now);

/* Answers those who waited for the job, in the order in which they came; those beyond the step's
 * bound are left to waiters_timer(), as if their time were over. */
void waiters_job_ended(struct waiters *w, const char *job_key, struct effects *out);

/* Answers those whose time is over, up to the step's bound, and asks to be called for the next.
 * Ends every step. */
void waiters_timer(struct waiters *w, struct moment now, struct effects *out);
void waiters_done(struct waiters *w);

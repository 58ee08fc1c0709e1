/* Requests whose answer waits for the last slice of a job, 5 s at most (DESIGN 2, Jobs). Pure. */
#ifndef BBS_WAITERS_H
#define BBS_WAITERS_H

#include "common/contract/effect.h"
#include "common/contract/moment.h"

#include <sys/queue.h>

#define WAITER_MAX_NS (5 * SECOND_NS)

struct waiter;
LIST_HEAD(waiters, waiter);

/* The request is answered well when the job ends or its time is over: what it asked for stands. */
void waiters_add(struct waiters *w, uint64_t request_id, const char *job_key, struct moment now);
void waiters_job_ended(struct waiters *w, const char *job_key, struct effects *out);

/* Answers those whose time is over and asks to be called for the next. */
void waiters_timer(struct waiters *w, struct moment now, struct effects *out);
void waiters_done(struct waiters *w);

#endif

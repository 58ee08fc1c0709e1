/* The locks of outside owners as this process has seen them: since when the present revision (DESIGN
 * 5, freshness and clocks; common/lifecycle/lock.def). Pure. */
#ifndef CONVERGER_LOCKS_H
#define CONVERGER_LOCKS_H

#include "common/client/follower.h"

/* After it was asked to end and has not. */
#define LOCKS_AGAIN_NS (5 * SECOND_NS)

struct locks {
    struct map by_key; /* -> struct lock_sighting */
};

void locks_init(struct locks *l);
void locks_done(struct locks *l);

/* News of the feed. A revision that was seen before a reset of the copy keeps its age. */
void locks_put(struct locks *l, const char *key, const struct followed *record, struct moment now);
void locks_gone(struct locks *l, const char *key);
/* The copy is complete again: what it does not hold was deleted meanwhile. */
void locks_current(struct locks *l, const struct follower *f);
/* Another epoch: revisions mean nothing any more, and every lock has its whole time again. */
void locks_forget(struct locks *l);

/* When the first of them will be over, if it is not renewed, or is to be asked for again; monotonic,
 * NEVER_NS = there is none. */
int64_t locks_due_ns(const struct locks *l);

/* Calls `each` with every lock that is over and was not asked to end a moment ago. */
void locks_each_over(const struct locks *l, struct moment now,
                     void (*each)(void *context, const char *name, int64_t revision),
                     void *context);

/* It was asked to end, now. */
void locks_asked(struct locks *l, const char *name, struct moment now);

#endif

/* Tells the board why instances and tasks stay unplaced: `fail` moves of instances, only when the
 * reason changed; `reject` moves of tasks, once a request; with the leader's term, a bounded number
 * at a time (DESIGN 5, docs/tasks.md). Pure. */
#ifndef AUCTIONEER_REPORT_H
#define AUCTIONEER_REPORT_H

#include "auctioneer/pool.h"
#include "common/client/leader.h"

/* Moves of one call, calls on their way, and how long one may take. */
enum { REPORT_MOVES_MAX = 256, REPORT_CALLS_MAX = 4 };
#define REPORT_CALL_NS (5 * SECOND_NS)
/* After a failed call. */
#define REPORT_PAUSE_NS (1 * SECOND_NS)

struct report {
    /* Set by the owner before report_init. */
    struct boards *boards;
    struct leader *leader;
    struct pool *pool;

    char **queue; /* keys of entries whose reason is untold; owned; [next, count) */
    size_t next, count, capacity;
    struct report_call {
        uint64_t id; /* 0 = free */
        const char *url;
        char *keys[REPORT_MOVES_MAX];
        size_t key_count;
    } calls[REPORT_CALLS_MAX];
    int64_t pause_ns;
};

void report_init(struct report *r);
void report_done(struct report *r);

/* The entry was refused: it is told if that is news. */
void report_refusal(struct report *r, struct entry *e);

/* Give it every event while the leader leads. True if the event was its own. */
bool report_step(struct report *r, const struct event *ev, struct effects *out);

/* Not the leader any more: forgets everything. */
void report_stop(struct report *r);

#endif

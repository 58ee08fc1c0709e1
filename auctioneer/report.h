/* Tells the board why instances and tasks stay unplaced: `fail` moves of instances, only when the
 * reason changed; `reject` moves of tasks, once a request; with the leader's term, a bounded number
 * at a time (design.md 5, docs/tasks.md). Pure. */
#pragma once

#include "auctioneer/backlog.h"
#include "common/client/mover.h"

struct report {
    struct backlog *backlog;
    char **queue; /* keys of entries whose reason is untold; owned; [next, count) */
    size_t next, count, capacity;
    struct mover mover;
    struct mover_owner owner;
};

/* Its arguments must outlive it. */
void report_init(struct report *r, struct boards *boards, const struct leader *leader,
                 struct backlog *backlog);
void report_done(struct report *r);

/* The entry was refused: it is reported if that is new. */
void report_refusal(struct report *r, struct entry *e);

/* Give it every event while the leader leads. True if the event was its own. */
bool report_step(struct report *r, const struct event *ev, struct effects *out);

/* Not the leader any more: forgets everything. */
void report_stop(struct report *r);

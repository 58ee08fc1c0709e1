/* Tasks in /work and /state (rep-auctioneer.md 2.1, 2.2). */
#ifndef REP_CELL_TASK_WORK_H
#define REP_CELL_TASK_WORK_H

#include "cell.pb-c.h"
#include "common/base/arena.h"
#include "common/contract/effect.h"

struct container;
struct rep;

/* Reserves what it can, by descending memory, and appends the others to the tasks of `rest`. Each
 * reservation draws an attempt and keeps the offer. A task that is reserved here already for this
 * offer, and whose start is not known to be granted, counts as accepted; one that was granted is of no
 * use to the work and returns it.
 * `well` false: none is accepted. */
void cell_task_take(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                    struct effects *out);

/* The task as /state shows it, borrowing from the container. */
Cell__Task *cell_task_state(struct arena *a, const struct container *c);

#endif

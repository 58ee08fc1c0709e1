/* A task that is offered to this cell (rep-auctioneer.md 2.2). */
#ifndef REP_TASK_OFFER_H
#define REP_TASK_OFFER_H

#include "cell.pb-c.h"
#include "common/contract/effect.h"

struct rep;

/* Reserves it, draws an attempt and keeps the offer. True, too, for one that is reserved here
 * already for this offer, and whose start is not known to be granted; one that was granted is of no
 * use to the work. False: nothing is reserved. */
bool task_offer_reserve(struct rep *r, const Cell__Task *task, struct effects *out);

#endif

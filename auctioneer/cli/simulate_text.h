/* What a simulation decided, for people. Pure. */
#ifndef AUCTIONEER_CLI_SIMULATE_TEXT_H
#define AUCTIONEER_CLI_SIMULATE_TEXT_H

#include "auction.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"

/* A table of the jobs with what explains them, one of the cells, and a line that sums up. */
void simulate_text(struct arena *a, const Auction__Simulation *s, struct buf *out);

#endif

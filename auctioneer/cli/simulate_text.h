/* What a simulation decided, for people. Pure. */
#pragma once

#include "auction.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"

/* A table of the jobs with what explains them, one of the cells, and a line that sums up. */
void simulate_text(struct arena *a, const Auction__Simulation *s, struct buf *out);

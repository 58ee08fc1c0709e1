/* Work from the auctioneer: what fits is reserved, the rest goes back (rep-auctioneer.md 2.2). */
#pragma once

#include "cell.pb-c.h"
#include "common/base/arena.h"
#include "common/contract/effect.h"

struct rep;

/* Reserves what it can and gives, in the arena, what was not accepted. LRPs are taken by descending
 * memory, and then tasks likewise (cell_task.h). An instance that this cell is starting already
 * counts as accepted and is not reserved twice. Nothing is accepted while the cell is not well
 * (cell_state.h). */
Cell__Work *work_take(struct rep *r, const Cell__Work *work, struct effects *out);

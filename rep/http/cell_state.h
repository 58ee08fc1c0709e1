/* What the cell tells of itself on GET /state (rep-auctioneer.md 2.1). */
#pragma once

#include "cell.pb-c.h"
#include "common/base/arena.h"

#include <stdbool.h>

struct rep;

/* The state in the arena, borrowing from the rep. */
Cell__CellState *cell_state_make(const struct rep *r, struct arena *a);

/* Adds what the checks of its instances found last. */
void cell_state_add_checks(const struct rep *r, struct arena *a, Cell__CellState *s);

/* Changes whenever the state does, also over restarts: for the ETag. */
const char *cell_state_tag(const struct rep *r, struct arena *a, bool protobuf);

/* The cell can take work: its incarnation is open, adoption has ended and its driver lists.
 * Otherwise
 * /state is answered 503, which the auctioneer takes for unreachable. */
bool cell_state_is_well(const struct rep *r);

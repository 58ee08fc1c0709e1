/* Units that a cell took, and of which the board will refuse it the assignment: the machine that
 * the cell is was given a unit meanwhile, or was cordoned, and is not what they ask for by now
 * (bbs/units/assign.c). The cell drops what it holds for them, and their records stay as they are:
 * nothing else would tell. Pure. */
#pragma once

#include "auctioneer/backlog.h"
#include "auctioneer/cells.h"

struct barred_units {
    int64_t revision; /* of the last change of a machine */
    bool changed;     /* since the last look */
};

/* A change of the feed: the record of a machine is of this revision. */
void barred_units_machine(struct barred_units *b, int64_t mod_revision);

/* Those that were placed where they cannot be assigned are fresh again. Looked for only when a
 * machine has changed or a unit was placed, and only when the feed has reported all up to that
 * change (`position`): for who was assigned by it has left the backlog by then. */
void barred_units_look(struct barred_units *b, struct backlog *p, const struct cells *c,
                       int64_t position, int64_t now_ns);

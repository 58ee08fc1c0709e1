/* A unit that is offered to this cell by /work (docs/units.md, Placement): room is set aside, and
 * the board is asked for it. */
#pragma once

#include "cell.pb-c.h"
#include "common/contract/effect.h"

#include <stdbool.h>

struct rep;

/* Sets room aside for it and asks the board. True, too, for one for which that is under way, and of
 * which this cell has the container already. False: nothing is set aside. */
bool unit_work_reserve(struct rep *r, const Cell__UnitOffer *offer, struct effects *out);

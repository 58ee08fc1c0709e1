/* Which machines the cells are, from the feed: where units may be placed (docs/units.md,
 * Placement). Pure. */
#pragma once

#include "auctioneer/schedule.h"
#include "board.pb-c.h"
#include "common/base/map.h"

struct machines {
    struct map by_key;  /* key of a machine's record -> what is known of it */
    struct map by_cell; /* cell id -> key of the record of the machine that it is now */
};

/* Of a machine that its cell is: it is open while it is alive, for units, and not cordoned. */
struct machine_sight machine_sight_of(const Board__MachineRecord *record);

void machines_init(struct machines *m);
void machines_done(struct machines *m);

/* Changes of the feed, by the key of the record. True: a unit that had no place may have one now.
 */
bool machines_put(struct machines *m, const char *key, const Board__MachineRecord *record);
bool machines_gone(struct machines *m, const char *key);
void machines_cell_put(struct machines *m, const Board__MachineCellRecord *record);
void machines_cell_gone(struct machines *m, const char *cell_id);
void machines_reset(struct machines *m);

/* What this cell is, of this state directory:
 * 1. No machine yet, or one of another identity, whose successor it will be: none.
 * 2. A machine; it is open while it is alive, for units, and not cordoned. */
struct machine_sight machines_see(const struct machines *m, const char *cell_id,
                                  const char *identity);

/* The keeper of units and machines, and of what is left of services and relations: it finds what no
 * agent ends, and plans its end (units.def). What has a move on its way waits for the answer. Pure.
 */
#pragma once

#include "converger/cache.h"
#include "converger/unit_passes.h"
#include "converger/work.h"

/* Moves of these on their way at once; the rest waits, so that others find room as well. */
enum { UNITS_MOVING_MAX = 1024 };

/* A record that a pass may end. */
struct kept_unit {
    struct work_item item;  /* first: a struct work_item * is a struct kept_unit * */
    struct cell_user on;    /* the cell that it is on */
    int64_t stood_revision; /* it was to be ended at this revision in the last full pass; 0 = not */
    bool full;              /* the look is one of a full pass */
    char key[];
};

struct units_keeper {
    struct kept kept;
    struct map by_key;    /* -> struct kept_unit */
    struct map runs;      /* key of a charm -> how many units run it, struct charm_runs */
    struct map by_status; /* key of a unit's status -> key of the charm that it runs */
    struct work work;
    uint64_t leaks; /* that were found */
};

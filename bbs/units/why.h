/* Why a unit, a unit service, a relation or a machine is not done: all that holds it, since when,
 * and what ends that (docs/units.md, Why), told of the records alone. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/map.h"

#include <stdbool.h>
#include <stdint.h>

enum { UNIT_HOLDS_MAX = 1024 };

/* Texts live in the arena. */
struct unit_hold {
    const char *by;    /* key of the record that holds: its own, when only its own way is left */
    int64_t since_ns;  /* wall clock; 0 = no record says it */
    const char *text;  /* "unit web/3 is in it: its hook stop has failed" */
    const char *ends;  /* "bbs units resolved web/3, with --retry or --skip" */
};

struct unit_why {
    struct arena *arena;
    const char *subject; /* "unit web/3", "unit service web", "relation 7", "machine 1" */
    bool done; /* it is as it should be. If not, and nothing holds it, it is leaked */
    struct unit_hold holds[UNIT_HOLDS_MAX]; /* in the order of their keys, a kind after another */
    size_t count;
    size_t more; /* that hold it too, and do not fit */
    bool unplaced; /* a unit that waits for a machine: the auctioneer may know more */
};

/* Of the record at the key; `records` has messages by their keys: those of units that there are,
 * and cells. False if there is none, or it is of another kind. */
bool units_why(struct arena *a, const struct map *records, const char *key, struct unit_why *ret);

/* The keeper of instances: it finds what is missing, too many, lost or out of date of each process
 * (passes.def) and plans its repair. Pure. */
#pragma once

#include "converger/process_cache.h"
#include "converger/work.h"

struct process {
    struct work_item item; /* first: a struct work_item * is a struct process * */
    int32_t first, last;   /* touched at these indices */
    bool full;             /* the look is one of a full pass */
    bool called;           /* for a look: by a change, a time, or a repair that was not done */
    int64_t repaired_ns;   /* monotonic: when a repair of it was last answered; 0 = never */
    int64_t gone_ns;       /* monotonic: when the first record went of those that are waited for */
    int64_t remake_ns;     /* monotonic: what is missing is made from then on; 0 = no wait */
    struct process_cache cache;
    char guid[];
};

struct instances_keeper {
    struct kept kept;
    struct map by_guid; /* -> struct process */
    struct work work;
    int64_t unplaced_after_ns;
    uint64_t found_late; /* repairs that a change should have brought, and that a full pass found */
};

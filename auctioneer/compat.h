/* Which cells a job is compatible with, judged once for all jobs that ask for the same root
 * filesystem, volume drivers, tags and machine, and are in one slice. Pure. */
#pragma once

#include "auctioneer/filter.h"
#include "auctioneer/pick.h"
#include "auctioneer/tally.h"

struct compat {
    struct pick_cells *zones; /* by zone: those that passed all filters */
    /* By zone: the furthest filter that a cell of it reached. */
    enum filter *reached;
    enum filter furthest; /* in any zone */
};

struct compats {
    struct arena *arena;
    const struct schedule_cell *cells;
    size_t cell_count;
    const uint32_t *zone_of; /* by cell */
    size_t zone_count;
    const struct reserve *reserve; /* what slices keep free; NULL = nothing */
    struct numbered_names schemes; /* of root filesystems that some cell offers as a fixed set */
    struct numbered_names keys;    /* what is asked for, as text -> number */
    struct compat **list;          /* by number */
    size_t capacity;
};

/* All members up to `zone_count` are set by the caller. */
void compats_init(struct compats *c);

/* The number of what this job asks for. */
uint32_t compats_of(struct compats *c, const struct job *job);

/* The slice that it is in; RESERVE_NO_SLICE. Only instances are in slices. */
uint32_t compats_slice_of(const struct compats *c, const struct job *job);

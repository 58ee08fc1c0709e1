/* A dry run of an auction: what would be placed where, and why. The decision is that of the auction
 * itself (schedule.h). Pure. */
#pragma once

#include "auctioneer/why.h"

/* Each job is compared with each cell once more, for its explanation. */
enum {
    SIMULATE_JOBS_MAX = 16384,
    SIMULATE_CELLS_MAX = 8192,
    SIMULATE_EXPLAINED_MAX = 100, /* that go nowhere: the first of a process, and tasks */
};

struct simulate_input {
    const struct schedule_rules *rules;
    const struct why_cell *cells; /* sorted by id, without double ones */
    size_t cell_count;
    const Board__SliceRecord *const *slices; /* sorted by uid */
    size_t slice_count;
    const struct job *jobs; /* without double ones */
    size_t job_count;
    uint64_t seed; /* of what is drawn between equal cells: the same gives the same */
};

/* What it gives lives in the arena, or is borrowed from cells and jobs. */
void simulate(struct arena *a, const struct simulate_input *in, Auction__Simulation *ret);

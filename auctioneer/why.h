/* Why a job is on no cell: which filter each cell falls to, and which cell comes nearest
 * (design.md 5, Unplaced work). Says in numbers what a placement error (filter.h) says in a word.
 * Pure. */
#pragma once

#include "auction.pb-c.h"
#include "auctioneer/schedule.h"

/* A cell that is known of. */
struct why_cell {
    const char *id;
    const Cell__CellState *state; /* NULL = not known */
    struct machine_sight machine;
    const char *unusable; /* why it is not relied on; NULL or "" = it is */
};

/* What a job is placed by; borrowed. */
struct why_input {
    const struct schedule_rules *rules;
    const struct why_cell *cells;
    size_t cell_count;
    const Board__SliceRecord *const *slices;
    size_t slice_count;
};

enum { WHY_SLICES_MAX = 8 }; /* that are told, of those whose unused room is kept */

/* Fills in what follows from cells, slices and job: counts, the nearest, the limit in flight, what
 * is kept for slices. The rest of `ret` is the caller's; strings and lists live in the arena or are
 * borrowed. */
void why_explain(struct arena *a, const struct why_input *in, const struct job *job,
                 Auction__Why *ret);

/* What slices have reserved and not used is kept free (docs/edge.md, Slices): work without a slice
 * is placed only while what stays free covers it. Slices that have whole cells reserve nothing
 * beside: their cells take no other work. Pure.
 *
 * It is a sum of each resource, over the cells that may have the slices' work:
 *   1. The reserved room of all slices beside the free room of all those cells.
 *   2. For each set of placement tags that slices ask for: that of the slices which can be on these
 *      cells only, beside the free room of these. The first RESERVE_TAG_SETS_MAX sets count.
 *   3. What runs in a slice uses its room, and asks only for what it needs beyond that: in an
 *      update, while the new runs beside the old. */
#pragma once

#include "auctioneer/score.h"
#include "auctioneer/tally.h"
#include "board.pb-c.h"

enum { RESERVE_TAG_SETS_MAX = 16 };

/* A job that is in no slice. */
#define RESERVE_NO_SLICE UINT32_MAX

/* MB, MB and a number, as in `struct room`. */
struct reserve_amount {
    double memory_mb, disk_mb, containers;
};

struct reserved_slice {
    const Board__SliceRecord *record;
    struct reserve_amount unused; /* of what it has reserved; never below 0 */
    size_t tag_set;
};

/* Some of the cells, and what must stay free on them. */
struct reserve_group {
    bool *has;    /* by cell */
    bool *counts; /* by slice: it can be on these cells only */
    struct reserve_amount free, unused;
    double proxy_mb; /* the most that a cell of them adds to an LRP's memory */
    bool closed;     /* to the present run */
};

/* A cell of the decision; borrowed. */
struct reserve_cell {
    const Cell__CellState *state;
    const struct room *room;
    bool closed; /* takes nothing: its free room counts for nothing */
};

struct reserve {
    struct arena *arena;
    const struct reserve_cell *cells;
    size_t cell_count;
    struct reserved_slice *slices;
    size_t slice_count;
    struct numbered_names processes; /* that run in slices */
    uint32_t *slice_of;              /* by process */
    struct reserve_group *groups;    /* the last is of all */
    size_t group_count;
    struct reserve_amount *counted; /* by cell: free, as it is counted in the groups */
    /* Of the present run. */
    const struct demand *demand;
    uint32_t slice;
    bool *keeps; /* by cell: its room is kept from the run */
};

/* With the rooms as they are now; nothing is to be kept if no slice is a quota (slice_count 0). */
void reserve_init(struct reserve *r, struct arena *a, const struct reserve_cell *cells,
                  size_t cell_count, const Board__SliceRecord *const *slices, size_t slice_count);

/* In which slice the instances of a process are; RESERVE_NO_SLICE. */
uint32_t reserve_slice_of(const struct reserve *r, const char *process_guid);

/* A run of jobs that ask for this, which lives as long as the run: says which cells are kept from
 * it. */
void reserve_begin(struct reserve *r, uint32_t slice, const struct demand *q);

/* A job of this slice has taken what it asks for of the cell, whose room shows it. */
void reserve_took(struct reserve *r, uint32_t slice, size_t cell, const struct demand *q);

/* After that: whether more cells are kept from the present run. Once kept, a cell stays so. */
bool reserve_narrows(struct reserve *r);

/* The group that keeps this cell from the run; NULL = none does. */
const struct reserve_group *reserve_keeper(const struct reserve *r, size_t cell);

/* What the run's jobs ask of a group, the proxy's memory included. */
struct reserve_amount reserve_needed(const struct reserve *r, const struct reserve_group *g);

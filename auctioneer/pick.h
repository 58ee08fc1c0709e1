/* The best cell for each job of a run: jobs that ask for the same and are compatible with the same
 * cells. Scores only rise while a batch is placed, so the cells of a zone stand in a heap by the
 * part of the score that all jobs of the run share, and only the few that can still win are looked
 * at. Gives exactly what a look at every cell would give. Pure. */
#pragma once

#include "auctioneer/reserve.h"
#include "auctioneer/tally.h"

/* Shorter runs are not worth a heap: each job looks at every cell of the zones it tries. */
enum { PICK_HEAP_MIN_JOBS = 8 };
/* Instances looked up in one zone before the lower bound of the locality is found again. */
enum { PICK_LOOKUPS_MAX = 64 };

/* Some cells of one zone. */
struct pick_cells {
    uint32_t *cells;
    size_t count;
};

/* The heap of a zone: its cells that fit. */
struct pick_zone {
    uint32_t *cells;
    double *bases; /* score_base of each */
    size_t count;
};

struct pick {
    const struct score_rules *rules;
    struct room *rooms; /* by cell */
    const uint32_t *ranks; /* by cell: of equal ones the lower rank wins */
    struct tally *tally;
    struct reserve *reserve; /* what slices keep free; NULL = nothing */
    struct pick_zone *zones;
    size_t zone_count;
    uint32_t *zone_of;   /* by cell */
    uint32_t *positions; /* by cell: where it stands in its zone; NOWHERE = does not fit */
    /* By process and zone: no cell of the zone that fits holds fewer instances of the process. Not
     * used for a process whose jobs ask for different things (`mixed`, by process): what fits one
     * need not fit the other. */
    uint32_t *floors;
    bool *mixed;
    struct demand demand;           /* of the run */
    uint32_t slice;                 /* that the run's jobs are in */
    const struct pick_cells *cells; /* of the run, by zone: compatible ones */
    /* Of the run, which is of one job then: cells that come last, in this order. */
    const uint32_t *late;
    size_t late_count;
    bool heaped;
};

/* All members up to `mixed` are set by the caller; zones have room for all their cells. */

/* Begins a run of `jobs` jobs, which are in this slice (RESERVE_NO_SLICE), on those of the
 * compatible cells (by zone) that fit. No cell is late. */
void pick_begin(struct pick *p, uint32_t slice, const struct demand *q,
                const struct pick_cells *cells, size_t jobs);

/* The best cell of these zones for an instance of `process`: the lowest score, among equal ones the
 * lower shared part, then the lower rank. -1 if none fits. */
int64_t pick_best(struct pick *p, const uint32_t *zones, size_t count, uint32_t process);

/* Of a run of a single job: these cells come last, in this order. pick_best() passes over them. */
void pick_set_late(struct pick *p, const uint32_t *late, size_t count);

/* The first of the late cells that is compatible, in one of these zones, and fits. -1 if none is.
 */
int64_t pick_late(const struct pick *p, const uint32_t *zones, size_t count);

/* How many cells of these zones are as good as `cell`, the best of them, for an instance of
 * `process`, itself among them. Looks at every cell: for explanations. */
uint32_t pick_count_equals(const struct pick *p, const uint32_t *zones, size_t count,
                           uint32_t process, uint32_t cell);

/* The cell of these zones that would have won if failed starts counted for nothing; `cell`, the
 * best of them, if that is the same. Looks at every cell: for explanations. */
uint32_t pick_spared(const struct pick *p, const uint32_t *zones, size_t count, uint32_t process,
                     uint32_t cell);

/* Whether a cell that has the room is kept from the run for slices. */
bool pick_kept(const struct pick *p, uint32_t cell);

/* A job of the run was placed on `cell`: takes its room and keeps the order. */
void pick_take(struct pick *p, uint32_t cell, uint32_t process);

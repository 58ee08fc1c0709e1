/* Node pools: whole cells that a system's services have for themselves (docs/systems.md, Node
 * pools; common/lifecycle/pool.def). All is done by moves of the converger. Pure.
 *
 * What a pool is to be stands in the definition: open, adjust and renew say what they read there,
 * and are refused when the head says otherwise by now. A pool has an epoch for each instance type
 * that services are on yet; the newest is the last. `open` makes number 1, or takes a pool that is
 * being deleted as it is.
 *
 *   open     the record, with the first epoch; there already: nothing
 *   adjust   another number of cells; so already: nothing
 *   renew    another instance type, and number: one epoch more, or an older one of that type is the
 *            newest again; so already: nothing. At most POOL_EPOCHS_MAX: ResourceConflict
 *   assign   `cell_id` becomes one of `epoch`, which is the newest: cell and pool in one
 *            transaction. Has it already: nothing. At most POOL_CELLS_MAX: ResourceConflict
 *   retire   `epoch` is over: one that is not the newest, or any of a pool that is deleted, which
 *            no service and no run names. Without cells it is gone at once
 *   release  `epoch` gives `cell_id` back: one of an epoch that is over, one too many, LOST or
 *            being emptied, with nothing on it; or one that the pool has no more. With the last
 *            cell of an epoch that is over that epoch goes. Has it not: nothing
 *   observe  state and message, as they follow from the record that was judged
 *   delete   no definition wants it, or its system goes
 *   remove   its record, when it has no epoch
 *
 * What is on a cell is compared as a whole: assign and release fail while any instance or task of
 * the board changes in the same moment, and are to be tried again. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"

extern const struct move_family pool_moves;

/* What `path:name` is by the definition that stands: NULL = no definition has it. Its type may be
 * POOL_SHARED_TYPE. Head and component are noted. */
const Board__NodePool *pool_defined(struct view *v, const Board__HeadRecord *head,
                                    const char *name);

/* Where what names a pool is to run. */
struct pool_place {
    const char *name; /* path:name; "" = on shared cells */
    const char *tag;  /* that it bears; NULL = none */
    uint32_t epoch;   /* 0 = none */
    const char *lack; /* why there is no such place yet, for people; NULL = there is */
};

/* The place in the newest epoch of the pool `name` ("" = none) of the system, or on shared cells,
 * as the definition that stands wants it. What it rests on is noted; texts are in the arena. */
struct pool_place pool_place_gather(struct view *v, const char *uid, const Board__HeadRecord *head,
                                    const char *name);

/* The pool that a component names: its own, "<path>:", or one of a system; "" = shared cells,
 * as far as it says it itself. In the arena. */
const char *pool_of_component(struct arena *a, const Board__ComponentRecord *c);

/* The placement tags with the tag of the place behind, in the arena. */
char **pool_place_tags(struct arena *a, const struct pool_place *place, char *const *tags,
                       size_t count, size_t *ret_count);

/* ---- for the rows ---------------------------------------------------------------------------- */

struct pool_snapshot {
    struct speaker by;
    const char *board_generation;
    const Board__SystemRecord *system; /* NULL = none, or another of that id */
    const Board__PoolRecord *pool;     /* NULL = none */
    int64_t revision;                  /* of its record */
    const Board__NodePool *defined;    /* of DEFINED; NULL = no definition has it */
    const Board__CellRecord *cell;     /* of ON_CELL; NULL = none */
    bool busy;                         /* something is on the cell */
    /* Of ON_CELL, cells of the epoch: but LOST and emptied ones; but those that are to go; but
     * both. */
    size_t serving, staying, serving_and_staying;
    bool named;                        /* of NAMES */
};

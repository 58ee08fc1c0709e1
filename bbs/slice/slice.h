/* Slices: room of this cluster that is kept for one owner each (docs/edge.md, Slices;
 * common/lifecycle/slice.def). All is done by moves of the CRM that leads at this site. Pure.
 *
 *   make    the record; with `cells` these are its own: slice and cells in one transaction.
 *           There already with this digest: nothing; with another one: ResourceConflict
 *   resize  another number or size of nodes, or other cells; so already: nothing
 *   drop    the record, and its cells are given back. Not there: nothing
 *
 * make and resize are refused (ResourceConflict, which says what is short) where its nodes have no
 * room beside those of all other slices (common/model/slice_fit.h), or what runs in it has none in
 * its nodes. Whether work without a slice has taken the room meanwhile is not asked: the auctioneer
 * keeps it free from then on. A cell that a slice takes is PRESENT, of no pool or slice, asks for
 * no tags, and nothing is on it; one that it gives back has nothing on it either.
 *
 * That no slice is newer, and the cells that change, are compared. The other cells are not: one
 * that is lost in the same moment leaves slices without their room, as one that is lost a moment
 * later does. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/slice_fit.h"

#include "board.pb-c.h"

extern const struct move_family slice_moves;

/* ---- for the rows ---------------------------------------------------------------------------- */

/* A cell that the slice has whole, or is to have. */
struct slice_own_cell {
    const char *id;
    const Board__CellRecord *cell; /* NULL = none */
    bool used;                     /* something is on it */
    bool had, wanted;              /* before the move; after it */
};

struct slice_snapshot {
    struct speaker by;
    const Board__SliceRecord *slice; /* NULL = none */
    const Board__SliceRecord *others[SLICES_MAX];
    size_t other_count;
    bool too_many;                   /* there is no room for one more record */
    const Board__CellRecord **cells; /* all there are, by cell id */
    size_t cell_count;
    struct slice_own_cell own[2 * SLICE_CELLS_MAX];
    size_t own_count;
};

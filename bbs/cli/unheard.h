/* Instances that are to stop, or were replaced, on cells of which nothing is heard: the board gives
 * their records up, but what runs there runs on until the cell is back. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "models/actual_lrp.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "LOST", "LOST, held", "gone"; NULL of a cell that is PRESENT, and when `cells` is NULL: not
 * known. */
const char *cell_silence(const Board__CellsStatus *cells, const char *cell_id);

/* An instance that a cell had when the command began. */
struct placed {
    const char *process_guid;
    const char *cell_id;
    bool silent; /* its cell was silent already */
};

/* Of the records of a process: those that a cell has, with an index of at least `from`, in
 * *ret_all; gives how many. */
size_t unheard_note(struct arena *a, const char *process_guid, int32_t from,
                    Models__ActualLRP *const *actuals, size_t count,
                    const Board__CellsStatus *cells, struct placed **ret_all);

/* The board says that all of the process have stopped. Which of those noted may run still, because
 * nothing is heard of their cell now (`cells`; NULL = as it was when they were noted):
 *   "1 may still run on cell-2, which is LOST; it is stopped when the cell is back"
 * NULL = none. A cell that left meanwhile was emptied first. */
const char *unheard_text(struct arena *a, const char *process_guid, const struct placed *all,
                         size_t count, const Board__CellsStatus *cells);

/* Of the records of a process: which instances of this index are on cells of which nothing is
 * heard, and run on there whatever is made in their place: "the old one may still run on cell-2,
 * which is LOST, until that is back" NULL = none. */
const char *unheard_old_text(struct arena *a, int32_t index, Models__ActualLRP *const *actuals,
                             size_t count, const Board__CellsStatus *cells);

/* The cells of which nothing is heard, which cannot be asked what they keep:
 *   "cell-2 is LOST and cannot be asked"
 * NULL = all are heard, or `cells` is NULL. */
const char *unheard_cells_text(struct arena *a, const Board__CellsStatus *cells);

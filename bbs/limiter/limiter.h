/* The mass-loss limiter (design.md 6): the board's list of cells that are silent and yet not LOST.
 * The converger holds and releases by named moves, an operator confirms and keeps. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/settings.h"

#include "board.pb-c.h"

/* The cell is listed, and may not be lost. `limiter` may be NULL. By its id alone: a cell that came
 * back with another incarnation and fell silent again fell silent with the others. */
bool limiter_holds(const Board__LimiterRecord *limiter, const char *cell_id);

/* What people are shown of a cell: its record, and whether the mass-loss limiter holds it. */
void cell_status(const Board__CellRecord *cell, const Board__LimiterRecord *limiter,
                 Board__CellStatus *ret_status);

enum { LIMITER_CELLS_MAX = 10000 }; /* twice the cells of the largest cluster (design.md 10) */

/* The moves of the converger: hold, which lists the cells, and release. */
extern const struct move_family limiter_moves;

struct limiter_snapshot {
    struct speaker by;
    const Board__LimiterRecord *limiter; /* as it stands; NULL = none */
    struct sighting seen;            /* by this process */
    const struct settings *settings; /* in force */
};

/* An operator's word: a Board__LimiterRequest; the plan's record is the Board__LimiterRecord as it
 * stands after it. */
extern const struct op_row limiter_word_row;
struct limiter_word_snapshot {
    const Board__LimiterRecord *limiter; /* as it stands; NULL = none */
};
void limiter_word_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* Notes what is wrong with the request. */
void valid_limiter_word(struct validation *v, const Board__LimiterRequest *request);

/* The mass-loss brake (design.md 6): the board's list of cells that are silent and yet not LOST.
 * The converger brakes and releases by named moves, an operator confirms and keeps. Pure. */
#ifndef BBS_BRAKE_BRAKE_H
#define BBS_BRAKE_BRAKE_H

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/brake_times.h"

#include "board.pb-c.h"

/* The cell is listed, and may not be lost. `brake` may be NULL. By its id alone: a cell that came
 * back with another session and fell silent again fell silent with the others. */
bool brake_holds(const Board__BrakeRecord *brake, const char *cell_id);

/* What people are shown of a cell: its record, and whether the brake holds it. */
void cell_status(const Board__CellRecord *cell, const Board__BrakeRecord *brake,
                 Board__CellStatus *ret_status);

enum { BRAKE_CELLS_MAX = 10000 }; /* twice the cells of the largest cluster (design.md 10) */

/* The moves of the converger: brake, which lists the cells, and release. */
extern const struct move_family brake_moves;

struct brake_snapshot {
    struct speaker by;
    const Board__BrakeRecord *brake; /* as it stands; NULL = none */
    struct sighting seen;            /* by this process */
};

/* An operator's word: a Board__BrakeRequest; the plan's record is the Board__BrakeRecord as it
 * stands after it. */
extern const struct op_row brake_word_row;
struct brake_word_snapshot {
    const Board__BrakeRecord *brake; /* as it stands; NULL = none */
};
void brake_word_decide(const void *snapshot, const struct op_input *in, struct plan *p);

void valid_brake_word(struct validation *v, const Board__BrakeRequest *request);

#endif

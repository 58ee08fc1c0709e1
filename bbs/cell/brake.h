/* The mass-loss brake (DESIGN 6): the board's list of cells that are silent and yet not LOST. The
 * converger brakes and releases by named moves, an operator confirms and keeps. Pure. */
#ifndef BBS_CELL_BRAKE_H
#define BBS_CELL_BRAKE_H

#include "bbs/board/op.h"
#include "bbs/lrp/move.h"
#include "bbs/lrp/validate.h"
#include "common/model/brake_times.h"

#include "board.pb-c.h"

/* The cell is listed, and may not be lost. `brake` may be NULL. By its id alone: a cell that came
 * back with another session and fell silent again fell silent with the others. */
bool brake_holds(const Board__BrakeRecord *brake, const char *cell_id);

/* What people are shown of a cell: its record, and whether the brake holds it. */
void cell_status(const Board__CellRecord *cell, const Board__BrakeRecord *brake,
                 Board__CellStatus *ret_status);

/* Where the moves `brake` and `release` gather from, a struct move_snapshot. */
const char *brake_target(struct arena *a, const struct op_input *in);
void brake_gather(struct view *v, const struct op_input *in, void *snapshot);
void brake_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void release_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* An operator's word: a Board__BrakeRequest; the plan's record is the Board__BrakeRecord as it
 * stands after it. */
extern const struct op_row brake_word_row;
struct brake_word_snapshot {
    const Board__BrakeRecord *brake; /* as it stands; NULL = none */
};
void brake_word_decide(const void *snapshot, const struct op_input *in, struct plan *p);

void valid_brake_word(struct validation *v, const Board__BrakeRequest *request);

#endif

/* Cells: opening a session, being counted, being lost (DESIGN 6). Pure. */
#ifndef BBS_CELL_CELL_H
#define BBS_CELL_CELL_H

#include "bbs/board/op.h"
#include "bbs/lrp/move.h"
#include "bbs/lrp/validate.h"

#include "board.pb-c.h"

/* Board__CellRequest; the plan's record is the Board__CellRecord as it stands. */
extern const struct op_row cell_row;

struct cell_snapshot {
    const Board__CellRecord *cell; /* as it stands; NULL = none */
};
void cell_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* The state in common/lifecycle/cell.def; CELL_NONE for NULL. */
int cell_state(const Board__CellRecord *cell);

/* The move of the converger: where it gathers from, a struct move_snapshot. */
const char *lose_target(struct arena *a, const struct op_input *in);
void lose_gather(struct view *v, const struct op_input *in, void *snapshot);
void lose_decide(const void *snapshot, const struct op_input *in, struct plan *p);

void valid_cell(struct validation *v, const Board__CellRequest *request);

/* Whether a beat of a cell counts: NULL if it does, otherwise why not. `cell` may be NULL. */
const char *cell_beat_refused(struct arena *a, const Board__CellRecord *cell,
                              const Board__CellBeat *beat);

#endif

/* Cells: beginning an incarnation, being counted, being lost (design.md 6). Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"

/* Board__CellRequest; the plan's record is the Board__CellRecord as it stands. */
extern const struct op_row cell_row;

struct cell_snapshot {
    const Board__CellRecord *cell; /* as it stands; NULL = none */
};
/* Decides a Board__CellRequest. */
void cell_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* The state in common/lifecycle/cell.def; CELL_NONE for NULL. */
int cell_state(const Board__CellRecord *cell);

/* The move of the converger about a cell that the failure detector did not hear of: lose. */
extern const struct move_family cell_moves;

struct lose_snapshot {
    struct speaker by;
    const Board__CellRecord *cell;   /* the one that the move names; NULL = none */
    const Board__LimiterRecord *limiter; /* NULL = none */
};

/* Notes what is wrong with the request. */
void valid_cell(struct validation *v, const Board__CellRequest *request);

/* Who may speak for whom (design.md 6, Fencing): a rep for its own cell, with the incarnation that
 * the board has; a leader in its term and board generation. For moves and heartbeats. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

/* What the board has of the caller. */
struct speaker {
    const Board__CellRecord *cell; /* of a rep; NULL = it has no record */
    int64_t leader_lock_term;      /* of a leader's lock; 0 = nobody leads */
    const char *board_generation;  /* of the board */
};

/* Reads what the board says of the caller, for the decision of its move. */
void speaker_gather(struct view *v, const struct op_input *in, struct speaker *ret);

/* True if the caller may bring this move, a Board__Move; otherwise the plan is refused. */
bool speaker_authorised(const struct speaker *s, const struct op_input *in, struct plan *p);

/* The same of a leader's request that is no move: in this term. */
bool speaker_in_term(const struct speaker *s, const struct op_input *in, const Board__Term *term,
                     struct plan *p);

/* The same, of what is on a cell: a rep moves nothing of another one's. `things` for the message:
 * "instances". */
bool speaker_authorised_for(const struct speaker *s, const struct op_input *in, const char *cell_id,
                            const char *things, struct plan *p);

/* Why an incarnation is not the board's, or a term; NULL if it is. `cell` may be NULL; `stands` is
 * 0 when nobody leads. */
const char *incarnation_refused(struct arena *a, const Board__CellRecord *cell, const char *cell_id,
                                uint64_t incarnation);
const char *term_refused(struct arena *a, const char *role, int64_t stands, int64_t term);

/* The cell is not there: it has no record, or is LOST. */
bool cell_is_absent(const Board__CellRecord *cell);

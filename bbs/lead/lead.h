/* Leaders' locks: acquiring, displacing, releasing (design.md 6, Fencing). Pure. */
#ifndef BBS_LEAD_LEAD_H
#define BBS_LEAD_LEAD_H

#include "bbs/board/op.h"
#include "bbs/board/validation.h"

#include "board.pb-c.h"

/* Board__LeadRequest; the plan's record is the Board__LeadRecord as it stands after it. */
extern const struct op_row lead_row;

struct lead_snapshot {
    const Board__LeadRecord *lead; /* as it stands; NULL = free */
    int64_t term;                  /* its create-revision */
};
void lead_decide(const void *snapshot, const struct op_input *in, struct plan *p);

void valid_lead(struct validation *v, const Board__LeadRequest *request);

#endif

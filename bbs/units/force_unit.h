/* The slices of the jobs by which a unit ends (unit_jobs.h opens them). Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

enum { DEPARTED_AT_ONCE = 50 };

/* A membership of a dying unit says so, if it does not yet; `member` may be NULL: it has left. */
void unit_depart_put(struct plan *p, const struct op_input *in, const char *key,
                     const Board__RelationMemberRecord *member);

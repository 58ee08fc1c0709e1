/* Leaders' locks: acquiring, displacing, releasing (design.md 6, Fencing). Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"

#include "board.pb-c.h"

/* Board__LeaderLockRequest; the plan's record is the Board__LeaderLockRecord as it stands after it.
 * */
extern const struct op_row leader_lock_row;

struct leader_lock_snapshot {
    const Board__LeaderLockRecord *leader_lock; /* as it stands; NULL = free */
    int64_t term;                  /* its create-revision */
};
/* Decides a Board__LeaderLockRequest, from a leader_lock_snapshot. */
void leader_lock_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* Notes what is wrong with the request. */
void valid_leader_lock(struct validation *v, const Board__LeaderLockRequest *request);

/* Locks and presences of owners outside the cluster, as Diego's Locket keeps them
 * (rep-auctioneer.md 6): claim, renew, release, expire (common/lifecycle/lock.def). Nobody gets
 * the name of a cell or of a role of ours. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"

#include "board.pb-c.h"

/* Names and values in characters, as Locket's columns hold them. */
enum { LOCK_NAME_CHARACTERS_MAX = 255, LOCK_VALUE_CHARACTERS_MAX = 4096 };

/* Models__LockRequest, Models__ReleaseRequest, both with a resource. Refused: LockCollision. */
extern const struct op_row lock_row;
extern const struct op_row release_lock_row;

/* The move of the converger: expire, of the revision that it judged. */
extern const struct move_family lock_moves;

struct lock_snapshot {
    const Board__LockRecord *lock; /* as it stands; NULL = none */
    int64_t revision;              /* its mod-revision */
    int64_t since_ns;              /* since when this bbs has seen that revision, monotonic */
    bool ours;                     /* a cell or a role of ours bears the name */
    struct speaker by;             /* of expire */
};

/* Decide Locket's LockRequest and ReleaseRequest, from a lock_snapshot. */
void lock_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void release_lock_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* Whether the name is that of a role, which leads by lead/<role> or, as `bbs`, needs no lock. */
bool lock_name_of_role(const char *name);

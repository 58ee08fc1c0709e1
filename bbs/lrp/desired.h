/* Desired LRPs: desire, update, remove (behaviour.md 8). Each an op whose decision is a pure
 * function of the snapshot; the rules are numbered in their own files. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/lrp/instances.h"
#include "bbs/slice/use.h"
#include "models/desired_lrp_requests.pb-c.h"

/* Both halves of a DesiredLRP travel in one transaction, beside a portion of instances: together
 * they may be this large. */
enum { DESIRED_BYTES_MAX = RECORD_MAX_BYTES - 64 * 1024 };

struct desired_snapshot {
    const Models__DesiredLRP *desired; /* scheduling part, as it stands; NULL = none */
    const Board__JobRecord *job;       /* the one that stands for it; NULL = none */
    const char *board_generation;      /* of the board */
    bool removal_unreadable;           /* a later version's stands where one would be put */
    const char *owned;                 /* by a service, which alone may change it: what is said to a
                                          client; NULL = he may */
    struct slice_use use;              /* of the slice that it is in */
    bool replacement_missing;          /* a removal names a replaced_by that is not there */
    struct instances instances;        /* that must change under the request */
};

extern const struct op_row desire_row; /* Models__DesireLRPRequest */
extern const struct op_row update_row; /* Models__UpdateDesiredLRPRequest */
extern const struct op_row remove_row; /* Models__RemoveDesiredLRPRequest */

/* Whether an ordinary client may desire with this owner: what is a service's, it makes itself. */
bool desired_owner_is_free(const Models__Owner *owner);

/* For update and remove: the client is refused if it is a service's, and whoever may not ask for
 * what is in its slice, or in none. `term` is the request's. */
void desired_gather_owned(struct view *v, const struct op_input *in, struct desired_snapshot *s);
bool desired_refuses(const struct desired_snapshot *s, const struct op_input *in,
                     const Board__Term *term, struct plan *p);

/* Splits a DesiredLRP as stored: the scheduling part (in every bbs's copy, holds all that an update
 * may change) and the rest, written once (design.md 2). Shallow. */
void desired_split(struct arena *a, const Models__DesiredLRP *whole,
                   Models__DesiredLRP **ret_scheduling, Models__DesiredLRP **ret_run);

/* The record at desired/<process_guid>, and the job of its instances, noted. */
void desired_gather(struct view *v, const char *process_guid, struct desired_snapshot *s);

/* Shared: what the request leaves of `wanted` instances over a range, with an old job's range. */
void desired_gather_instances(struct view *v, const char *process_guid, int32_t wanted,
                              const char *definition_id, int32_t from, int32_t end,
                              struct desired_snapshot *s);

/* Shared: the record that desired_put_removal writes, noted. There is a DesiredLRP. */
void desired_gather_removal(struct view *v, struct desired_snapshot *s);

/* Shared: the request lets nothing of this definition run from `from_index` on, which is written
 * down beside what it does to the records that stand (move.h, removal). */
void desired_put_removal(struct plan *p, const struct desired_snapshot *s, int32_t from_index,
                         const char *move, enum actor actor);

/* For tests. */
void desire_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void update_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void remove_desired_decide(const void *snapshot, const struct op_input *in, struct plan *p);

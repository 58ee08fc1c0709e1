/* Units whose end takes a job: their memberships depart, and their end is forced. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

enum {
    DEPARTED_AT_ONCE = 50,
    FORCE_WAIT_S = 60, /* so long the agents have, unless the client says another time */
    FORCE_WAIT_MAX_MS = 3600 * 1000, /* a job waits no longer */
};

/* The names of such jobs; the target is the unit's guid. */
#define DEPART_UNIT_JOB "depart"
#define FORCE_UNIT_JOB "force"

/* The memberships of a unit that has just become dying say that they depart. */
void depart_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit);

/* The unit is ended by the job, not before that time is over; 0 = the default, < 0 = at once. */
void force_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit,
                     int64_t max_wait_ms);

/* How long that is. */
int64_t force_wait_ns(int64_t max_wait_ms);

/* A membership of a dying unit says so, if it does not yet; `member` may be NULL: it has left. */
void unit_depart_put(struct plan *p, const struct op_input *in, const char *key,
                     const Board__RelationMemberRecord *member);

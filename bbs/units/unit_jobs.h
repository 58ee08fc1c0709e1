/* Jobs about units (docs/units.md, Jobs): what their portions share. A job's target is the guid of
 * what it works on, so that it never takes up what another one of that name has become. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

enum {
    FORCE_WAIT_S = 60, /* so long the agents have, unless the client says another time */
    FORCE_WAIT_MAX_MS = 3600 * 1000, /* a job waits no longer */
};

/* A job that a plan opens, worked on by this bbs; with an empty body, for the caller to fill. Names
 * are copied. */
Board__JobRecord *units_job_new(struct arena *a, const struct op_input *in,
                                Board__JobRecord__Kind kind, const char *target, const char *name);
void units_job_open(const Board__JobRecord *job, const struct op_input *in, struct plan *p);

/* ---- Of a unit that ends --------------------------------------------------------------------- */

/* The names of such jobs; the target is the unit's guid. */
#define DEPART_UNIT_JOB "depart"
#define FORCE_UNIT_JOB "force"

/* The memberships of a unit that has just become dying say that they depart. */
void depart_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit);

/* The unit is ended by the job, not before that time is over since somebody asked (wall clock); 0 =
 * the default, < 0 = at once. */
void force_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit,
                     int64_t max_wait_ms, int64_t asked_ns);

/* How long that is. */
int64_t force_wait_ns(int64_t max_wait_ms);

/* ---- Of a machine that ends ------------------------------------------------------------------ */

/* The name of such a job; the target is the machine's guid. */
#define FORCE_MACHINE_JOB "force"

/* Each principal is destroyed at once, and ended whatever its agent does after that time; the
 * machine is destroyed when it is empty. */
void force_machine_open(struct plan *p, const struct op_input *in,
                        const Board__MachineRecord *machine, int64_t max_wait_ms);

/* ---- In a portion ---------------------------------------------------------------------------- */

/* The job of the request as it stands; NULL = it is over. */
const Board__JobRecord *units_job_gather(struct view *v, const struct op_input *in);

/* A copy to be changed: its body too. */
Board__JobRecord *units_job_copy(struct arena *a, const Board__JobRecord *job);
void units_job_advance(const Board__JobRecord *job, const struct op_input *in, struct plan *p);
void units_job_finish(const Board__JobRecord *job, const struct op_input *in, struct plan *p);

/* The record of the service that the job is of: NULL if that is gone, or another has the name. */
const Board__UnitServiceRecord *units_job_service(struct view *v, const Board__JobRecord *job);

/* The first key that starts with `range` and comes after `cursor`, "" = the first of all; NULL =
 * there is none. In the arena; nothing is noted. */
const char *units_key_after(struct view *v, const char *range, const char *cursor);

/* All portions of a service take turns, and so do requests about it. */
const char *units_job_of_service(struct arena *a, const struct op_input *in);

/* The units of a dying service are destroyed, by a job. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

/* The agents of its units come first, and destroy them; so long after it the job does the rest. */
enum { END_UNITS_AGENTS_S = 5 };

/* So many that wait for a machine go in one transaction. */
enum { END_UNITS_AT_ONCE = 22 };

/* Those of a service that is forced: such a job ends their ends, when the agents have had their
 * time. */
#define FORCE_UNITS_JOB "force"
enum { FORCED_AT_ONCE = 50 };

/* `forced`: ends whatever they are, not before that time (unit_jobs.h). */
void end_units_open(struct plan *p, const struct op_input *in, const Board__UnitServiceRecord *s,
                    bool forced, int64_t max_wait_ms);

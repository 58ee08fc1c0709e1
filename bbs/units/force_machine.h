/* The end of a machine with units, forced: by a job. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

/* The name of such a job; the target is the machine's guid. */
#define FORCE_MACHINE_JOB "force"

/* Opens it: each principal is destroyed at once, and ended whatever its agent does after max_wait
 * (unit_jobs.h, force_wait_ns); the machine is destroyed when it is empty. */
void force_machine_open(struct plan *p, const struct op_input *in,
                        const Board__MachineRecord *machine, int64_t max_wait_ms);

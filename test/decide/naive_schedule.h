/* The rules of rep-auctioneer.md 5, of docs/instances.md, Zones, and of docs/edge.md, Slices,
 * written down as plainly as possible: each job looks at every cell. What auctioneer/schedule.h
 * gives must be the same. For tests. */
#pragma once

#include "auctioneer/schedule.h"

/* Decides the jobs in the order of `order` (job_count positions in in->jobs). */
struct decision *naive_schedule(struct arena *a, const struct schedule_input *in,
                                const size_t *order);

/* Whether section 5, without its quirk (docs/tasks.md), allows `b` to be decided right after `a`.
 */
bool naive_may_follow(const struct job *a, const struct job *b);

/* Whether this cell comes last for the job. */
bool naive_is_late(const struct job *job, int64_t cell);

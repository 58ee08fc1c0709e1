/* One reconcile function for all causes: a change (of a record, a container, an answer, time) only
 * queues the containers that it concerns; every 30 s the rep looks at all containers and records
 * (design.md 5, Harmonising). */
#pragma once

#include "rep/container/container.h"

struct rep;

/* Containers looked at in one step, and the memory of a step with which no further one is; the rest
 * wait for the next, which is asked for at once. */
enum { RECONCILE_A_STEP_MAX = 512, RECONCILE_BYTES_ENOUGH = 8 * 1024 * 1024 };

/* The end of each step: acts on what is queued, passes over everything when that is due, sends the
 * moves, and says when it wants to be woken. */
void reconcile(struct rep *r, struct effects *out);

/* The end of REMOVE; the container's operation is over already, and so it may be itself. */
void reconcile_removed(struct rep *r, struct container *c, const struct verb_answer *answer,
                       struct effects *out);

/* The state of a system, a function of the states of its services and of whether all of them were
 * told what is to stand (docs/systems.md, The state of a system). Jobs have no part in it. Pure.
 *
 * The first that holds:
 *   1. a service has failed                                   degraded
 *   2. one is pending, updating or deleting, or not all were told  updating
 *   3. one is scaling                                         scaling
 *   4. otherwise, also without any service                    stable */
#pragma once

#include "common/base/arena.h"
#include "common/lifecycle/service.h"

#include <stdbool.h>
#include <stddef.h>

/* How many services of a system are in each state: kept up with each change, in no time. */
struct system_tally {
    size_t of[SERVICE_STATE_COUNT];
    size_t total;
};

/* One service more, or one less that was counted, of this SERVICE_<STATE>. One that a newer version
 * wrote (-1) counts as updating: nobody of this version knows when it is not. */
void system_tally_add(struct system_tally *t, int service_state);
void system_tally_take(struct system_tally *t, int service_state);

/* SYSTEM_STABLE, SYSTEM_UPDATING, SYSTEM_SCALING or SYSTEM_DEGRADED. `spread`: every service was
 * told of the definition that is to stand. */
int system_state_of(const struct system_tally *t, bool spread);

/* The same in a sentence for people, "" when nothing is to be said: "2 of 3 services are stable".
 */
const char *system_state_text(struct arena *a, const struct system_tally *t, bool spread);

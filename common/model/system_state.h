/* The state of a system, a function of the states of its services and node pools and of whether all
 * of them were told what is to stand (docs/systems.md, The state of a system). Jobs have no part in
 * it, nor has a service's own pool: the service tells of it. Pure.
 *
 * The first that holds, of services and pools:
 *   1. one has failed                                         degraded
 *   2. one is pending, updating or deleting, or not all were told  updating
 *   3. one is scaling                                         scaling
 *   4. otherwise, also without any                            stable */
#pragma once

#include "common/base/arena.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/service.h"

#include <stdbool.h>
#include <stddef.h>

/* How many services and pools of a system are in each state: kept up with each change, in no time.
 */
struct system_tally {
    size_t of[SERVICE_STATE_COUNT];
    size_t total; /* services */
    size_t pools_of[POOL_STATE_COUNT];
    size_t pools;
};

/* One service more, or one less that was counted, of this SERVICE_<STATE>. One that a newer version
 * wrote (-1) counts as updating: nobody of this version knows when it is not. */
void system_tally_add(struct system_tally *t, int service_state);
void system_tally_take(struct system_tally *t, int service_state);

/* The same of a node pool that is not a service's own: POOL_<STATE>. */
void system_tally_add_pool(struct system_tally *t, int pool_state);
void system_tally_take_pool(struct system_tally *t, int pool_state);

/* SYSTEM_STABLE, SYSTEM_UPDATING, SYSTEM_SCALING or SYSTEM_DEGRADED. `spread`: every service was
 * told of the definition that is to stand. */
int system_state_of(const struct system_tally *t, bool spread);

/* The same in a sentence for people, "" when nothing is to be said: "2 of 3 services are stable; 1
 * of 1 node pool failed". */
const char *system_state_text(struct arena *a, const struct system_tally *t, bool spread);

/* The state of a service, a function of what was counted (docs/systems.md, The state of a service).
 * Pure.
 *
 * The first that holds:
 *    0. its life is over                                            deleting
 *    1. nobody has ever looked at it                                pending
 *    2. the new definition is not taken up yet                      updating
 *    3. it is incomplete and came no nearer for too long, or its node
 *       pool has failed, and it is not held; or an instance crashed
 *       for good                                                    failed
 *    4. its node pool is not there                                  updating
 *    5. its node pool has fewer cells than it is to have            updating
 *    6. its DesiredLRP has not the routes of the definition         updating
 *    7. its own node pool has cells of before                       updating
 *    8. there is no DesiredLRP of the target                        updating
 *    9. instances of other revisions are there                      updating
 *   10. too few are of the target or available, or some end         scaling
 *   11. otherwise                                                   stable
 * 7 is told after 9 and 10, for it waits for them. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the node pool of whole cells that a service runs in. READY also without one. */
enum service_pool {
    SERVICE_POOL_READY,
    SERVICE_POOL_ABSENT, /* there is none yet, or it goes */
    SERVICE_POOL_SHORT,  /* it has fewer cells than it is to have */
    SERVICE_POOL_FAILED, /* the same, for too long */
    SERVICE_POOL_OLD,    /* its own: has its cells, and some of before */
};

struct service_facts {
    bool deleting;
    uint64_t generation, observed;
    int32_t instances; /* wanted */
    bool stands;       /* there is a DesiredLRP of the target */
    bool fits;         /* it has the routes, tags and policies of the definition */
    bool overdue;      /* no progress for the deadline */
    bool spent;        /* an instance of the target crashed for good */
    const char *crash; /* the last one of the target, a clause; NULL or "" = none */
    const char *held;  /* why nothing is done to it, a clause; "" = it is not held */
    enum service_pool pool;
    const char *pool_text; /* what its pool says of itself, a clause; NULL or "" = nothing */
    int64_t deadline_s;
    int32_t total, updated, available, terminating; /* as Board__Counts */
};

/* SERVICE_<STATE> of common/lifecycle/service.h. */
int service_state_of(const struct service_facts *f);

/* Whether it runs as it is to run, whatever kept it from that: rows 6 and 8 to 10 do not hold. */
bool service_complete(const struct service_facts *f);

/* The same in a sentence for people, "" when nothing is to be said: "2 of 4 replaced". */
const char *service_state_text(struct arena *a, const struct service_facts *f);

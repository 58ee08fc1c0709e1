/* The guards of common/lifecycle/actual_lrp.def that follow from the board alone: what the bbs
 * decides the converger's moves by, and what the converger plans them by. Pure. */
#pragma once

#include "common/contract/moment.h"
#include "common/model/crash_policy.h"
#include "common/model/sighting.h"

#include <stdbool.h>
#include <stdint.h>

/* A record and what stands around it. States are those of actual_lrp.def; ACTUAL_LRP_NONE without a
 * record, -1 of a newer version. */
struct instance_facts {
    int state;
    int presence;       /* Models__ActualLRP__Presence */
    bool stopping;      /* it is marked so */
    int32_t crash_count;
    int64_t since_ns;   /* wall clock of who wrote it */
    struct sighting seen;
    bool desired;       /* its DesiredLRP has more instances than the index */
    bool replaces;      /* on_cell_loss of its DesiredLRP is REPLACE */
    bool cell_present;  /* it names a cell that is on the board and not LOST */
    bool fresh;         /* its domain is */
    int ordinary_state; /* of the records beside it at its index */
    int suspect_state;
};

/* CRASH_DUE by this policy at `now`, INDEX_DESIRED, INDEX_UNDESIRED, STOPPING_DESIRED,
 * STOPPING_FOR_GOOD, SUSPECT, EVACUATING, DISPLACED, CELL_ABSENT, CELL_PRESENT, DOMAIN_FRESH,
 * POLICY_REPLACES, ORDINARY_RUNS, SUSPECT_RUNS. */
uint32_t instance_guards(const struct instance_facts *f, const struct crash_policy *policy,
                         struct moment now);

/* Whether the lifecycle leads the converger anywhere on this trigger under these guards. */
bool instance_may(const struct instance_facts *f, int trigger, uint32_t guards);

/* Of a SUSPECT one whose resolve the lifecycle allows: it becomes ORDINARY again, for its cell is
 * there and no replacement runs. And the state in which it does; -1 when what stands at the
 * ORDINARY key is of a newer version, and is not written over. */
bool instance_returns(uint32_t guards);
int instance_returns_as(const struct instance_facts *f, uint32_t guards);

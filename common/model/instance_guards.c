#include "common/model/instance_guards.h"

#include "common/lifecycle/actual_lrp.h"
#include "models/actual_lrp.pb-c.h"

static bool crash_due(const struct instance_facts *f, const struct crash_policy *policy,
                      struct moment now)
{
    int64_t wait_ns = crash_wait_ns(policy, f->crash_count);
    return f->state == ACTUAL_LRP_CRASHED && wait_ns != NEVER_NS &&
           stood_left_ns(wait_ns, f->since_ns, f->seen, now) <= 0;
}

static uint32_t presence_guards(int presence)
{
    return presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING
               ? ACTUAL_LRP_IF_DISPLACED | ACTUAL_LRP_IF_EVACUATING
           : presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT
               ? ACTUAL_LRP_IF_DISPLACED | ACTUAL_LRP_IF_SUSPECT
               : 0;
}

static uint32_t desired_guards(const struct instance_facts *f)
{
    uint32_t guards = f->desired ? ACTUAL_LRP_IF_INDEX_DESIRED : ACTUAL_LRP_IF_INDEX_UNDESIRED;
    if (f->stopping) {
        guards |= f->desired ? ACTUAL_LRP_IF_STOPPING_DESIRED : ACTUAL_LRP_IF_STOPPING_FOR_GOOD;
    }
    return guards | (f->replaces ? ACTUAL_LRP_IF_POLICY_REPLACES : 0);
}

uint32_t instance_guards(const struct instance_facts *f, const struct crash_policy *policy,
                         struct moment now)
{
    return desired_guards(f) | presence_guards(f->presence) |
           (f->cell_present ? ACTUAL_LRP_IF_CELL_PRESENT : ACTUAL_LRP_IF_CELL_ABSENT) |
           (f->fresh ? ACTUAL_LRP_IF_DOMAIN_FRESH : 0) |
           (f->ordinary_state == ACTUAL_LRP_RUNNING ? ACTUAL_LRP_IF_ORDINARY_RUNS : 0) |
           (f->suspect_state == ACTUAL_LRP_RUNNING ? ACTUAL_LRP_IF_SUSPECT_RUNS : 0) |
           (crash_due(f, policy, now) ? ACTUAL_LRP_IF_CRASH_DUE : 0);
}

bool instance_may(const struct instance_facts *f, int trigger, uint32_t guards)
{
    return lifecycle_transition(&actual_lrp_lifecycle, f->state, ACTOR_CONVERGER, trigger,
                                guards) >= 0;
}

bool instance_returns(uint32_t guards)
{
    return (guards & ACTUAL_LRP_IF_CELL_PRESENT) && !(guards & ACTUAL_LRP_IF_ORDINARY_RUNS);
}

int instance_returns_as(const struct instance_facts *f, uint32_t guards)
{
    return lifecycle_transition(&actual_lrp_lifecycle, f->ordinary_state, ACTOR_CONVERGER,
                                ACTUAL_LRP_TRIGGER_RESOLVE,
                                guards & ~(uint32_t)ACTUAL_LRP_IF_SUSPECT);
}

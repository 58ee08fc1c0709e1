#include "common/model/system_state.h"

#include "common/lifecycle/system.h"

#include <assert.h>

static int counted_as(int service_state)
{
    assert(service_state < SERVICE_STATE_COUNT && service_state != SERVICE_NONE);
    return service_state < 0 ? SERVICE_UPDATING : service_state;
}

void system_tally_add(struct system_tally *t, int service_state)
{
    t->of[counted_as(service_state)]++;
    t->total++;
}

void system_tally_take(struct system_tally *t, int service_state)
{
    size_t *of = &t->of[counted_as(service_state)];
    assert(*of > 0 && t->total > 0);
    (*of)--;
    t->total--;
}

int system_state_of(const struct system_tally *t, bool spread)
{
    if (t->of[SERVICE_FAILED] > 0) { /* 1 */
        return SYSTEM_DEGRADED;
    }
    if (!spread || t->of[SERVICE_PENDING] + t->of[SERVICE_UPDATING] + t->of[SERVICE_DELETING] > 0) {
        return SYSTEM_UPDATING; /* 2 */
    }
    return t->of[SERVICE_SCALING] > 0 ? SYSTEM_SCALING : SYSTEM_STABLE; /* 3, 4 */
}

const char *system_state_text(struct arena *a, const struct system_tally *t, bool spread)
{
    assert(t->of[SERVICE_STABLE] <= t->total);
    const char *services = t->total == 1 ? "service" : "services";
    if (t->of[SERVICE_FAILED] > 0) {
        return arena_printf(a, "%zu of %zu %s failed", t->of[SERVICE_FAILED], t->total, services);
    }
    if (t->of[SERVICE_STABLE] == t->total) {
        return spread ? "" : "not every service was told of the definition yet";
    }
    if (t->of[SERVICE_DELETING] == t->total) {
        return arena_printf(a, "%zu %s to go", t->total, services);
    }
    return arena_printf(a, "%zu of %zu %s %s stable", t->of[SERVICE_STABLE], t->total, services,
                        t->total == 1 ? "is" : "are");
}

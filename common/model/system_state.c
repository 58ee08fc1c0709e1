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

static int pool_counted_as(int pool_state)
{
    assert(pool_state < POOL_STATE_COUNT && pool_state != POOL_NONE);
    return pool_state < 0 ? POOL_UPDATING : pool_state;
}

void system_tally_add_pool(struct system_tally *t, int pool_state)
{
    t->pools_of[pool_counted_as(pool_state)]++;
    t->pools++;
}

void system_tally_take_pool(struct system_tally *t, int pool_state)
{
    size_t *of = &t->pools_of[pool_counted_as(pool_state)];
    assert(*of > 0 && t->pools > 0);
    (*of)--;
    t->pools--;
}

static size_t turning(const struct system_tally *t)
{
    return t->of[SERVICE_PENDING] + t->of[SERVICE_UPDATING] + t->of[SERVICE_DELETING] +
           t->pools_of[POOL_PENDING] + t->pools_of[POOL_UPDATING] + t->pools_of[POOL_DELETING];
}

int system_state_of(const struct system_tally *t, bool spread)
{
    if (t->of[SERVICE_FAILED] + t->pools_of[POOL_FAILED] > 0) { /* 1 */
        return SYSTEM_DEGRADED;
    }
    if (!spread || turning(t) > 0) {
        return SYSTEM_UPDATING; /* 2 */
    }
    return t->of[SERVICE_SCALING] + t->pools_of[POOL_SCALING] > 0 ? SYSTEM_SCALING
                                                                   : SYSTEM_STABLE; /* 3, 4 */
}

/* "" when all of them are stable. */
static const char *kind_text(struct arena *a, const char *kind, size_t total, size_t failed,
                             size_t stable, size_t deleting)
{
    assert(stable <= total);
    const char *many = total == 1 ? kind : arena_printf(a, "%ss", kind);
    if (failed > 0) {
        return arena_printf(a, "%zu of %zu %s failed", failed, total, many);
    }
    if (stable == total) {
        return "";
    }
    return deleting == total ? arena_printf(a, "%zu %s to go", total, many)
                             : arena_printf(a, "%zu of %zu %s %s stable", stable, total, many,
                                            total == 1 ? "is" : "are");
}

const char *system_state_text(struct arena *a, const struct system_tally *t, bool spread)
{
    const char *services = kind_text(a, "service", t->total, t->of[SERVICE_FAILED],
                                     t->of[SERVICE_STABLE], t->of[SERVICE_DELETING]);
    const char *pools = kind_text(a, "node pool", t->pools, t->pools_of[POOL_FAILED],
                                  t->pools_of[POOL_STABLE], t->pools_of[POOL_DELETING]);
    if (*services && *pools) {
        return arena_printf(a, "%s; %s", services, pools);
    }
    return *services || *pools ? (*services ? services : pools)
           : spread            ? ""
                               : "not every service was told of the definition yet";
}

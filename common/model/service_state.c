#include "common/model/service_state.h"

#include "common/lifecycle/service.h"

#include <assert.h>

/* Rows 6 and 8 to 10. With none wanted no DesiredLRP needs to stand. */
static bool in_place(const struct service_facts *f)
{
    return !f->stands || f->fits;
}

static bool has_target(const struct service_facts *f)
{
    return f->stands || f->instances == 0;
}

static bool is_replaced(const struct service_facts *f)
{
    return f->total == f->updated;
}

static bool is_full(const struct service_facts *f)
{
    return f->updated == f->instances && f->available >= f->instances && f->terminating == 0;
}

bool service_complete(const struct service_facts *f)
{
    assert(f->updated <= f->total && f->available <= f->total);
    return in_place(f) && has_target(f) && is_replaced(f) && is_full(f);
}

static bool has_failed(const struct service_facts *f)
{
    bool late = f->overdue && !service_complete(f);
    return ((late || f->pool == SERVICE_POOL_FAILED) && !f->held[0]) || f->spent;
}

/* Rows 4 and 5. */
static bool lacks_pool(const struct service_facts *f)
{
    return f->pool != SERVICE_POOL_READY && f->pool != SERVICE_POOL_OLD;
}

int service_state_of(const struct service_facts *f)
{
    assert(f->instances >= 0 && f->held);
    if (f->deleting) {
        return SERVICE_DELETING; /* 0 */
    }
    if (f->generation > f->observed) {
        return f->observed == 0 ? SERVICE_PENDING : SERVICE_UPDATING; /* 1, 2 */
    }
    if (has_failed(f)) {
        return SERVICE_FAILED; /* 3 */
    }
    if (lacks_pool(f) || !in_place(f) || !has_target(f) || !is_replaced(f)) {
        return SERVICE_UPDATING; /* 4, 5, 6, 8, 9 */
    }
    if (!is_full(f)) {
        return SERVICE_SCALING; /* 10 */
    }
    return f->pool == SERVICE_POOL_OLD ? SERVICE_UPDATING : SERVICE_STABLE; /* 7, 11 */
}

/* ---- In words -------------------------------------------------------------------------------- */

static const char *pool_text(struct arena *a, const struct service_facts *f)
{
    bool says = f->pool_text && *f->pool_text;
    const char *is = f->pool == SERVICE_POOL_ABSENT  ? "its node pool is not there yet"
                     : f->pool == SERVICE_POOL_SHORT ? "its node pool has too few cells"
                     : f->pool == SERVICE_POOL_OLD   ? "its node pool gives cells of before back"
                                                     : "its node pool has failed";
    return says ? arena_printf(a, "%s: %s", is, f->pool_text) : is;
}

static const char *failed_text(struct arena *a, const struct service_facts *f)
{
    bool crashed = f->crash && *f->crash;
    const char *available =
        arena_printf(a, "%d of %d available%s%s", (int)f->available, (int)f->instances,
                     crashed ? "; " : "", crashed ? f->crash : "");
    if (!f->spent && f->pool == SERVICE_POOL_FAILED) {
        return arena_printf(a, "%s; %s", pool_text(a, f), available);
    }
    return f->spent ? arena_printf(a, "an instance crashed for good; %s", available)
                    : arena_printf(a, "no progress for %lld s; %s", (long long)f->deadline_s,
                                   available);
}

static const char *updating_text(struct arena *a, const struct service_facts *f)
{
    if (f->generation > f->observed) {
        return "the new definition is not taken up yet";
    }
    if (lacks_pool(f)) {
        return pool_text(a, f);
    }
    if (!in_place(f)) {
        return "its routes, tags and policies are changed";
    }
    if (!has_target(f)) {
        return "no instance of the new definition yet";
    }
    if (is_replaced(f)) {
        return pool_text(a, f);
    }
    int32_t left = f->total - f->updated;
    return f->updated < f->instances
               ? arena_printf(a, "%d of %d replaced", (int)f->updated, (int)f->instances)
               : arena_printf(a, "%d of an earlier definition to end", (int)left);
}

static const char *scaling_text(struct arena *a, const struct service_facts *f)
{
    if (f->updated > f->instances) {
        return arena_printf(a, "%d more than the %d wanted", (int)(f->updated - f->instances),
                            (int)f->instances);
    }
    return f->updated == f->instances && f->available >= f->instances
               ? arena_printf(a, "%d to end", (int)f->terminating)
               : arena_printf(a, "%d of %d available", (int)f->available, (int)f->instances);
}

const char *service_state_text(struct arena *a, const struct service_facts *f)
{
    const char *text = "";
    switch (service_state_of(f)) {
    case SERVICE_PENDING:
        return "nobody has looked at it yet";
    case SERVICE_FAILED:
        text = failed_text(a, f);
        break;
    case SERVICE_UPDATING:
        text = updating_text(a, f);
        break;
    case SERVICE_SCALING:
        text = scaling_text(a, f);
        break;
    default: /* of a deletion its steps are told by who takes them */
        return "";
    }
    assert(text[0]);
    return f->held[0] ? arena_printf(a, "%s; %s", text, f->held) : text;
}

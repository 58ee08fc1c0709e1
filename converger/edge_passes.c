#include "converger/edge_passes.h"

#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/lifecycle/progress.h"
#include "common/lifecycle/tracked.h"

#include <assert.h>

static bool is_always(const struct edge_sight *s)
{
    assert(s->state >= 0);
    return true;
}

static bool is_overdue(const struct edge_sight *s)
{
    return s->overdue;
}

static bool is_unfinished(const struct edge_sight *s)
{
    return s->overdue && !s->stays;
}

static bool is_ready(const struct edge_sight *s)
{
    return s->ready;
}

static bool is_failed(const struct edge_sight *s)
{
    return s->failed;
}

static bool is_free(const struct edge_sight *s)
{
    return !s->held;
}

static bool is_refused(const struct edge_sight *s)
{
    return s->refused;
}

static bool is_restored(const struct edge_sight *s)
{
    return s->restored;
}

static bool is_going(const struct edge_sight *s)
{
    return s->goes && !s->held;
}

static bool is_silent(const struct edge_sight *s)
{
    return s->silent;
}

static const struct {
    const char *name;
    enum record_type kind;
    int state;
    const char *move;
    bool (*due)(const struct edge_sight *s);
} rows[] = {
#define EDGE_PASS(name, kind, state, move, due) {#name, RECORD_##kind, state, move, is_##due},
#include "converger/edge.def"
#undef EDGE_PASS
};

struct edge_repair edge_passes_run(const struct edge_sight *s)
{
    assert(s->kind < RECORD_UNKNOWN && s->state >= -1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == s->kind && rows[i].state == s->state && rows[i].due(s)) {
            return (struct edge_repair){.pass = rows[i].name, .move = rows[i].move};
        }
    }
    return (struct edge_repair){.pass = NULL};
}

const struct lifecycle *edge_lifecycle(enum record_type kind)
{
    assert(kind == RECORD_CLOUDLET || kind == RECORD_CLOUDLETINFO || kind == RECORD_MAINTENANCE ||
           kind == RECORD_CLUSTERINST || kind == RECORD_APPINST || kind == RECORD_PROGRESS);
    return kind == RECORD_CLOUDLET       ? &cloudlet_lifecycle
           : kind == RECORD_CLOUDLETINFO ? &cloudlet_info_lifecycle
           : kind == RECORD_MAINTENANCE  ? &maintenance_lifecycle
           : kind == RECORD_PROGRESS     ? &progress_lifecycle
                                         : &tracked_lifecycle;
}

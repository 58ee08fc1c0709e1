#include "bbs/edge/ready.h"

#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"

#include <string.h>

bool site_goes(const struct edge_site *s)
{
    int state = s->cloudlet ? lifecycle_state(&cloudlet_lifecycle, s->cloudlet->state) : -1;
    return state == CLOUDLET_DELETE_PREPARE || state == CLOUDLET_DELETE_REQUESTED ||
           state == CLOUDLET_DELETING || state == CLOUDLET_DELETE_ERROR;
}

static bool is_upgraded(const Board__CloudletRecord *c, int state)
{
    return state == CLOUDLET_UPDATE_REQUESTED || state == CLOUDLET_UPDATING ||
           (state == CLOUDLET_CRM_INITOK && c->upgrading);
}

static bool is_in_maintenance(const Board__MaintenanceRecord *m)
{
    return m && lifecycle_state(&maintenance_lifecycle, m->state) != MAINTENANCE_NORMAL_OPERATION;
}

const char *site_refuses(struct arena *a, const struct edge_site *s, int64_t wall_ns)
{
    const Board__CloudletRecord *c = s->cloudlet;
    const Board__CloudletInfoRecord *i = s->info;
    int state = c ? lifecycle_state(&cloudlet_lifecycle, c->state) : -1;
    int says = i ? lifecycle_state(&cloudlet_info_lifecycle, i->state) : CLOUDLET_INFO_NONE;
    if (!c) { /* 1 */
        return arena_printf(a, "there is no cloudlet %s", s->name);
    }
    if (site_goes(s)) {
        return arena_printf(a, "cloudlet %s is being deleted", s->name);
    }
    if (is_upgraded(c, state)) { /* 2 */
        return arena_printf(a, "cloudlet %s is being upgraded", s->name);
    }
    if (is_in_maintenance(s->maintenance)) { /* 3 */
        return arena_printf(a, "cloudlet %s is in maintenance", s->name);
    }
    if (state == CLOUDLET_UPDATE_ERROR) { /* 4 */
        return arena_printf(a, "cloudlet %s needs repair: %s", s->name,
                            c->operation && *c->operation->error ? c->operation->error
                                                                 : "its upgrade failed");
    }
    if (!*c->version || state < 0) { /* 5 */
        return arena_printf(a, "cloudlet %s was never ready: it is %s for %s", s->name, c->state,
                            edge_since_text(a, c->since, wall_ns));
    }
    if (says == CLOUDLET_INFO_READY && state == CLOUDLET_READY) { /* 6 */
        return NULL;
    }
    return says == CLOUDLET_INFO_OFFLINE
               ? arena_printf(a, "cloudlet %s is offline for %s", s->name,
                              edge_since_text(a, i->since, wall_ns))
               : arena_printf(a, "cloudlet %s is not ready: its CRM is %s%s%s", s->name,
                              i ? i->state : "not there", i && i->n_errors ? ": " : "",
                              i && i->n_errors ? i->errors[0] : "");
}

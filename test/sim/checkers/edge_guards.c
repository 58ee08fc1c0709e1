/* E1: which guards of the lifecycles of a centre held, as the records stood just before a change.
 * Left open: whether it fits and is another one (edge_refs.c looks at the sums), and what only the
 * words of a move tell (edge_words.c has those of a CRM). */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <string.h>

/* Of silence, from when the session began: OFFLINE is later. */
#define SILENT_SURE_NS (29 * SECOND_NS)

struct guards_look {
    struct checkers *k;
    struct arena *arena;
    const struct past *p;
    int64_t wall_ns;
    struct guards_seen seen;
};

/* `known`: whether it held can be told. */
static void tell(struct guards_look *x, uint32_t guard, bool known, bool holds)
{
    x->seen.unknown |= known ? 0 : guard;
    x->seen.held |= known && holds ? guard : 0;
}

static const ProtobufCMessage *just_before(const struct guards_look *x, enum record_type type,
                                           const char *name)
{
    return edge_stood(x->k, key_edge(x->arena, type, name), x->p->revision - 1);
}

static bool by(const struct guards_look *x, const char *actor)
{
    return x->p->cause && strcmp(x->p->cause->actor, actor) == 0;
}

/* An operation that is over by the latest clock may be so by that of who decided. */
static void tell_overdue(struct guards_look *x, uint32_t guard, const Board__EdgeOperation *o)
{
    bool may_be = o && o->deadline && (!x->wall_ns || o->deadline <= x->wall_ns);
    tell(x, guard, !may_be, false);
}

/* ---- The ready check ---- */

static bool is_upgraded(const Board__CloudletRecord *c)
{
    return c->upgrading || strcmp(c->state, "UPDATE_REQUESTED") == 0 ||
           strcmp(c->state, "UPDATING") == 0;
}

static bool site_takes_changes(const struct guards_look *x, const char *cloudlet)
{
    const Board__CloudletRecord *c =
        (const Board__CloudletRecord *)just_before(x, RECORD_CLOUDLET, cloudlet);
    const Board__CloudletInfoRecord *i =
        (const Board__CloudletInfoRecord *)just_before(x, RECORD_CLOUDLETINFO, cloudlet);
    const Board__MaintenanceRecord *m =
        (const Board__MaintenanceRecord *)just_before(x, RECORD_MAINTENANCE, cloudlet);
    return c && i && strcmp(c->state, "READY") == 0 && !is_upgraded(c) && *c->version &&
           strcmp(i->state, "READY") == 0 && (!m || strcmp(m->state, "NORMAL_OPERATION") == 0);
}

/* ---- Clusters and instances ---- */

static bool ignores(const Board__EdgeOperation *o, bool crm)
{
    return o && (o->override == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_AND_TRANSIENT ||
                 o->override == (crm ? BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM
                                     : BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_TRANSIENT));
}

/* Overrides are in the operation that began; of one that ended at once nothing tells them. */
static void tell_client(struct guards_look *x, const struct tracked_head *o)
{
    const Board__EdgeOperation *op = o ? o->operation : NULL;
    bool told = op && by(x, "client"), begins = by(x, "client");
    tell(x, TRACKED_IF_IGNORE_CRM, told || !begins, ignores(op, true));
    tell(x, TRACKED_IF_IGNORE_TRANSIENT, told || !begins, ignores(op, false));
    const struct tracked_head *any = o ? o : edge_head(x->p->before);
    bool takes = site_takes_changes(x, edge_cloudlet_of(x->arena, any->name));
    /* One that is made for an instance goes by the override of that one. */
    told = told && !(o && x->p->type == RECORD_CLUSTERINST &&
                     ((const Board__ClusterInstRecord *)(const void *)o)->automatic);
    tell(x, TRACKED_IF_SITE_READY, takes || told, takes || ignores(op, true));
}

static void tell_found(struct guards_look *x, const Board__EdgeOperation *o)
{
    int found = o ? lifecycle_state(&tracked_lifecycle, o->found) : -1;
    tell(x, TRACKED_IF_FOUND_READY, true, found == TRACKED_READY);
    tell(x, TRACKED_IF_FOUND_CREATE_ERROR, true, found == TRACKED_CREATE_ERROR);
    tell(x, TRACKED_IF_FOUND_UPDATE_ERROR, true, found == TRACKED_UPDATE_ERROR);
}

/* That the cluster of an instance is READY; a reservable one that it takes is of the same commit.
 */
static void tell_cluster(struct guards_look *x, const struct tracked_head *o)
{
    if (x->p->type == RECORD_CLUSTERINST || !o) {
        tell(x, TRACKED_IF_CLUSTER_READY, x->p->type == RECORD_CLUSTERINST, true);
        tell(x, TRACKED_IF_CLUSTER_FAILED, true, false);
        return;
    }
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)(const void *)o;
    const char *name = edge_runs_in(x->arena, r);
    const Board__ClusterInstRecord *c =
        (const Board__ClusterInstRecord *)just_before(x, RECORD_CLUSTERINST, name);
    bool same = c && strcmp(c->uid, r->cluster_uid) == 0;
    bool ready = same && strcmp(c->state, "READY") == 0;
    bool failed = !same || strstr(c->state, "_ERROR") != NULL || strncmp(c->state, "DELET", 5) == 0;
    tell(x, TRACKED_IF_CLUSTER_READY, true, ready);
    tell(x, TRACKED_IF_CLUSTER_FAILED, true, failed);
}

static void tell_dependents(struct guards_look *x)
{
    struct edge_dependents d = {0};
    if (x->p->type == RECORD_CLUSTERINST) {
        d = edge_dependents_at(x->k, key_edge_name(x->arena, x->p->key), x->p->revision - 1);
    }
    tell(x, TRACKED_IF_IDLE, true, d.busy == 0);
    tell(x, TRACKED_IF_NO_DEPENDENTS, true, d.count == 0);
}

/* An instance goes with its cluster when its app says so; when a cluster that was made for
 * instances goes is left open: by which clock it was idle is not told. */
static void tell_along(struct guards_look *x, const struct tracked_head *was)
{
    if (x->p->type != RECORD_APPINST || !was) {
        tell(x, TRACKED_IF_GOES_ALONG, false, false);
        return;
    }
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)(const void *)was;
    const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)just_before(
        x, RECORD_CLUSTERINST, edge_runs_in(x->arena, r));
    const char *app = edge_app_of(x->arena, r->name);
    const Board__EdgeAppRevisionRecord *def =
        r->spec ? (const Board__EdgeAppRevisionRecord *)edge_stood(
                      x->k, key_appdef(x->arena, app, r->spec->revision), x->p->revision - 1)
                : NULL;
    tell(x, TRACKED_IF_GOES_ALONG, true,
         c && strcmp(c->state, "DELETE_PREPARE") == 0 && def && def->spec &&
             def->spec->auto_delete);
}

static void tell_tracked(struct guards_look *x)
{
    const struct tracked_head *was = edge_head(x->p->before), *is = edge_head(x->p);
    const Board__EdgeOperation *o = was ? was->operation : NULL;
    x->seen.unknown = TRACKED_IF_FITS | TRACKED_IF_CHANGED | TRACKED_IF_AUTO | TRACKED_IF_ANSWERS |
                      TRACKED_IF_SESSION;
    tell_along(x, was);
    tell_client(x, is);
    tell_found(x, o);
    tell_cluster(x, is ? is : was);
    tell_dependents(x);
    tell_overdue(x, TRACKED_IF_OVERDUE, o);
    tell(x, TRACKED_IF_RESTORED, true, o && o->restored);
    tell(x, TRACKED_IF_IGNORE_ERRORS, true,
         o && o->override == BOARD__EDGE_OPERATION__OVERRIDE__IGNORE_CRM_ERRORS);
}

/* ---- Sites ---- */

struct here {
    unsigned clusters, instances, busy, foreign;
};

static void count_here(void *context, const struct past *p)
{
    struct here *h = context;
    const Board__ClusterInstRecord *c =
        p->type == RECORD_CLUSTERINST ? (const Board__ClusterInstRecord *)p->message : NULL;
    h->clusters += c != NULL;
    h->instances += c == NULL;
    h->busy += edge_is_busy(edge_state(p));
    h->foreign += !c || !c->automatic || *c->reserved_by;
}

static void tell_here(struct guards_look *x, const char *name)
{
    struct here h = {0};
    edge_each_at(x->k, key_edge_all(x->arena, RECORD_CLUSTERINST, name), x->p->revision - 1,
                 count_here, &h);
    edge_each_at(x->k, key_edge_all(x->arena, RECORD_APPINST, name), x->p->revision - 1, count_here,
                 &h);
    tell(x, CLOUDLET_IF_IDLE, true, h.busy == 0);
    tell(x, CLOUDLET_IF_ONLY_OWN, true, h.foreign == 0);
    tell(x, CLOUDLET_IF_NO_DEPENDENTS, true, h.clusters + h.instances == 0);
}

static void tell_cloudlet(struct guards_look *x)
{
    const Board__CloudletRecord *was =
        x->p->before ? (const Board__CloudletRecord *)x->p->before->message : NULL;
    const Board__EdgeOperation *o = was ? was->operation : NULL;
    const char *name = key_edge_name(x->arena, x->p->key);
    const Board__CloudletInfoRecord *info =
        (const Board__CloudletInfoRecord *)just_before(x, RECORD_CLOUDLETINFO, name);
    int found = o ? lifecycle_state(&cloudlet_lifecycle, o->found) : -1;
    x->seen.unknown = CLOUDLET_IF_SITE | CLOUDLET_IF_NEW_SESSION | CLOUDLET_IF_SESSION |
                      CLOUDLET_IF_FORMER_SESSION | CLOUDLET_IF_TARGET | CLOUDLET_IF_OLD |
                      CLOUDLET_IF_SYNCED | CLOUDLET_IF_LEADS_SITE | CLOUDLET_IF_VERSION_ABOVE |
                      CLOUDLET_IF_VERSION_RUNS | CLOUDLET_IF_IGNORE_CRM | CLOUDLET_IF_TAKES_CHANGES;
    tell_here(x, name);
    tell_overdue(x, CLOUDLET_IF_OVERDUE, o);
    tell(x, CLOUDLET_IF_UNSEEN, true, !info);
    tell(x, CLOUDLET_IF_UPGRADING, true, was && was->upgrading);
    tell(x, CLOUDLET_IF_SETTLED, true, !was || !was->upgrading);
    tell(x, CLOUDLET_IF_NEVER_READY, true, was && !*was->version);
    tell(x, CLOUDLET_IF_WAS_READY, true, was && *was->version);
    tell(x, CLOUDLET_IF_FOUND_READY, true, found == CLOUDLET_READY);
    tell(x, CLOUDLET_IF_FOUND_CREATE_ERROR, true, found == CLOUDLET_CREATE_ERROR);
    tell(x, CLOUDLET_IF_FOUND_UPDATE_ERROR, true, found == CLOUDLET_UPDATE_ERROR);
}

/* When the session that stood before the change was opened, or last came back. */
static int64_t heard_ns(const struct past *p)
{
    const Board__CloudletInfoRecord *i =
        p && p->message ? (const Board__CloudletInfoRecord *)p->message : NULL;
    const struct past *at = p;
    while (i && at->before && at->before->message &&
           ((const Board__CloudletInfoRecord *)at->before->message)->session == i->session &&
           !(at->cause && strcmp(at->cause->move, "back") == 0)) {
        at = at->before;
    }
    return i ? at->at_ns : 0;
}

static void tell_info(struct guards_look *x)
{
    bool silent = x->p->at_ns - heard_ns(x->p->before) >= SILENT_SURE_NS;
    x->seen.unknown = CLOUDLET_INFO_IF_NEW_SESSION | CLOUDLET_INFO_IF_SESSION;
    tell(x, CLOUDLET_INFO_IF_SILENT, !silent, false);
}

struct guards_seen edge_guards_seen(struct checkers *k, struct arena *a, const struct past *p,
                                    int64_t wall_ns)
{
    struct guards_look x = {.k = k, .arena = a, .p = p, .wall_ns = wall_ns};
    if (p->type == RECORD_CLOUDLET) {
        tell_cloudlet(&x);
    } else if (p->type == RECORD_CLOUDLETINFO) {
        tell_info(&x);
    } else {
        tell_tracked(&x);
    }
    return x.seen;
}

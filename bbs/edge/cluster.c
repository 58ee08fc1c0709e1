#include "bbs/edge/edge.h"
#include "bbs/edge/ready.h"
#include "bbs/edge/tracked.h"
#include "common/base/message.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"
#include "common/model/slice_fit.h"

#include <assert.h>
#include <string.h>

static const Board__ClusterInstRecord *cluster_of(const struct tracked_head *o)
{
    return (const Board__ClusterInstRecord *)(const void *)o;
}

static Board__ClusterInstRecord *after_of(struct tracked_head *o)
{
    return (Board__ClusterInstRecord *)(void *)o;
}

/* ---- What depends on it ---------------------------------------------------------------------- */

/* Its app says that its instances go along. A revision is written once: it is only looked at. */
static bool goes_along(struct view *v, const Board__AppInstRecord *r)
{
    struct arena *a = view_arena(v);
    const Board__EdgeAppRevisionRecord *def =
        r->spec ? view_peek_message(v, key_appdef(a, edge_app_of(a, r->name), r->spec->revision))
                : NULL;
    return def && def->spec && def->spec->auto_delete;
}

static void count_dependent(struct view *v, const Board__AppInstRecord *r, struct dependents *d)
{
    bool stays = !goes_along(v, r);
    d->count++;
    if (!tracked_is_at_rest(r->state) && !d->busy++) {
        d->busy_name = r->name;
        d->busy_state = r->state;
        d->busy_since = r->since;
    }
    if (stays && d->stay < DEPENDENTS_TOLD_MAX) {
        d->names[d->stay] = r->name;
    }
    size_t along = d->count - 1 - d->stay;
    if (!stays && along < DEPENDENTS_TOLD_MAX) {
        d->along[along] = r->name;
    }
    d->stay += stays;
}

/* That none comes and none changes is compared. One that has reserved it may have another name. */
static void gather_dependents(struct view *v, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__ClusterInstRecord *c = cluster_of(s->object);
    const char *range = key_edge_all(a, RECORD_APPINST, s->name);
    const struct seen *list;
    view_nothing_newer(v, range);
    int count = view_peek_range(v, range, SITE_INSTANCES_MAX, &list);
    for (int i = 0; i < count; i++) {
        count_dependent(v, (const Board__AppInstRecord *)list[i].message, &s->dependents);
    }
    const Board__AppInstRecord *holder =
        *c->reserved_by ? view_message(v, key_edge(a, RECORD_APPINST, c->reserved_by)) : NULL;
    if (holder && strcmp(edge_cluster_of(a, holder->name), s->name) != 0) {
        count_dependent(v, holder, &s->dependents);
    }
}

/* ---- What it is to be ------------------------------------------------------------------------ */

static const char *spec_text(struct arena *a, const char *what, const Board__ClusterSpec *spec,
                             const char *cloudlet)
{
    return arena_printf(a, "%s requested: %u node%s of %s at %s%s", what, spec->nodes,
                        spec->nodes == 1 ? "" : "s", spec->flavor, cloudlet,
                        spec->dedicated ? ", on cells of its own" : "");
}

static Board__ClusterSpec *spec_of(struct arena *a, const Board__ClusterSpec *said,
                                   const Board__FlavorRecord *flavor)
{
    Board__ClusterSpec *spec = arena_copy(a, said, sizeof(*spec));
    spec->node = flavor->size;
    return spec;
}

static void look_create(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__EdgeMove *m = move_edge(in->request);
    const Board__FlavorRecord *flavor = view_message(v, key_flavor(a, m->cluster->flavor));
    Board__ClusterInstRecord *c = arena_message(a, &board__cluster_inst_record__descriptor);
    char *uid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, uid);
    c->name = tracked_text(s->name);
    c->uid = uid;
    c->request = s->object ? s->object->request : 0;
    c->since = c->created_at = in->now.wall_ns;
    c->reservable = m->reservable;
    c->free_since = c->reservable ? in->now.wall_ns : 0;
    s->after = (struct tracked_head *)(void *)c;
    s->changed = true;
    if (!flavor) {
        c->spec = arena_copy(a, m->cluster, sizeof(*c->spec));
        s->fault = arena_printf(a, "there is no flavor %s", m->cluster->flavor);
        s->missing = true;
        return;
    }
    c->spec = spec_of(a, m->cluster, flavor);
    c->digest = tracked_text(tracked_digest(a, &c->spec->base, c->uid));
    s->asked = spec_text(a, "create", c->spec, s->site.name);
}

/* Only the number of nodes: what each is stays as long as the cluster. What ran before is kept
 * until the site says that the new is there. */
static void look_update(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__EdgeMove *m = move_edge(in->request);
    const Board__ClusterInstRecord *before = cluster_of(s->object);
    Board__ClusterInstRecord *c = after_of(s->after);
    bool retries = tracked_is(s->object, TRACKED_UPDATE_ERROR);
    if (*m->cluster->flavor && strcmp(m->cluster->flavor, before->spec->flavor) != 0) {
        s->fault =
            arena_printf(a, "cluster %s is of flavor %s for good", s->name, before->spec->flavor);
    }
    c->spec = arena_copy(a, before->spec, sizeof(*c->spec));
    c->spec->nodes = m->cluster->nodes;
    c->digest = tracked_text(tracked_digest(a, &c->spec->base, c->uid));
    s->changed = retries || strcmp(c->digest, before->digest) != 0;
    s->asked = spec_text(a, "update", c->spec, s->site.name);
    if (retries && before->operation) {
        s->asked = arena_printf(a, "%s, after: %s", s->asked, before->operation->error);
    }
    if (edge_ignores_crm(m->override)) {
        c->former = NULL;
        c->former_digest = tracked_text("");
    } else if (!c->former) {
        c->former = before->spec;
        c->former_digest = before->digest;
    }
}

static void cluster_look(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    const Board__ClusterInstRecord *c = cluster_of(s->object);
    if (tracked_asks(in, TRACKED_TRIGGER_CREATE)) {
        if (c) { /* over it: another life, in which nothing is yet */
            gather_dependents(v, s);
        }
        look_create(v, in, s);
        return;
    }
    if (!c) {
        return;
    }
    if (tracked_asks(in, TRACKED_TRIGGER_UPDATE) || tracked_asks(in, TRACKED_TRIGGER_DELETE) ||
        tracked_asks(in, TRACKED_TRIGGER_PROCEED) || tracked_asks(in, TRACKED_TRIGGER_UNDO)) {
        gather_dependents(v, s);
    }
    if (tracked_asks(in, TRACKED_TRIGGER_UPDATE)) {
        look_update(v, in, s);
    }
    s->goes_along =
        c->automatic && !*c->reserved_by && s->dependents.count == 0 &&
        (site_goes(&s->site) || in->now.wall_ns - c->free_since >= s->times->cluster_idle_ns);
    if (tracked_asks(in, TRACKED_TRIGGER_REFRESH)) {
        s->fault = "a cluster has no revision: it is updated";
    }
}

static void cluster_beside(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    (void)v, (void)in, (void)s;
}

static void cluster_report(struct tracked_head *after, const Board__EdgeMove *m)
{
    if (m->cluster_report) {
        after_of(after)->reported = m->cluster_report;
    }
}

static void cluster_settle(struct tracked_head *after)
{
    after_of(after)->former = NULL;
    after_of(after)->former_digest = tracked_text("");
}

static void cluster_restore(struct tracked_head *after)
{
    Board__ClusterInstRecord *c = after_of(after);
    if (c->former) {
        c->spec = c->former;
        c->digest = c->former_digest;
    }
    cluster_settle(after);
}

static size_t cluster_refers(struct arena *a, const struct tracked_head *o, const char **ret_keys)
{
    const Board__ClusterSpec *spec = cluster_of(o)->spec;
    ret_keys[0] = spec ? key_flavor(a, spec->flavor) : "";
    return spec ? 1 : 0;
}

static struct footprint footprint_of(struct arena *a, const struct tracked_shot *s,
                                     const struct tracked_head *o)
{
    (void)a, (void)s;
    return cluster_footprint(cluster_of(o));
}

static const struct tracked_kind cluster_kind = {
    .family = &clusterinst_moves,
    .type = RECORD_CLUSTERINST,
    .noun = "cluster",
    .create_ns = offsetof(struct edge_times, cluster_create_ns),
    .update_ns = offsetof(struct edge_times, cluster_update_ns),
    .delete_ns = offsetof(struct edge_times, cluster_delete_ns),
    .look = cluster_look,
    .beside = cluster_beside,
    .report = cluster_report,
    .restore = cluster_restore,
    .settle = cluster_settle,
    .refers = cluster_refers,
    .footprint = footprint_of,
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_spec(struct validation *v, const Board__ClusterSpec *s, bool create)
{
    SCOPED_ARENA(a);
    const char *fault = create || *s->flavor ? edge_name_fault(&a, RECORD_FLAVOR, s->flavor) : NULL;
    if (fault) {
        say(v, fault);
    }
    if (s->nodes == 0 || s->nodes > SLICE_NODES_MAX) {
        say(v, arena_printf(&a, "nodes: %u, must be from 1 to %d", s->nodes, SLICE_NODES_MAX));
    } else if (s->dedicated && s->nodes > SLICE_CELLS_MAX) {
        say(v, arena_printf(&a, "nodes: %u on cells of its own, at most %d", s->nodes,
                            SLICE_CELLS_MAX));
    }
}

static void valid_cluster(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__EdgeMove *m = move_edge(move);
    const char *name = key_edge_name(&a, move_key(&a, move));
    bool create = strcmp(move->move, "create") == 0;
    bool own = strcmp(edge_name_parts(&a, name, 2, 3), EDGE_OWN_ORGANIZATION) == 0;
    const char *fault =
        create ? edge_cluster_fault(&a, name) : edge_name_fault(&a, RECORD_CLUSTERINST, name);
    if (fault) {
        say(v, fault);
    }
    if (create && own != (m->reservable != 0)) {
        say(v, "reservable: clusters of organization " EDGE_OWN_ORGANIZATION " are, and no others");
    }
    edge_valid(v, move);
    if (m->cluster) {
        valid_spec(v, m->cluster, create);
    } else if (create || strcmp(move->move, "update") == 0) {
        say(v, "nodes: how many?");
    }
}

static void cluster_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    tracked_gather(v, in, &cluster_kind, snapshot);
}

static void cluster_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&clusterinst_moves, snapshot, in, p);
}

static const struct op_row cluster_op = {
    .name = "move of a cluster",
    .target = move_subject_key,
    .gather = cluster_gather,
    .decide = cluster_decide,
    .snapshot_size = sizeof(struct tracked_turn),
};

#define MOVE_ROW(move, absents, what)                                                              \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_cluster,                                                                    \
        .reads = TRACKED_##what,                                                                   \
        .absent = ABSENT_##absents,                                                                \
        .guards = tracked_guards,                                                                  \
        .refuse = tracked_refuse,                                                                  \
        .decide = tracked_change,                                                                  \
        .op = &cluster_op,                                                                         \
        .op_of_rep = &cluster_op,                                                                  \
    },
static const struct move_row rows[] = {
#include "bbs/edge/moves_tracked.def"
};

const struct move_family clusterinst_moves = {
    .lifecycle = &tracked_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = tracked_begin,
};

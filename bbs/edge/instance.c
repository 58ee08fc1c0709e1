#include "bbs/edge/edge.h"
#include "bbs/edge/tracked.h"
#include "bbs/lrp/validate.h"
#include "common/base/message.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

static const Board__AppInstRecord *instance_of(const struct tracked_head *o)
{
    return (const Board__AppInstRecord *)(const void *)o;
}

static Board__AppInstRecord *after_of(struct tracked_head *o)
{
    return (Board__AppInstRecord *)(void *)o;
}

static const char *cluster_name(struct arena *a, const Board__AppInstRecord *r)
{
    return *r->real_cluster ? r->real_cluster : edge_cluster_of(a, r->name);
}

/* ---- Its cluster ----------------------------------------------------------------------------- */

/* One that is READY, of this flavor, and nobody's. */
static bool is_free_reservable(const Board__ClusterInstRecord *c, const char *flavor)
{
    return c->reservable && !*c->reserved_by && strcmp(c->state, "READY") == 0 && c->spec &&
           strcmp(c->spec->flavor, flavor) == 0;
}

/* The first free one; NULL = none. That none comes or changes is compared: two do not take one. */
static const Board__ClusterInstRecord *free_reservable(struct view *v, const char *cloudlet,
                                                       const char *flavor)
{
    struct arena *a = view_arena(v);
    const char *range =
        key_edge_all(a, RECORD_CLUSTERINST, arena_printf(a, "%s/" EDGE_OWN_ORGANIZATION, cloudlet));
    const struct seen *list;
    view_nothing_newer(v, range);
    int count = view_peek_range(v, range, SITE_CLUSTERS_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)list[i].message;
        if (is_free_reservable(c, flavor)) {
            return view_message(v, list[i].key);
        }
    }
    return NULL;
}

static void reserve(struct view *v, struct tracked_shot *s, const Board__ClusterInstRecord *c)
{
    assert(c->reservable && (!*c->reserved_by || strcmp(c->reserved_by, s->name) == 0));
    s->cluster = c;
    s->cluster_after = arena_copy(view_arena(v), c, sizeof(*c));
    s->cluster_after->reserved_by = tracked_text(s->name);
}

/* One is made: a node of this flavor, with the lowest free number. */
static void make_cluster(struct view *v, const struct op_input *in, struct tracked_shot *s,
                         const char *flavor, const Board__NodeSize *size)
{
    struct arena *a = view_arena(v);
    unsigned id = s->refs ? refs_free_id(s->refs) : 0;
    assert(!s->cluster && !s->cluster_after);
    s->automatic = true;
    if (id == EDGE_RESERVABLE_MAX) {
        s->fault = arena_printf(a,
                                "cloudlet %s has %d clusters that were made for app instances, "
                                "which is the most",
                                s->site.name, EDGE_RESERVABLE_MAX);
        return;
    }
    Board__ClusterInstRecord *c = arena_message(a, &board__cluster_inst_record__descriptor);
    char *uid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, uid);
    c->name = tracked_text(edge_reservable_name(a, s->site.name, id));
    c->uid = uid;
    c->state = tracked_text("CREATE_REQUESTED");
    c->since = c->created_at = in->now.wall_ns;
    c->request = 1;
    c->operation = edge_operation(a, "create", 0, "", in->now.wall_ns, s->times->cluster_create_ns);
    c->spec = arena_message(a, &board__cluster_spec__descriptor);
    c->spec->flavor = tracked_text(flavor);
    c->spec->node = (Board__NodeSize *)(uintptr_t)size;
    c->spec->nodes = 1;
    c->digest = tracked_text(tracked_digest(a, &c->spec->base, uid));
    c->reservable = c->automatic = true;
    c->reservable_id = id;
    c->reserved_by = tracked_text(s->name);
    s->cluster_after = c;
    if (view_get(v, key_edge(a, RECORD_CLUSTERINST, c->name))) {
        s->fault = arena_printf(a, "cluster %s stands, and %s does not say so", c->name,
                                key_edge(a, RECORD_REFS, s->site.name));
    }
    if (s->refs) {
        const struct footprint none = {0}, made = cluster_footprint(c);
        s->refs_after = refs_after(a, s->refs, c->name, &none, &made);
    }
}

/* Why the cluster does not take the instance; NULL = it does. */
static const char *cluster_fault(struct arena *a, const struct tracked_shot *s, const char *name,
                                 const char *flavor, const Board__NodeSize *size)
{
    const Board__ClusterInstRecord *c = s->cluster;
    const Board__NodeSize *node = c && c->spec ? c->spec->node : NULL;
    const char *owner = edge_name_parts(a, name, 2, 3);
    const char *developer = edge_name_parts(a, s->name, 4, 5);
    if (!c) {
        return arena_printf(a, "there is no cluster %s", name);
    }
    if (strcmp(c->state, "READY") != 0) {
        return arena_printf(a, "cluster %s is not READY: it is %s", name, c->state);
    }
    if (!c->reservable && strcmp(owner, developer) != 0) {
        return arena_printf(a, "cluster %s is of organization %s, the app of %s", name, owner,
                            developer);
    }
    if (c->reservable && *c->reserved_by && strcmp(c->reserved_by, s->name) != 0) {
        return arena_printf(a, "cluster %s is reserved by %s", name, c->reserved_by);
    }
    if (c->reservable && strcmp(c->spec->flavor, flavor) != 0) {
        return arena_printf(a, "cluster %s is of flavor %s, not %s", name, c->spec->flavor, flavor);
    }
    return !node || size->memory_mb > node->memory_mb || size->disk_mb > node->disk_mb
               ? arena_printf(a,
                              "flavor %s is larger than a node of cluster %s: %d of %d MiB "
                              "memory, %d of %d MiB disk",
                              flavor, name, size->memory_mb, node ? node->memory_mb : 0,
                              size->disk_mb, node ? node->disk_mb : 0)
               : NULL;
}

/* ---- Ports ----------------------------------------------------------------------------------- */

/* On the address of its own cluster: what another READY one there has is taken. */
static const char *own_ports_fault(struct view *v, const struct tracked_shot *s,
                                   const Board__AppInstSpec *spec)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    const char *range = key_edge_all(a, RECORD_APPINST, edge_cluster_of(a, s->name));
    view_nothing_newer(v, range);
    int count = view_peek_range(v, range, SITE_INSTANCES_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__AppInstRecord *r = (const Board__AppInstRecord *)list[i].message;
        bool other = strcmp(r->name, s->name) != 0 && strcmp(r->state, "READY") == 0 && r->spec;
        for (size_t k = 0; other && k < r->spec->n_ports; k++) {
            for (size_t n = 0; n < spec->n_ports; n++) {
                if (ports_overlap(spec->ports[n], r->spec->ports[k], true)) {
                    return arena_printf(a, "public port %u at %s is taken by %s",
                                        spec->ports[n]->public_, edge_cluster_of(a, s->name),
                                        r->name);
                }
            }
        }
    }
    return NULL;
}

static void give_ports(struct view *v, struct tracked_shot *s, Board__AppInstSpec *spec,
                       const Board__EdgeAppSpec *app, const Board__AppInstSpec *before)
{
    struct arena *a = view_arena(v);
    const char *fault = NULL;
    bool own = s->cluster && s->cluster->spec && s->cluster->spec->dedicated;
    spec->n_ports = app->n_ports;
    spec->ports =
        own ? ports_own(a, app->ports, app->n_ports)
            : ports_shared(a, s->refs, s->name, app->ports, app->n_ports,
                           before ? before->ports : NULL, before ? before->n_ports : 0, &fault);
    if (!spec->ports) {
        spec->n_ports = 0;
    }
    fault = fault || !own ? fault : own_ports_fault(v, s, spec);
    s->fault = s->fault ? s->fault : fault;
}

/* ---- What it is to be ------------------------------------------------------------------------ */

static const Board__EdgeAppRevisionRecord *revision_of(struct view *v, struct tracked_shot *s,
                                                       uint64_t revision)
{
    struct arena *a = view_arena(v);
    const char *app = edge_app_of(a, s->name);
    const Board__EdgeAppRecord *r = view_message(v, key_edge(a, RECORD_APP, app));
    const Board__EdgeAppRevisionRecord *def =
        r ? view_message(v, key_appdef(a, app, revision ? revision : r->revision)) : NULL;
    if (!def || !def->spec) {
        s->fault = arena_printf(a, "there is no app %s", app);
        s->missing = true;
        return NULL;
    }
    return def;
}

/* The instance with this flavor (empty: the app's) and revision (0 = the newest). */
static void look_spec(struct view *v, const struct op_input *in, struct tracked_shot *s,
                      Board__AppInstSpec *spec, const Board__AppInstSpec *before)
{
    struct arena *a = view_arena(v);
    Board__AppInstRecord *r = after_of(s->after);
    const Board__EdgeAppRevisionRecord *def = revision_of(v, s, spec->revision);
    r->spec = spec;
    if (!def) {
        return;
    }
    spec->flavor = *spec->flavor ? spec->flavor : def->spec->flavor;
    const Board__FlavorRecord *flavor = view_message(v, key_flavor(a, spec->flavor));
    if (!flavor || !flavor->size) {
        s->fault = arena_printf(a, "there is no flavor %s", spec->flavor);
        s->missing = true;
        return;
    }
    spec->size = flavor->size;
    spec->revision = def->revision;
    spec->definition_digest = def->digest;
    bool seeks =
        !before && !*r->real_cluster && edge_cluster_is_automatic(edge_cluster_of(a, s->name));
    const Board__ClusterInstRecord *free =
        seeks ? free_reservable(v, s->site.name, spec->flavor) : NULL;
    if (free) {
        reserve(v, s, free);
    } else if (seeks) {
        make_cluster(v, in, s, spec->flavor, flavor->size);
    } else {
        s->cluster = view_message(v, key_edge(a, RECORD_CLUSTERINST, cluster_name(a, r)));
    }
    const char *name = s->cluster_after ? s->cluster_after->name : cluster_name(a, r);
    s->cluster_fault = s->automatic ? arena_printf(a, "waits for cluster %s", name)
                                    : cluster_fault(a, s, name, spec->flavor, flavor->size);
    s->missing = !s->automatic && !s->cluster;
    if (s->cluster_after) {
        r->real_cluster = s->cluster_after->name;
        r->cluster_uid = s->cluster_after->uid;
        r->reserves = true;
    } else if (s->cluster && s->cluster->reservable && !s->cluster_fault) {
        reserve(v, s, s->cluster);
        r->reserves = true;
        r->cluster_uid = s->cluster->uid;
    } else {
        r->cluster_uid = s->cluster ? s->cluster->uid : r->cluster_uid;
    }
    const Board__ClusterInstRecord *c = s->cluster_after ? s->cluster_after : s->cluster;
    spec->instances = def->spec->scale_with_cluster && c && c->spec ? c->spec->nodes : 1;
    give_ports(v, s, spec, def->spec, before);
    r->digest = tracked_text(tracked_digest(a, &spec->base, r->cluster_uid));
}

static void look_dns(struct view *v, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    s->dns_name = edge_dns_name(a, s->name);
    if (!s->dns_name) {
        s->fault = arena_printf(a, "the DNS name of %s has more than %d characters", s->name,
                                EDGE_DNS_NAME_MAX);
        return;
    }
    s->dns = view_message(v, key_dns_name(a, s->dns_name));
    if (s->dns && strcmp(s->dns->taken_by, s->name) != 0 && s->after) {
        s->fault = arena_printf(a, "the DNS name %s is that of %s", s->dns_name, s->dns->taken_by);
    }
}

static void look_create(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__EdgeMove *m = move_edge(in->request);
    Board__AppInstRecord *r = arena_message(a, &board__app_inst_record__descriptor);
    Board__AppInstSpec *spec = arena_message(a, &board__app_inst_spec__descriptor);
    char *uid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, uid);
    r->name = tracked_text(s->name);
    r->uid = uid;
    r->request = s->object ? s->object->request : 0;
    r->since = r->created_at = in->now.wall_ns;
    if (m->instance) {
        spec->flavor = m->instance->flavor;
        spec->n_env = m->instance->n_env;
        spec->env = m->instance->env;
    }
    if (s->object &&
        instance_of(s->object)->reserves) { /* over one that has a cluster for itself */
        r->real_cluster = instance_of(s->object)->real_cluster;
    }
    s->after = (struct tracked_head *)(void *)r;
    s->changed = true;
    look_spec(v, in, s, spec, NULL);
    s->asked =
        arena_printf(a, "create requested: %s of flavor %s, revision %llu", edge_app_of(a, s->name),
                     spec->flavor, (unsigned long long)spec->revision);
    s->asked_more = s->automatic ? arena_printf(a, "waits for cluster %s",
                                                edge_name_parts(a, r->real_cluster, 3, 4))
                                 : NULL;
}

/* A change runs beside what ran before, which is kept until the site says that the new one runs. */
static void look_change(struct view *v, const struct op_input *in, struct tracked_shot *s,
                        bool refresh)
{
    struct arena *a = view_arena(v);
    const Board__EdgeMove *m = move_edge(in->request);
    const Board__AppInstRecord *before = instance_of(s->object);
    bool retries = tracked_is(s->object, TRACKED_UPDATE_ERROR);
    Board__AppInstRecord *r = after_of(s->after);
    Board__AppInstSpec *spec = arena_copy(a, before->spec, sizeof(*spec));
    spec->revision = refresh ? 0 : spec->revision;
    if (!refresh && m->instance) {
        spec->flavor = *m->instance->flavor ? m->instance->flavor : spec->flavor;
        spec->n_env = m->instance->n_env;
        spec->env = m->instance->env;
    }
    look_spec(v, in, s, spec, before->spec);
    if (refresh && m->force) { /* another one, so that the site makes it anew */
        const char *more =
            arena_printf(a, "%s#%llu", r->cluster_uid, (unsigned long long)before->request);
        r->digest = tracked_text(tracked_digest(a, &spec->base, more));
    }
    s->changed = retries || (refresh && m->force) || strcmp(r->digest, before->digest) != 0;
    s->asked =
        arena_printf(a, "%s requested: flavor %s, revision %llu", refresh ? "refresh" : "update",
                     spec->flavor, (unsigned long long)spec->revision);
    if (retries && before->operation) {
        s->asked = arena_printf(a, "%s, after: %s", s->asked, before->operation->error);
    }
    if (edge_ignores_crm(m->override)) {
        r->former = NULL;
        r->former_digest = tracked_text("");
    } else if (!r->former) {
        r->former = before->spec;
        r->former_digest = before->digest;
    }
}

/* Whether the cluster that it waits for is there, or failed. */
static void look_at_cluster(struct view *v, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__AppInstRecord *r = instance_of(s->object);
    const char *name = cluster_name(a, r);
    s->cluster = view_message(v, key_edge(a, RECORD_CLUSTERINST, name));
    bool same = s->cluster && strcmp(s->cluster->uid, r->cluster_uid) == 0;
    s->cluster_fault = same && strcmp(s->cluster->state, "READY") == 0
                           ? NULL
                           : arena_printf(a, "waits for cluster %s", name);
    s->cluster_failed =
        !same || strstr(s->cluster->state, "_ERROR") || strncmp(s->cluster->state, "DELET", 5) == 0;
}

static void look_delete(struct view *v, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    const Board__AppInstRecord *r = instance_of(s->object);
    look_at_cluster(v, s);
    const Board__EdgeAppRevisionRecord *def =
        r->spec ? view_message(v, key_appdef(a, edge_app_of(a, s->name), r->spec->revision)) : NULL;
    s->goes_along = s->cluster && strcmp(s->cluster->state, "DELETE_PREPARE") == 0 && def &&
                    def->spec && def->spec->auto_delete;
    s->cluster_fault = NULL;
}

static void instance_look(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    bool refresh = tracked_asks(in, TRACKED_TRIGGER_REFRESH);
    if (tracked_asks(in, TRACKED_TRIGGER_CREATE)) {
        look_create(v, in, s);
    } else if (s->object && (refresh || tracked_asks(in, TRACKED_TRIGGER_UPDATE))) {
        look_change(v, in, s, refresh);
    } else if (s->object && tracked_asks(in, TRACKED_TRIGGER_DELETE)) {
        look_delete(v, s);
    } else if (s->object) {
        look_at_cluster(v, s);
    }
}

/* Its name in the DNS comes and goes with it, and the cluster that it had for itself is free. */
static void instance_beside(struct view *v, const struct op_input *in, struct tracked_shot *s)
{
    struct arena *a = view_arena(v);
    look_dns(v, s);
    if (s->after) {
        after_of(s->after)->uri = tracked_text(s->dns_name ? s->dns_name : "");
    } else if (s->object && instance_of(s->object)->reserves && s->cluster &&
               strcmp(s->cluster->reserved_by, s->name) == 0) {
        s->cluster_after = arena_copy(a, s->cluster, sizeof(*s->cluster));
        s->cluster_after->reserved_by = tracked_text("");
        s->cluster_after->free_since = in->now.wall_ns;
    }
}

static void instance_report(struct tracked_head *after, const Board__EdgeMove *m)
{
    if (m->instance_report) {
        after_of(after)->reported = m->instance_report;
    }
}

static void instance_settle(struct tracked_head *after)
{
    after_of(after)->former = NULL;
    after_of(after)->former_digest = tracked_text("");
}

static void instance_restore(struct tracked_head *after)
{
    Board__AppInstRecord *r = after_of(after);
    if (r->former) {
        r->spec = r->former;
        r->digest = r->former_digest;
    }
    instance_settle(after);
}

static size_t refers_spec(struct arena *a, const Board__AppInstRecord *r,
                          const Board__AppInstSpec *spec, const char **ret_keys)
{
    size_t count = 0;
    if (spec && spec->revision) {
        ret_keys[count++] = key_appdef(a, edge_app_of(a, r->name), spec->revision);
    }
    if (spec && *spec->flavor) {
        ret_keys[count++] = key_flavor(a, spec->flavor);
    }
    return count;
}

static size_t instance_refers(struct arena *a, const struct tracked_head *o, const char **ret_keys)
{
    const Board__AppInstRecord *r = instance_of(o);
    ret_keys[0] = key_edge(a, RECORD_APP, edge_app_of(a, r->name));
    ret_keys[1] = key_edge(a, RECORD_CLUSTERINST, cluster_name(a, r));
    size_t count = 2 + refers_spec(a, r, r->spec, ret_keys + 2);
    return count + refers_spec(a, r, r->former, ret_keys + count);
}

/* Ports of both specs, for what runs before a change runs until it is done. Those of a dedicated
 * cluster are on its own address. */
static struct footprint instance_footprint(struct arena *a, const struct tracked_shot *s,
                                           const struct tracked_head *o)
{
    const Board__AppInstRecord *r = instance_of(o);
    struct footprint f = {.instances = 1};
    assert(o->name[0]);
    size_t new_ports = r->spec ? r->spec->n_ports : 0;
    size_t old_ports = r->former ? r->former->n_ports : 0;
    if (s->cluster && s->cluster->spec && s->cluster->spec->dedicated) {
        return f;
    }
    Board__EdgePort **all = ARENA_ARRAY(a, new_ports + old_ports, Board__EdgePort *);
    for (size_t i = 0; i < new_ports; i++) {
        all[f.port_count++] = r->spec->ports[i];
    }
    for (size_t i = 0; i < old_ports; i++) {
        all[f.port_count++] = r->former->ports[i];
    }
    f.ports = all;
    return f;
}

static const struct tracked_kind instance_kind = {
    .family = &appinst_moves,
    .type = RECORD_APPINST,
    .noun = "app instance",
    .create_ns = offsetof(struct edge_times, instance_create_ns),
    .update_ns = offsetof(struct edge_times, instance_update_ns),
    .delete_ns = offsetof(struct edge_times, instance_delete_ns),
    .look = instance_look,
    .beside = instance_beside,
    .report = instance_report,
    .restore = instance_restore,
    .settle = instance_settle,
    .refers = instance_refers,
    .footprint = instance_footprint,
};

/* ---- Rows ------------------------------------------------------------------------------------ */

enum { ENV_MAX = 256, ENV_BYTES_MAX = 32 * 1024 };

static void valid_instance(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const Board__EdgeMove *m = move_edge(move);
    const char *name = key_edge_name(&a, move_key(&a, move));
    const char *fault = edge_name_fault(&a, RECORD_APPINST, name);
    if (fault) {
        say(v, fault);
    }
    edge_valid(v, move);
    if (strcmp(move->move, "update") == 0 && !m->instance) {
        say(v, "update: nothing is said that could change");
    }
    if (!m->instance) {
        return;
    }
    fault = *m->instance->flavor ? edge_name_fault(&a, RECORD_FLAVOR, m->instance->flavor) : NULL;
    if (fault) {
        say(v, fault);
    }
    size_t bytes = 0;
    valid_unsealed(v, &m->instance->base);
    for (size_t i = 0; i < m->instance->n_env; i++) {
        if (!*m->instance->env[i]->name || strchr(m->instance->env[i]->name, '=')) {
            say(v, "env: a variable has a name, without =");
            return;
        }
        bytes += strlen(m->instance->env[i]->name) + strlen(m->instance->env[i]->value);
    }
    if (m->instance->n_env > ENV_MAX || bytes > ENV_BYTES_MAX) {
        say(v, arena_printf(&a, "env: at most %d variables of %d bytes together", ENV_MAX,
                            ENV_BYTES_MAX));
    }
}

static void instance_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    tracked_gather(v, in, &instance_kind, snapshot);
}

static void instance_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&appinst_moves, snapshot, in, p);
}

static const struct op_row instance_op = {
    .name = "move of an app instance",
    .target = move_subject_key,
    .gather = instance_gather,
    .decide = instance_decide,
    .snapshot_size = sizeof(struct tracked_turn),
};

#define MOVE_ROW(move, absents, what)                                                              \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_instance,                                                                   \
        .reads = TRACKED_##what,                                                                   \
        .absent = ABSENT_##absents,                                                                \
        .guards = tracked_guards,                                                                  \
        .refuse = tracked_refuse,                                                                  \
        .decide = tracked_change,                                                                  \
        .op = &instance_op,                                                                        \
        .op_of_rep = &instance_op,                                                                 \
    },
static const struct move_row rows[] = {
#include "bbs/edge/moves_tracked.def"
};

const struct move_family appinst_moves = {
    .lifecycle = &tracked_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = tracked_begin,
};

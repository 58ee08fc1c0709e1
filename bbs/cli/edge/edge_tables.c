#include "bbs/cli/edge/edge_tables.h"

#include "bbs/cli/edge/edge_follow.h"
#include "bbs/edge/refs.h"
#include "common/cli/table.h"
#include "common/model/edge_name.h"

#include <string.h>

/* ---- What belongs together ------------------------------------------------------------------- */

const Board__CloudletInfoRecord *edge_info_of(const struct edge_board *b, const char *cloudlet)
{
    for (size_t i = 0; b->infos && i < b->infos->n_infos; i++) {
        if (strcmp(b->infos->infos[i]->name, cloudlet) == 0) {
            return b->infos->infos[i];
        }
    }
    return NULL;
}

const Board__RefsRecord *edge_refs_of(const struct edge_board *b, const char *cloudlet)
{
    for (size_t i = 0; b->refs && i < b->refs->n_refs; i++) {
        if (strcmp(b->refs->refs[i]->cloudlet, cloudlet) == 0) {
            return b->refs->refs[i];
        }
    }
    return NULL;
}

const Board__MaintenanceRecord *edge_maintenance_of(const struct edge_board *b,
                                                    const char *cloudlet)
{
    for (size_t i = 0; b->maintenance && i < b->maintenance->n_maintenance; i++) {
        if (strcmp(b->maintenance->maintenance[i]->name, cloudlet) == 0) {
            return b->maintenance->maintenance[i];
        }
    }
    return NULL;
}

/* "acme/paris/dev/web" begins with "acme/paris", as the name of a thing below it does. */
static bool is_below(const char *name, const char *above)
{
    size_t size = strlen(above);
    return strncmp(name, above, size) == 0 && name[size] == '/';
}

const char *edge_real_cluster(struct arena *a, const Board__AppInstRecord *i)
{
    return *i->real_cluster ? i->real_cluster : edge_cluster_of(a, i->name);
}

/* ---- Health ---------------------------------------------------------------------------------- */

/* Of the cloudlet that the name is of. */
static bool is_offline(const struct edge_board *b, const char *name)
{
    for (size_t i = 0; b->infos && i < b->infos->n_infos; i++) {
        const Board__CloudletInfoRecord *info = b->infos->infos[i];
        if (strcmp(info->name, name) == 0 || is_below(name, info->name)) {
            return strcmp(info->state, "OFFLINE") == 0;
        }
    }
    return false;
}

static const char *reported(const char *health)
{
    return *health ? health : "UNKNOWN";
}

const char *edge_instance_health(const struct edge_board *b, const Board__AppInstRecord *i)
{
    return is_offline(b, i->name) ? "CLOUDLET_OFFLINE"
           : i->reported          ? reported(i->reported->health)
                                  : "UNKNOWN";
}

/* How bad it is; what nobody knows is worse than what is well. */
static int badness(const char *health)
{
    return strcmp(health, "OK") == 0 ? 0 : strcmp(health, "UNKNOWN") == 0 ? 1 : 2;
}

static bool is_in(const Board__AppInstRecord *i, const char *cluster)
{
    return *i->real_cluster ? strcmp(i->real_cluster, cluster) == 0 : is_below(i->name, cluster);
}

const char *edge_cluster_health(const struct edge_board *b, const Board__ClusterInstRecord *c)
{
    const char *worst = c->reported ? reported(c->reported->health) : "UNKNOWN";
    if (is_offline(b, c->name)) {
        return "CLOUDLET_OFFLINE";
    }
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        const char *health = is_in(one, c->name) ? edge_instance_health(b, one) : "OK";
        worst = badness(health) > badness(worst) ? health : worst;
    }
    return worst;
}

const char *edge_cloudlet_health(struct arena *a, const struct edge_board *b,
                                 const Board__CloudletRecord *c)
{
    size_t all = 0, bad = 0;
    if (is_offline(b, c->name)) {
        return "OFFLINE";
    }
    const Board__CloudletInfoRecord *info = edge_info_of(b, c->name);
    if (strcmp(c->state, "UPDATE_ERROR") == 0 || (info && strcmp(info->state, "ERRORS") == 0)) {
        return "NEEDS REPAIR";
    }
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        bool here = is_below(one->name, c->name);
        all += here;
        bad += here && badness(edge_instance_health(b, one)) == 2;
    }
    return bad ? arena_printf(a, "DEGRADED %zu of %zu", bad, all) : *c->version ? "OK" : "-";
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static struct table begun(struct arena *a, unsigned columns, const char *const *titles,
                          unsigned width)
{
    struct table t;
    table_init(&t, a, columns, titles);
    t.width = width;
    return t;
}

static const char *mb(struct arena *a, int64_t value)
{
    return arena_printf(a, "%lld MB", (long long)value);
}

static const char *state_of(struct arena *a, const char *state, const Board__EdgeOperation *o)
{
    return o && o->overdue ? arena_printf(a, "%s (overdue)", state) : state;
}

static void note_error(struct table *t, const Board__EdgeOperation *o)
{
    if (o && *o->error) {
        table_note(t, o->error);
    }
}

static const char *tags_text(struct arena *a, const Board__NodeSize *size)
{
    const char *text = NULL;
    for (size_t i = 0; size && i < size->n_placement_tags; i++) {
        text =
            arena_printf(a, "%s%s%s", text ? text : "", text ? ", " : "", size->placement_tags[i]);
    }
    return text;
}

void edge_flavors_table(struct arena *a, const Board__EdgeFlavorsResponse *all, int64_t now_ns,
                        unsigned width, struct buf *out)
{
    static const Board__NodeSize none = BOARD__NODE_SIZE__INIT;
    static const char *const titles[] = {"FLAVOR", "MEMORY", "DISK", "CONTAINERS", "TAGS", "SINCE"};
    struct table t = begun(a, 6, titles, width);
    for (size_t i = 0; i < all->n_flavors; i++) {
        const Board__FlavorRecord *f = all->flavors[i];
        const Board__NodeSize *size = f->size ? f->size : &none;
        table_add(&t, (const char *[]){f->name, mb(a, size->memory_mb), mb(a, size->disk_mb),
                                       arena_printf(a, "%d", (int)size->containers),
                                       tags_text(a, size), age_text(a, now_ns - f->since)});
    }
    table_print(&t, out);
}

void edge_apps_table(struct arena *a, const Board__EdgeAppsResponse *all, int64_t now_ns,
                     unsigned width, struct buf *out)
{
    static const char *const titles[] = {"APP", "REVISION", "SINCE"};
    struct table t = begun(a, 3, titles, width);
    for (size_t i = 0; i < all->n_apps; i++) {
        const Board__EdgeAppRecord *app = all->apps[i];
        table_add(&t, (const char *[]){app->name,
                                       arena_printf(a, "%llu", (unsigned long long)app->revision),
                                       age_text(a, now_ns - app->since)});
    }
    table_print(&t, out);
}

/* Of what it has, or of its quota where that is less. */
static const char *memory_text(struct arena *a, const Board__CloudletRecord *c,
                               const Board__RefsRecord *refs, const Board__CloudletInfoRecord *info)
{
    long long used = refs && refs->used ? (long long)refs->used->memory_mb : 0;
    long long quota = c->spec && c->spec->quota ? (long long)c->spec->quota->memory_mb : 0;
    long long total = info && info->totals ? (long long)info->totals->memory_mb : 0;
    return total ? arena_printf(a, "%lld of %lld MB", used, quota && quota < total ? quota : total)
                 : NULL;
}

static const char *cloudlet_state(struct arena *a, const struct edge_board *b,
                                  const Board__CloudletRecord *c)
{
    const Board__MaintenanceRecord *m = edge_maintenance_of(b, c->name);
    const char *state = state_of(a, c->state, c->operation);
    return m && strcmp(m->state, "NORMAL_OPERATION") != 0
               ? arena_printf(a, "%s, %s", state, m->state)
               : state;
}

void edge_cloudlets_table(struct arena *a, const struct edge_board *b, struct buf *out)
{
    static const char *const titles[] = {"CLOUDLET", "STATE",  "SITE",   "VERSION", "CLUSTERS",
                                         "APPS",     "MEMORY", "HEALTH", "SINCE"};
    struct table t = begun(a, 9, titles, b->width);
    for (size_t i = 0; i < b->cloudlets->n_cloudlets; i++) {
        const Board__CloudletRecord *c = b->cloudlets->cloudlets[i];
        const Board__CloudletInfoRecord *info = edge_info_of(b, c->name);
        const Board__RefsRecord *refs = edge_refs_of(b, c->name);
        table_add(&t, (const char *[]){c->name, cloudlet_state(a, b, c), info ? info->state : NULL,
                                       *c->version ? c->version : NULL,
                                       arena_printf(a, "%u", refs ? refs->clusters : 0),
                                       arena_printf(a, "%u", refs ? refs->instances : 0),
                                       memory_text(a, c, refs, info), edge_cloudlet_health(a, b, c),
                                       age_text(a, b->now_ns - c->since)});
        note_error(&t, c->operation);
        for (size_t k = 0; info && k < info->n_errors; k++) {
            table_note(&t, info->errors[k]);
        }
        if (info && info->foreign_objects) {
            table_note(&t, arena_printf(a,
                                        "foreign objects: %u; bbs cloudlets confirm %s lets the "
                                        "site remove them",
                                        info->foreign_objects, c->name));
        }
    }
    table_print(&t, out);
}

static size_t instances_in(const struct edge_board *b, const char *cluster)
{
    size_t count = 0;
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        count += is_in(b->instances->instances[i], cluster);
    }
    return count;
}

static const char *kind_of(const Board__ClusterInstRecord *c)
{
    return c->spec && c->spec->dedicated ? "dedicated"
           : c->automatic                ? "automatic"
           : c->reservable               ? "reservable"
                                         : "quota";
}

void edge_clusters_table(struct arena *a, const struct edge_board *b, struct buf *out)
{
    static const char *const titles[] = {"CLUSTER", "STATE", "KIND",   "FLAVOR",
                                         "NODES",   "APPS",  "HEALTH", "SINCE"};
    struct table t = begun(a, 8, titles, b->width);
    for (size_t i = 0; i < b->clusters->n_clusters; i++) {
        const Board__ClusterInstRecord *c = b->clusters->clusters[i];
        table_add(&t,
                  (const char *[]){c->name, state_of(a, c->state, c->operation), kind_of(c),
                                   c->spec ? c->spec->flavor : NULL,
                                   arena_printf(a, "%u", c->spec ? c->spec->nodes : 0),
                                   arena_printf(a, "%zu", instances_in(b, c->name)),
                                   edge_cluster_health(b, c), age_text(a, b->now_ns - c->since)});
        note_error(&t, c->operation);
    }
    table_print(&t, out);
}

static const char *running_text(struct arena *a, const Board__AppInstRecord *i)
{
    return arena_printf(a, "%u of %u", i->reported ? i->reported->running : 0,
                        i->spec ? i->spec->instances : 0);
}

void edge_instances_table(struct arena *a, const struct edge_board *b, struct buf *out)
{
    static const char *const titles[] = {"APPINST", "STATE",  "FLAVOR", "REVISION",
                                         "RUNNING", "HEALTH", "SINCE"};
    struct table t = begun(a, 7, titles, b->width);
    for (size_t i = 0; i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        const Board__AppInstSpec *s = one->spec;
        table_add(&t, (const char *[]){
                          one->name, state_of(a, one->state, one->operation), s ? s->flavor : NULL,
                          arena_printf(a, "%llu", (unsigned long long)(s ? s->revision : 0)),
                          running_text(a, one), edge_instance_health(b, one),
                          age_text(a, b->now_ns - one->since)});
        note_error(&t, one->operation);
    }
    table_print(&t, out);
}

/* ---- One at length --------------------------------------------------------------------------- */

static void say_line(struct buf *out, const char *title, const char *text)
{
    if (text && *text) {
        buf_printf(out, "%-12s ", title);
        printable_append(out, text);
        buf_append_string(out, "\n");
    }
}

static void say_operation(struct arena *a, const Board__EdgeOperation *o, int64_t now_ns,
                          struct buf *out)
{
    if (!o) {
        return;
    }
    const char *left = o->overdue     ? ", overdue: it goes on"
                       : !o->deadline ? ""
                       : o->deadline > now_ns
                           ? arena_printf(a, ", %s left", age_text(a, o->deadline - now_ns))
                           : ", its time is over";
    if (*o->word) {
        say_line(out, "operation",
                 arena_printf(a, "%s for %s%s", o->word, age_text(a, now_ns - o->since), left));
    }
    say_line(out, "error", o->error);
}

static void say_head(struct arena *a, const struct edge_thing *t, int64_t now_ns, struct buf *out)
{
    say_line(out, t->noun, t->name);
    say_line(out, "state", arena_printf(a, "%s for %s", t->state, age_text(a, now_ns - t->since)));
    say_operation(a, t->operation, now_ns, out);
    say_line(out, "uid", t->uid);
}

/* Of a quota what is said: where there is a 0 the site's own is the bound. */
static const char *quota_text(struct arena *a, const Board__EdgeResources *q)
{
    const char *all = NULL;
    const struct {
        int64_t value;
        const char *unit;
    } parts[] = {{q ? q->memory_mb : 0, "MB memory"},
                 {q ? q->disk_mb : 0, "MB disk"},
                 {q ? q->containers : 0, "containers"}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].value) {
            all = arena_printf(a, "%s%s%lld %s", all ? all : "", all ? ", " : "",
                               (long long)parts[i].value, parts[i].unit);
        }
    }
    return all;
}

static const char *resources_text(struct arena *a, const Board__EdgeResources *r)
{
    return r ? arena_printf(a, "%lld MB memory, %lld MB disk, %lld containers",
                            (long long)r->memory_mb, (long long)r->disk_mb,
                            (long long)r->containers)
             : NULL;
}

void edge_cloudlet_show(struct arena *a, const struct edge_board *b, const Board__CloudletRecord *c,
                        struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_cloudlet(c);
    const Board__CloudletInfoRecord *info = edge_info_of(b, c->name);
    const Board__MaintenanceRecord *m = edge_maintenance_of(b, c->name);
    const Board__RefsRecord *refs = edge_refs_of(b, c->name);
    say_head(a, &thing, b->now_ns, out);
    say_line(out, "health", edge_cloudlet_health(a, b, c));
    say_line(out, "version", c->version);
    say_line(out, "target", c->target_version);
    if (c->spec) {
        say_line(out, "location", arena_printf(a, "%g,%g", c->spec->latitude, c->spec->longitude));
        say_line(out, "quota", quota_text(a, c->spec->quota));
        say_line(out, "alert",
                 arena_printf(a, "%u%%", c->spec->alert_percent ? c->spec->alert_percent : 80));
    }
    say_line(out, "site",
             info ? arena_printf(a, "%s for %s, %u cells", info->state,
                                 age_text(a, b->now_ns - info->since), info->cells)
                  : "no CRM has come");
    say_line(out, "totals", info ? resources_text(a, info->totals) : NULL);
    say_line(out, "given out", refs ? resources_text(a, refs->used) : NULL);
    say_line(out, "warning",
             refs ? refs_alert(a, c->name, NULL, refs, c->spec, info ? info->totals : NULL) : NULL);
    for (size_t i = 0; info && i < info->n_errors; i++) {
        say_line(out, "site error", info->errors[i]);
    }
    if (info && info->foreign_objects) {
        say_line(out, "foreign",
                 arena_printf(a,
                              "%u objects: bbs cloudlets confirm %s lets the "
                              "site remove them",
                              info->foreign_objects, c->name));
    }
    for (size_t i = 0; info && i < info->n_foreign; i++) {
        say_line(out, "", info->foreign[i]);
    }
    say_line(out, "maintenance", m ? m->state : NULL);
}

void edge_cluster_show(struct arena *a, const struct edge_board *b,
                       const Board__ClusterInstRecord *c, struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_cluster(c);
    const Board__ClusterSpec *s = c->spec;
    say_head(a, &thing, b->now_ns, out);
    say_line(out, "health", edge_cluster_health(b, c));
    say_line(out, "kind", kind_of(c));
    if (s) {
        say_line(out, "nodes", arena_printf(a, "%u of flavor %s", s->nodes, s->flavor));
    }
    if (s && s->node) {
        say_line(out, "node",
                 arena_printf(a, "%d MB memory, %d MB disk, %d containers", (int)s->node->memory_mb,
                              (int)s->node->disk_mb, (int)s->node->containers));
    }
    if (c->former) {
        say_line(out, "before", arena_printf(a, "%u nodes", c->former->nodes));
    }
    say_line(out, "reserved by", c->reserved_by);
    for (size_t i = 0; c->reported && i < c->reported->n_cells; i++) {
        say_line(out, "cell", c->reported->cells[i]);
    }
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        if (is_in(one, c->name)) {
            say_line(
                out, "app",
                arena_printf(a, "%s, %s, %s", one->name, one->state, edge_instance_health(b, one)));
        }
    }
}

static const char *port_text(struct arena *a, const Board__EdgePort *p)
{
    const char *protocol = p->protocol == BOARD__EDGE_PORT__PROTOCOL__UDP ? "udp" : "tcp";
    const char *inside = p->last ? arena_printf(a, "%u-%u", p->internal, p->last)
                                 : arena_printf(a, "%u", p->internal);
    return p->public_ ? arena_printf(a, "%s %s, public %u", protocol, inside, p->public_)
                      : arena_printf(a, "%s %s", protocol, inside);
}

void edge_instance_show(struct arena *a, const struct edge_board *b, const Board__AppInstRecord *i,
                        struct buf *out)
{
    const struct edge_thing thing = edge_thing_of_instance(i);
    const Board__AppInstSpec *s = i->spec;
    say_head(a, &thing, b->now_ns, out);
    say_line(out, "health", edge_instance_health(b, i));
    say_line(out, "running", running_text(a, i));
    say_line(out, "cluster", edge_real_cluster(a, i));
    if (s) {
        say_line(out, "flavor", s->flavor);
        say_line(out, "revision", arena_printf(a, "%llu", (unsigned long long)s->revision));
    }
    if (i->former) {
        say_line(out, "before",
                 arena_printf(a, "revision %llu", (unsigned long long)i->former->revision));
    }
    say_line(out, "uri", i->uri);
    for (size_t k = 0; s && k < s->n_ports; k++) {
        say_line(out, "port", port_text(a, s->ports[k]));
    }
    for (size_t k = 0; i->reported && k < i->reported->n_endpoints; k++) {
        say_line(out, "endpoint", i->reported->endpoints[k]);
    }
}

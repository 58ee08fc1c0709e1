/* E6, E7: what a centre has given out of a site is the sum over what is there, nothing is given
 * twice, and no change of an instance is in work beside one of its cluster. Counted here from the
 * records, in another way than the product does. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"

#include <string.h>

enum { PORTS_MAX = 256 };

struct given {
    struct checkers *k;
    struct arena *arena;
    const char *cloudlet;
    int64_t memory_mb, disk_mb, containers;
    uint32_t clusters, instances;
    uint64_t ids;
    struct given_port {
        uint32_t port;
        Board__EdgePort__Protocol protocol;
        const char *by;
    } ports[PORTS_MAX];
    unsigned port_count;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_cluster(void *context, const struct past *p)
{
    struct given *g = context;
    const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)p->message;
    const Board__ClusterSpec *list[2] = {c->spec, c->former};
    int64_t memory = 0, disk = 0, containers = 0;
    for (int i = 0; i < 2; i++) {
        if (list[i] && list[i]->node) {
            memory = larger(memory, (int64_t)list[i]->nodes * list[i]->node->memory_mb);
            disk = larger(disk, (int64_t)list[i]->nodes * list[i]->node->disk_mb);
            containers = larger(containers, (int64_t)list[i]->nodes * list[i]->node->containers);
        }
    }
    g->memory_mb += memory;
    g->disk_mb += disk;
    g->containers += containers;
    g->clusters++;
    uint64_t bit = c->automatic ? (uint64_t)1 << c->reservable_id : 0;
    if (g->ids & bit) {
        checkers_report(g->k, "E7", "%s has the number %u of another cluster", p->key,
                        c->reservable_id);
    }
    g->ids |= bit;
}

static void add_port(struct given *g, const char *by, const Board__EdgePort *p)
{
    for (unsigned i = 0; i < g->port_count; i++) {
        struct given_port *one = &g->ports[i];
        if (one->port == p->public_ && one->protocol == p->protocol) {
            if (strcmp(one->by, by) != 0) {
                checkers_report(g->k, "E7", "port %u of %s is of %s and of %s", p->public_,
                                g->cloudlet, one->by, by);
            }
            return;
        }
    }
    if (g->port_count < PORTS_MAX) {
        g->ports[g->port_count++] = (struct given_port){p->public_, p->protocol, by};
    }
}

static void add_ports(struct given *g, const char *by, const Board__AppInstSpec *spec)
{
    for (size_t i = 0; spec && i < spec->n_ports; i++) {
        add_port(g, by, spec->ports[i]);
    }
}

static void add_instance(void *context, const struct past *p)
{
    struct given *g = context;
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)p->message;
    const char *key = key_edge(g->arena, RECORD_CLUSTERINST, edge_runs_in(g->arena, r));
    const Board__ClusterInstRecord *c =
        (const Board__ClusterInstRecord *)history_now(&g->k->history, key);
    g->instances++;
    if (!c || strcmp(c->uid, r->cluster_uid) != 0) {
        checkers_report(g->k, "E7", "%s is in cluster %s, which is not there", p->key, key);
        return;
    }
    if (c->reservable && strcmp(c->reserved_by, r->name) != 0) {
        checkers_report(g->k, "E7", "%s is in %s, which is reserved by \"%s\"", p->key, key,
                        c->reserved_by);
    }
    if (!c->spec->dedicated) { /* those have an address of their own */
        add_ports(g, r->name, r->spec);
        add_ports(g, r->name, r->former);
    }
    const Board__DnsNameRecord *name =
        (const Board__DnsNameRecord *)history_now(&g->k->history, key_dns_name(g->arena, r->uri));
    if (!name || strcmp(name->taken_by, r->name) != 0 || strcmp(name->uid, r->uid) != 0) {
        checkers_report(g->k, "E7", "%s has the name %s, which is of \"%s\"", p->key, r->uri,
                        name ? name->taken_by : "");
    }
}

static void check_ports(const struct given *g, const Board__RefsRecord *refs)
{
    for (unsigned i = 0; i < g->port_count; i++) {
        bool found = false;
        for (size_t n = 0; n < refs->n_ports; n++) {
            const Board__RefsPort *p = refs->ports[n];
            found = found || (p->port == g->ports[i].port && p->protocol == g->ports[i].protocol &&
                              strcmp(p->taken_by, g->ports[i].by) == 0);
        }
        if (!found) {
            checkers_report(g->k, "E7", "refs of %s have not port %u of %s", g->cloudlet,
                            g->ports[i].port, g->ports[i].by);
        }
    }
    if (refs->n_ports != g->port_count) {
        checkers_report(g->k, "E7", "refs of %s have %zu ports, its instances %u", g->cloudlet,
                        refs->n_ports, g->port_count);
    }
}

static void check_sums(struct given *g, const Board__RefsRecord *refs)
{
    const Board__EdgeResources none = BOARD__EDGE_RESOURCES__INIT;
    const Board__EdgeResources *used = refs->used ? refs->used : &none;
    if (used->memory_mb != g->memory_mb || used->disk_mb != g->disk_mb ||
        used->containers != g->containers) {
        checkers_report(g->k, "E7",
                        "refs of %s say %lld MiB, %lld MiB and %lld, its clusters "
                        "have %lld, %lld and %lld",
                        g->cloudlet, (long long)used->memory_mb, (long long)used->disk_mb,
                        (long long)used->containers, (long long)g->memory_mb, (long long)g->disk_mb,
                        (long long)g->containers);
    }
    if (refs->clusters != g->clusters || refs->instances != g->instances ||
        refs->reservable_ids != g->ids) {
        checkers_report(g->k, "E7",
                        "refs of %s say %u clusters, %u instances and numbers %llx, "
                        "there are %u, %u and %llx",
                        g->cloudlet, refs->clusters, refs->instances,
                        (unsigned long long)refs->reservable_ids, g->clusters, g->instances,
                        (unsigned long long)g->ids);
    }
    check_ports(g, refs);
}

/* ---- Within the quota ---- */

static bool is_beyond(int64_t was, int64_t is, int64_t quota, int64_t total)
{
    int64_t bound = quota && (!total || quota < total) ? quota : total;
    return is > was && is > bound;
}

/* What grew is within what the site may give, as that stood when it grew. */
static void check_quota(struct checkers *k, struct arena *a, const struct past *p)
{
    const Board__EdgeResources none = BOARD__EDGE_RESOURCES__INIT;
    const Board__RefsRecord *is = (const Board__RefsRecord *)p->message;
    const Board__RefsRecord *was = p->before ? (const Board__RefsRecord *)p->before->message : NULL;
    const char *name = key_edge_name(a, p->key);
    const Board__CloudletRecord *c = (const Board__CloudletRecord *)edge_stood(
        k, key_edge(a, RECORD_CLOUDLET, name), p->revision - 1);
    const Board__CloudletInfoRecord *i = (const Board__CloudletInfoRecord *)edge_stood(
        k, key_edge(a, RECORD_CLOUDLETINFO, name), p->revision - 1);
    if (!c || !was || !is) {
        return;
    }
    const Board__EdgeResources *q = c->spec && c->spec->quota ? c->spec->quota : &none;
    const Board__EdgeResources *t = i && i->totals ? i->totals : &none;
    const Board__EdgeResources *before = was->used ? was->used : &none;
    const Board__EdgeResources *after = is->used ? is->used : &none;
    if (is_beyond(before->memory_mb, after->memory_mb, q->memory_mb, t->memory_mb) ||
        is_beyond(before->disk_mb, after->disk_mb, q->disk_mb, t->disk_mb) ||
        is_beyond(before->containers, after->containers, q->containers, t->containers)) {
        checkers_report(k, "E7", "%s grows beyond what %s may give", p->key, name);
    }
}

/* ---- No two changes beside one another ---- */

/* While a cluster comes or changes nothing in it may, and the other way round. Excused: an
 * instance that a client deletes may go beside a cluster that changes: its CRM does one after the
 * other, and whoever had to wait for an error of the cluster could not get rid of it. */
static void check_alone(struct checkers *k, struct arena *a, const struct past *p)
{
    const struct tracked_head *o = edge_head(p);
    if (!o || !edge_is_in_work(edge_state(p)) || edge_state(p) == edge_state(p->before)) {
        return;
    }
    if (p->type == RECORD_CLUSTERINST) {
        struct edge_dependents d = edge_dependents_at(k, o->name, p->revision);
        if (d.in_work) {
            checkers_report(k, "E6", "%s is %s beside %u of its instances that are in work", p->key,
                            o->state, d.in_work);
        }
        return;
    }
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)p->message;
    const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)history_now(
        &k->history, key_edge(a, RECORD_CLUSTERINST, edge_runs_in(a, r)));
    int state = c ? lifecycle_state(&tracked_lifecycle, c->state) : TRACKED_NONE;
    if (edge_is_in_work(state)) {
        checkers_report(k, "E6", "%s is %s beside its cluster, which is %s", p->key, o->state,
                        c->state);
    }
}

static void check_cloudlet(struct checkers *k, struct arena *a, const char *cloudlet)
{
    struct given g = {.k = k, .arena = a, .cloudlet = cloudlet};
    const Board__RefsRecord *refs =
        (const Board__RefsRecord *)history_now(&k->history, key_edge(a, RECORD_REFS, cloudlet));
    history_each(&k->history, key_edge_all(a, RECORD_CLUSTERINST, cloudlet), add_cluster, &g);
    history_each(&k->history, key_edge_all(a, RECORD_APPINST, cloudlet), add_instance, &g);
    if (refs) {
        check_sums(&g, refs);
    } else if (g.clusters + g.instances) {
        checkers_report(k, "E7", "%u clusters and %u instances stand at %s, which is not there",
                        g.clusters, g.instances, cloudlet);
    }
}

static bool is_counted(const struct past *p)
{
    return p->type == RECORD_CLUSTERINST || p->type == RECORD_APPINST || p->type == RECORD_REFS ||
           p->type == RECORD_NAME;
}

void check_edge_refs(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    SCOPED_ARENA(a);
    const char *done = "";
    for (size_t i = 0; i < p->count; i++) {
        const struct past *one = p->list[i];
        if (!is_counted(one)) {
            continue;
        }
        check_alone(k, &a, one);
        if (one->type == RECORD_REFS) {
            check_quota(k, &a, one);
        }
        const char *cloudlet =
            one->type == RECORD_NAME ? done : edge_cloudlet_of(&a, key_edge_name(&a, one->key));
        if (strcmp(cloudlet, done) != 0) { /* of one commit it is mostly the same */
            check_cloudlet(k, &a, cloudlet);
            k->seen[SEEN_REFS]++;
        }
        done = cloudlet;
    }
}

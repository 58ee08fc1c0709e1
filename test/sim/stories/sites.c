/* A centre and a site, each with an etcd of its own, and the CRM between them as it ships
 * (docs/edge.md). What a client of the centre asks for is laid into its store. */
#include "test/sim/stories/story.h"

#include "board.pb-c.h"
#include "edge_api.pb-c.h"
#include "common/model/record.h"
#include "crm/crm.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

#define PARIS "acme/paris"
#define WEB "acme/paris/dev/web"
#define SHOP "acme/paris/dev/web/dev/shop/1.0"
#define APP "dev/shop/1.0"
#define LIMIT_NS (1200 * SECOND_NS)

struct edge_play {
    struct cluster *centre, *site;
    struct node *crm;
    struct arena arena;
    char *centres, *boards;
};

static struct role *make_crm(void *context, unsigned incarnation)
{
    struct edge_play *x = context;
    (void)incarnation;
    return crm_new(&(struct crm_config){.name = "crm.site",
                                        .cloudlet = PARIS,
                                        .version = "1.0",
                                        .boards = x->boards,
                                        .centres = x->centres,
                                        .url = "https://crm.site:9025"});
}

static char *urls_of(struct edge_play *x, const struct cluster *c)
{
    char *list = arena_strdup(&x->arena, "");
    for (unsigned i = 0; i < c->options.bbs; i++) {
        list = arena_printf(&x->arena, "%s%s%s", list, i ? "," : "", node_url(c->bbs[i]));
    }
    return list;
}

static void begin(struct edge_play *x, struct cluster *c)
{
    struct cluster_options options = c->options;
    *x = (struct edge_play){.centre = c};
    arena_init(&x->arena);
    options.name = "site";
    options.cells = 2;
    x->site = cluster_beside(c, &options);
    assert_true(world_run_until(c->world, SETTLE_NS, cluster_ready, x->site));
    x->centres = urls_of(x, c);
    x->boards = urls_of(x, x->site);
    x->crm = world_add(c->world, &(struct node_config){.name = "crm.site",
                                                       .unit = "site",
                                                       .certificate_name = "crm.site",
                                                       .centre_name = PARIS,
                                                       .url = "https://crm.site:9025",
                                                       .cluster = x->site,
                                                       .make = make_crm,
                                                       .context = x});
    assert_non_null(x->crm);
}

/* ---- What a client makes at the centre ------------------------------------------------------- */

static void lay(struct edge_play *x, const char *key, const ProtobufCMessage *record)
{
    store_put(x->centre->store, key, record_encoded(&x->arena, record));
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void lay_cloudlet(struct edge_play *x)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    Board__RefsRecord r = BOARD__REFS_RECORD__INIT;
    c.name = m.name = r.cloudlet = text(PARIS);
    c.uid = m.uid = text("uid-of-paris");
    c.state = text("CREATING");
    c.request = 1;
    m.state = text("NORMAL_OPERATION");
    lay(x, key_edge(&x->arena, RECORD_MAINTENANCE, PARIS), &m.base);
    lay(x, key_edge(&x->arena, RECORD_REFS, PARIS), &r.base);
    lay(x, key_edge(&x->arena, RECORD_CLOUDLET, PARIS), &c.base);
}

static void lay_cluster(struct edge_play *x, const char *state, uint64_t request)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    Board__EdgeOperation o = BOARD__EDGE_OPERATION__INIT;
    node.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    node.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    node.containers = 16;
    spec.node = &node;
    spec.nodes = 2;
    o.word = text(request == 1 ? "create" : "delete");
    o.limit_ns = LIMIT_NS;
    c.name = text(WEB);
    c.uid = text("uid-of-web");
    c.state = text(state);
    c.request = request;
    c.operation = &o;
    c.spec = &spec;
    c.digest = text("w1");
    lay(x, key_edge(&x->arena, RECORD_CLUSTERINST, WEB), &c.base);
}

static void lay_instance_as(struct edge_play *x, const char *state, uint64_t request,
                            const char *digest)
{
    Board__AppInstRecord i = BOARD__APP_INST_RECORD__INIT;
    Board__AppInstSpec spec = BOARD__APP_INST_SPEC__INIT;
    Board__NodeSize size = BOARD__NODE_SIZE__INIT;
    Board__EdgeOperation o = BOARD__EDGE_OPERATION__INIT;
    size.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    size.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    spec.size = &size;
    spec.revision = 1;
    spec.instances = 2;
    o.word = text(request == 1 ? "create" : "delete");
    o.limit_ns = LIMIT_NS;
    i.name = text(SHOP);
    i.uid = text("uid-of-shop");
    i.state = text(state);
    i.request = request;
    i.operation = &o;
    i.spec = &spec;
    i.digest = text(digest);
    i.former_digest = text("s1");
    i.cluster_uid = text("uid-of-web");
    lay(x, key_edge(&x->arena, RECORD_APPINST, SHOP), &i.base);
}

static void lay_instance(struct edge_play *x, const char *state, uint64_t request)
{
    lay_instance_as(x, state, request, "s1");
}

static void lay_definition(void *context, const ProtobufCMessage *m)
{
    struct edge_play *x = context;
    Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    lrp.process_guid = lrp.domain = text("");
    lrp.instances = 0;
    r.name = text(APP);
    r.revision = 1;
    r.definition = &lrp;
    lay(x, key_appdef(&x->arena, APP, 1), &r.base);
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct sought_state {
    enum record_type type;
    const char *state;
    int found;
    const char *error; /* of its operation; in the arena of the play */
    struct arena *arena;
};

static void note_state(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct sought_state *s = context;
    const char *state = type == RECORD_CLOUDLET ? ((const Board__CloudletRecord *)m)->state
                        : type == RECORD_CLOUDLETINFO
                            ? ((const Board__CloudletInfoRecord *)m)->state
                        : type == RECORD_CLUSTERINST ? ((const Board__ClusterInstRecord *)m)->state
                        : type == RECORD_APPINST     ? ((const Board__AppInstRecord *)m)->state
                                                     : "";
    const Board__EdgeOperation *o =
        type == RECORD_APPINST ? ((const Board__AppInstRecord *)m)->operation : NULL;
    s->found += type == s->type && strcmp(state, s->state) == 0;
    s->error = o ? arena_strdup(s->arena, o->error) : s->error;
}

/* How many records of this kind are in this state at the centre. */
static int count_state(struct edge_play *x, enum record_type type, const char *state)
{
    struct sought_state s = {.type = type, .state = state, .error = "", .arena = &x->arena};
    cluster_each(x->centre, arena_printf(&x->arena, "%s/", record_type_name(type)), note_state, &s);
    return s.found;
}

/* A record of this kind at the centre gets to this state within the time; NULL = all go. */
static void await_state_within(struct edge_play *x, enum record_type type, const char *state,
                               int64_t limit_ns)
{
    const char *prefix = arena_printf(&x->arena, "%s/", record_type_name(type));
    for (int64_t until = world_now(x->centre->world) + limit_ns;;) {
        struct sought_state s = {
            .type = type, .state = state ? state : "", .error = "", .arena = &x->arena};
        cluster_each(x->centre, prefix, note_state, &s);
        if (state ? s.found : cluster_records(x->centre, prefix) == 0) {
            return;
        }
        if (world_now(x->centre->world) >= until) {
            fail_msg("%s: not %s: %s", prefix, state ? state : "gone", s.error);
        }
        world_run(x->centre->world, SECOND_NS / 10);
    }
}

static void await_state(struct edge_play *x, enum record_type type, const char *state)
{
    await_state_within(x, type, state, 2 * SETTLE_NS);
}

static void cut_link(struct edge_play *x, bool cut)
{
    for (unsigned i = 0; i < x->centre->options.bbs; i++) {
        world_cut(x->centre->world, x->crm, x->centre->bbs[i], cut);
        world_cut(x->centre->world, x->centre->bbs[i], x->crm, cut);
    }
}

void story_a_site_is_cut_off_and_goes_on(struct cluster *c)
{
    struct edge_play x;
    says(c, "An app runs at its site, and the CRM vouches for its domain.");
    begin(&x, c);
    lay_cloudlet(&x);
    world_start(c->world, x.crm);
    cluster_with_desire("shop", 2, lay_definition, &x);
    lay_cluster(&x, "CREATE_REQUESTED", 1);
    lay_instance(&x, "CREATE_REQUESTED", 1);
    await_state(&x, RECORD_APPINST, "READY");
    world_run(c->world, 30 * SECOND_NS);
    assert_int_equal(cluster_records(x.site, "domain/edge."), 1);

    says(c,
         "The link is cut, for longer than the domain is fresh. A container ends, and comes back "
         "by the site's own hand; nothing is stopped.");
    cut_link(&x, true);
    world_run(c->world, SECOND_NS);
    assert_true(world_end_container(c->world, x.site->cells[0], 0, 1) ||
                world_end_container(c->world, x.site->cells[1], 0, 1));
    world_run(c->world, 180 * SECOND_NS);
    assert_int_equal(cluster_records(x.site, "domain/edge."), 0);
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", "RUNNING"), 2);

    says(c,
         "Meanwhile the centre wants another definition. When the link is back the new one comes "
         "beside the old, which goes when all of the new has run.");
    lay_instance_as(&x, "UPDATE_REQUESTED", 2, "s2");
    world_run(c->world, 10 * SECOND_NS);
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", "RUNNING"), 2);
    cut_link(&x, false);
    world_run(c->world, 60 * SECOND_NS);
    await_state(&x, RECORD_APPINST, "READY");
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s2", "RUNNING"), 2);
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", ""), 0);
    assert_int_equal(cluster_records(x.site, "domain/edge."), 1);
    arena_done(&x.arena);
}

void story_an_app_comes_to_its_site_and_goes(struct cluster *c)
{
    struct edge_play x;
    says(c,
         "A cloudlet is made at the centre. Its site has a bbs, cells and an etcd of its own; the "
         "CRM there dials the centre, and the cloudlet is READY.");
    begin(&x, c);
    lay_cloudlet(&x);
    world_start(c->world, x.crm);
    await_state(&x, RECORD_CLOUDLET, "READY");

    says(c, "A cluster is wanted, and an app instance in it. The slice comes first, then what runs "
            "in it; the instance is READY when both of its instances have run.");
    cluster_with_desire("shop", 2, lay_definition, &x);
    lay_instance(&x, "CREATE_REQUESTED", 1);
    lay_cluster(&x, "CREATE_REQUESTED", 1);
    await_state(&x, RECORD_CLUSTERINST, "READY");
    await_state(&x, RECORD_APPINST, "READY");
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", "RUNNING"), 2);
    assert_int_equal(cluster_records(x.site, "slice/"), 1);

    says(c,
         "The CRM is killed, and begins anew with another session. Nothing changes at the site.");
    world_kill(c->world, x.crm);
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", "RUNNING"), 2);
    world_start(c->world, x.crm);
    world_run(c->world, 3 * SETTLE_NS);
    await_state(&x, RECORD_APPINST, "READY");
    assert_int_equal(cluster_count(x.site, "a-uid-of-shop-s1", "RUNNING"), 2);
    assert_int_equal(cluster_containers(x.site), 2);

    says(c,
         "Both are deleted at once. The app instance goes before its cluster, and the site holds "
         "nothing of them.");
    lay_cluster(&x, "DELETE_REQUESTED", 2);
    lay_instance(&x, "DELETE_REQUESTED", 2);
    await_state(&x, RECORD_APPINST, NULL);
    await_state(&x, RECORD_CLUSTERINST, NULL);
    assert_int_equal(cluster_records(x.site, "slice/"), 0);
    assert_int_equal(cluster_records(x.site, "desired/"), 0);
    assert_int_equal(cluster_records(x.site, "actual/"), 0);
    arena_done(&x.arena);
}

/* ---- A client of the centre ------------------------------------------------------------------ */

#define LATE "acme/paris/dev/late"

static void ask(struct edge_play *x, const char *path, const ProtobufCMessage *m)
{
    int status =
        world_call(x->centre->world, node_url(x->centre->bbs[0]), path, m, SETTLE_NS, NULL);
    assert_int_equal(status, 200);
}

static void ask_for_flavor(struct edge_play *x)
{
    Board__FlavorRecord f = BOARD__FLAVOR_RECORD__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    node.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    node.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    f.name = text("small");
    f.size = &node;
    ask(x, "/v1/edge/flavor/set", &f.base);
}

/* A cluster of two nodes. */
static void ask_for_cluster(struct edge_play *x, const char *verb, const char *name)
{
    Board__EdgeRequest r = BOARD__EDGE_REQUEST__INIT;
    Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    bool creates = strcmp(verb, "create") == 0;
    spec.flavor = text("small");
    spec.nodes = 2;
    says.cluster = creates ? &spec : NULL;
    r.name = text(name);
    r.says = &says;
    ask(x, arena_printf(&x->arena, "/v1/edge/cluster/%s", verb), &r.base);
}

void story_a_site_is_cut_off_longer_than_a_create(struct cluster *c)
{
    struct edge_play x;
    says(c, "A cluster is at its site. The link is cut, and before anybody knows, another cluster "
            "is wanted there.");
    begin(&x, c);
    lay_cloudlet(&x);
    world_start(c->world, x.crm);
    await_state(&x, RECORD_CLOUDLET, "READY");
    ask_for_flavor(&x);
    ask_for_cluster(&x, "create", WEB);
    await_state(&x, RECORD_CLUSTERINST, "READY");
    cut_link(&x, true);
    ask_for_cluster(&x, "create", LATE);
    await_state(&x, RECORD_CLUSTERINST, "CREATE_REQUESTED");

    says(c, "The site is silent for 30 s: it is OFFLINE, and that stops nothing.");
    world_run(c->world, 24 * SECOND_NS);
    assert_int_equal(count_state(&x, RECORD_CLOUDLETINFO, "OFFLINE"), 0);
    await_state_within(&x, RECORD_CLOUDLETINFO, "OFFLINE", 21 * SECOND_NS);
    assert_int_equal(cluster_records(x.site, "slice/"), 1);

    says(c,
         "The time of the create is over, and the site has not begun: it failed, and is undone.");
    world_run(c->world, 1700 * SECOND_NS);
    assert_int_equal(cluster_records(c, "clusterinst/"), 2);
    world_run(c->world, 100 * SECOND_NS);
    assert_int_equal(cluster_records(c, "clusterinst/"), 1);
    assert_int_equal(count_state(&x, RECORD_CLUSTERINST, "READY"), 1);

    says(c,
         "The link is back: the site is READY again, and holds what it held. The same cluster is "
         "made now.");
    cut_link(&x, false);
    await_state_within(&x, RECORD_CLOUDLETINFO, "READY", 45 * SECOND_NS);
    assert_int_equal(cluster_records(x.site, "slice/"), 1);
    ask_for_cluster(&x, "create", LATE);
    world_run(c->world, SETTLE_NS);
    assert_int_equal(count_state(&x, RECORD_CLUSTERINST, "READY"), 2);
    assert_int_equal(cluster_records(x.site, "slice/"), 2);

    says(c, "Both are deleted: nothing depends on them, so the site removes them.");
    ask_for_cluster(&x, "delete", LATE);
    ask_for_cluster(&x, "delete", WEB);
    await_state(&x, RECORD_CLUSTERINST, NULL);
    assert_int_equal(cluster_records(x.site, "slice/"), 0);
    arena_done(&x.arena);
}

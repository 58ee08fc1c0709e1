/* What users of a centre ask: flavors and apps, clusters and instances at the sites, in any order,
 * with any override, through any bbs; the answers are counted and nothing else. */
#include "board.pb-c.h"
#include "edge_api.pb-c.h"
#include "setting.pb-c.h"
#include "common/codec/scan.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/swarm_edge/inside.h"

#include <string.h>

#define ASK_LIMIT_NS (6 * SECOND_NS)

enum { CLUSTERS = 4, APPS_MAX = 3, BODY_MOST = 1 << 20, OVERRIDE_KINDS = 5 };

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static bool is_refused(struct bytes body)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    if (scan_and_unpack(&a, &models__desired_lrplifecycle_response__descriptor, body, BODY_MOST, &m,
                        NULL) != 0) {
        return true;
    }
    return ((const Models__DesiredLRPLifecycleResponse *)m)->error != NULL;
}

static void count_answer(void *context, int status, struct bytes body)
{
    struct edge_swarm *s = context;
    bool heard = status == 200;
    s->result->done[!heard ? EDGE_UNHEARD : is_refused(body) ? EDGE_REFUSED : EDGE_TAKEN]++;
}

static const char *any_centre(struct edge_swarm *s)
{
    const struct cluster *c = s->boards[0].cluster;
    return node_url(c->bbs[random_below(&s->random, c->options.bbs)]);
}

static void ask(struct edge_swarm *s, const char *path, const ProtobufCMessage *m)
{
    s->result->done[EDGE_ASKED]++;
    world_send(s->world, any_centre(s), path, m, ASK_LIMIT_NS, count_answer, s);
}

/* ---- What there is to ask for ---- */

static void set_flavor(struct edge_swarm *s, const char *name, int instances)
{
    Board__FlavorRecord f = BOARD__FLAVOR_RECORD__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    node.memory_mb = instances * CLUSTER_INSTANCE_MEMORY_MB;
    node.disk_mb = instances * CLUSTER_INSTANCE_DISK_MB;
    f.name = text(name);
    f.size = &node;
    ask(s, "/v1/edge/flavor/set", &f.base);
}

struct revision {
    struct edge_swarm *swarm;
    unsigned app, number;
};

/* Each revision is another definition; which ports it has, and whether it goes with its cluster,
 * hangs on the app alone. */
static void apply_definition(void *context, const ProtobufCMessage *m)
{
    const struct revision *x = context;
    struct arena *a = &x->swarm->arena;
    Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    Board__EdgeAppSpec spec = BOARD__EDGE_APP_SPEC__INIT;
    Board__EdgePort port = BOARD__EDGE_PORT__INIT, *ports[] = {&port};
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    lrp.process_guid = lrp.domain = text("");
    lrp.instances = 0;
    lrp.memory_mb = lrp.disk_mb = 0;
    lrp.annotation = arena_printf(a, "revision %u", x->number);
    port.internal = 8080;
    spec.flavor = text("small");
    spec.scale_with_cluster = x->app == 1;
    spec.auto_delete = x->app != 0;
    spec.ports = ports;
    spec.n_ports = x->app < 2;
    r.name = arena_printf(a, "dev/app%u/1.0", x->app);
    r.spec = &spec;
    r.definition = &lrp;
    ask(x->swarm, "/v1/edge/app/apply", &r.base);
}

static void apply_app(struct edge_swarm *s, unsigned app)
{
    cluster_with_desire("edge", 1, apply_definition, &(struct revision){s, app, ++s->asked});
    s->result->done[EDGE_APPLIED]++;
}

/* ---- One request about an object ---- */

static void ask_about(struct edge_swarm *s, const char *noun, const char *verb, const char *name,
                      Board__EdgeMove *says)
{
    Board__EdgeRequest r = BOARD__EDGE_REQUEST__INIT;
    r.name = text(name);
    r.says = says;
    if (s->overrides && edge_chance(s, 20)) {
        says->override = (Board__EdgeOperation__Override)random_below(&s->random, OVERRIDE_KINDS);
        s->result->done[EDGE_OVERRIDES] += says->override != 0;
    }
    ask(s, arena_printf(&s->arena, "/v1/edge/%s/%s", noun, verb), &r.base);
}

static struct edge_site_play *any_site(struct edge_swarm *s)
{
    return &s->sites[random_below(&s->random, s->site_count)];
}

static const char *any_flavor(struct edge_swarm *s)
{
    return edge_chance(s, 70) ? "small" : "large";
}

/* Some are ours, any app may have them, one at a time. */
static const char *any_cluster(struct edge_swarm *s, bool *ret_reservable)
{
    unsigned number = (unsigned)random_below(&s->random, CLUSTERS);
    *ret_reservable = number == 0;
    return arena_printf(&s->arena, "%s/%s%u", any_site(s)->cloudlet,
                        number ? "dev/c" : "corkboard/own", number);
}

static void ask_cluster(struct edge_swarm *s)
{
    Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    bool reservable;
    const char *name = any_cluster(s, &reservable);
    unsigned what = (unsigned)random_below(&s->random, 10);
    spec.nodes = (uint32_t)edge_draw(s, 1, 3);
    if (what < 5) {
        spec.flavor = text(any_flavor(s));
        spec.dedicated = edge_chance(s, 25);
        says.reservable = reservable;
        says.cluster = &spec;
        ask_about(s, "cluster", "create", name, &says);
        s->result->done[EDGE_CLUSTERS_CREATED]++;
    } else if (what < 8) {
        says.cluster = &spec;
        ask_about(s, "cluster", "update", name, &says);
        s->result->done[EDGE_CLUSTERS_UPDATED]++;
    } else {
        ask_about(s, "cluster", "delete", name, &says);
        s->result->done[EDGE_CLUSTERS_DELETED]++;
    }
}

static const char *any_instance(struct edge_swarm *s)
{
    bool reservable;
    const char *app =
        arena_printf(&s->arena, "dev/app%u/1.0", (unsigned)random_below(&s->random, s->apps));
    const char *cluster =
        edge_chance(s, 25) ? arena_printf(&s->arena, "%s/dev/autocluster%u", any_site(s)->cloudlet,
                                          (unsigned)random_below(&s->random, 2))
                           : any_cluster(s, &reservable);
    return arena_printf(&s->arena, "%s/%s", cluster, app);
}

static void ask_instance(struct edge_swarm *s)
{
    static const struct {
        const char *verb;
        enum edge_count count;
        unsigned up_to;
    } verbs[] = {{"create", EDGE_INSTANCES_CREATED, 5},
                 {"update", EDGE_INSTANCES_UPDATED, 7},
                 {"refresh", EDGE_INSTANCES_REFRESHED, 8},
                 {"delete", EDGE_INSTANCES_DELETED, 10}};
    Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
    Board__AppInstSpec spec = BOARD__APP_INST_SPEC__INIT;
    Models__EnvironmentVariable v = MODELS__ENVIRONMENT_VARIABLE__INIT, *env[] = {&v};
    unsigned at = (unsigned)random_below(&s->random, 10), i = 0;
    while (at >= verbs[i].up_to) {
        i++;
    }
    if (i < 2) {
        spec.flavor = text(edge_chance(s, 80) ? "" : any_flavor(s));
        v.name = text("N");
        v.value = arena_printf(&s->arena, "%u", (unsigned)random_below(&s->random, 4));
        spec.env = env;
        spec.n_env = 1;
        says.instance = &spec;
    }
    says.force = i == 2 && edge_chance(s, 50);
    ask_about(s, "instance", verbs[i].verb, any_instance(s), &says);
    s->result->done[verbs[i].count]++;
}

static void ask_maintenance(struct edge_swarm *s)
{
    static const char *const words[] = {"start", "start_no_failover", "end", "end"};
    Board__EdgeRequest r = BOARD__EDGE_REQUEST__INIT;
    Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
    r.name = text(any_site(s)->cloudlet);
    r.says = &says;
    ask(s, arena_printf(&s->arena, "/v1/edge/maintenance/%s", words[random_below(&s->random, 4)]),
        &r.base);
    s->result->done[EDGE_MAINTENANCE]++;
}

static void ask_cloudlet(struct edge_swarm *s, const char *verb, const char *name, int64_t quota_mb,
                         bool confirms)
{
    Board__EdgeRequest r = BOARD__EDGE_REQUEST__INIT;
    Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
    Board__CloudletSpec spec = BOARD__CLOUDLET_SPEC__INIT;
    Board__EdgeResources quota = BOARD__EDGE_RESOURCES__INIT;
    spec.latitude = 48.85;
    spec.longitude = 2.35;
    quota.memory_mb = quota_mb;
    spec.quota = quota_mb ? &quota : NULL;
    says.cloudlet = confirms ? NULL : &spec;
    says.force = confirms;
    r.name = text(name);
    r.says = &says;
    ask(s, arena_printf(&s->arena, "/v1/edge/cloudlet/%s", verb), &r.base);
}

void users_step(struct edge_swarm *s)
{
    unsigned what = (unsigned)random_below(&s->random, 100);
    if (what < 40) {
        ask_cluster(s);
    } else if (what < 90) {
        ask_instance(s);
    } else if (what < 94) {
        apply_app(s, (unsigned)random_below(&s->random, s->apps));
    } else if (what < 97 && s->maintains) {
        ask_maintenance(s);
    } else if (what < 99) {
        int64_t most = edge_draw(s, 4, 40) * CLUSTER_INSTANCE_MEMORY_MB;
        ask_cloudlet(s, "update", any_site(s)->cloudlet, edge_chance(s, 50) ? most : 0, false);
        s->result->done[EDGE_QUOTAS]++;
    } else {
        users_confirm(s);
    }
}

/* An operator looks at each site of a centre that was restored, sooner or later. */
void users_confirm(struct edge_swarm *s)
{
    for (unsigned i = 0; i < s->site_count; i++) {
        if (s->sites[i].unconfirmed) {
            ask_cloudlet(s, "update", s->sites[i].cloudlet, 0, true);
            s->result->done[EDGE_CONFIRMED]++;
        }
    }
}

void users_end_maintenance(struct edge_swarm *s)
{
    for (unsigned i = 0; i < s->site_count; i++) {
        Board__EdgeRequest r = BOARD__EDGE_REQUEST__INIT;
        Board__EdgeMove says = BOARD__EDGE_MOVE__INIT;
        r.name = text(s->sites[i].cloudlet);
        r.says = &says;
        ask(s, "/v1/edge/maintenance/end", &r.base);
    }
}

/* Times of operations as somebody has set them: some end while their site is cut off, or slow. */
static void set_times(struct edge_swarm *s)
{
    static const struct {
        const char *name;
        int64_t least, most;
    } times[] = {{"edge.cluster_create", 10, 120},  {"edge.cluster_update", 10, 120},
                 {"edge.cluster_delete", 10, 120},  {"edge.instance_create", 10, 120},
                 {"edge.instance_update", 10, 120}, {"edge.instance_delete", 10, 120},
                 {"edge.delete_prepare", 10, 60},   {"edge.maintenance_answer", 10, 60},
                 {"edge.cluster_idle", 60, 120},    {"edge.progress_keep", 10, 120}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        Board__SetSettingRequest r = BOARD__SET_SETTING_REQUEST__INIT;
        r.name = text(times[i].name);
        r.value = edge_draw(s, times[i].least, times[i].most);
        ask(s, "/v1/board/settings/set", &r.base);
    }
    s->result->done[EDGE_TIMES_SET]++;
}

void users_begin(struct edge_swarm *s)
{
    if (edge_chance(s, 70)) {
        set_times(s);
    }
    s->apps = (unsigned)edge_draw(s, 1, APPS_MAX);
    set_flavor(s, "small", 1);
    set_flavor(s, "large", 2);
    for (unsigned i = 0; i < s->site_count; i++) {
        ask_cloudlet(s, "create", s->sites[i].cloudlet, 0, false);
    }
    edge_run_to(s, world_now(s->world) + 2 * SECOND_NS);
    for (unsigned i = 0; i < s->apps; i++) {
        apply_app(s, i);
    }
}

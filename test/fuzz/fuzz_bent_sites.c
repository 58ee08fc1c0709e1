/* Targets: a centre and a site, each with an etcd and a bbs of its own, and the CRM between them as
 * it ships, with a cluster and an app instance that are READY and run. What the CRM hears of the
 * centre is bent, or what it hears of its site. It may not fall over that or spin. Nothing goes at
 * the site that no complete snapshot and no delete told; nothing changes at the centre but by the
 * rows of a CRM. When all is straight again, the site holds what the centre's records say. With
 * FUZZ_TRACE set, what happened is printed. */
#include "board.pb-c.h"
#include "common/model/record.h"
#include "crm/inside.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/fuzz/bending.h"
#include "test/sim/world/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARIS "acme/paris"
#define WEB "acme/paris/dev/web"
#define SHOP "acme/paris/dev/web/dev/shop/1.0"
#define APP "dev/shop/1.0"
#define SLICE "slice/uid-of-web"
#define DESIRED "desired/a-uid-of-shop-s1"

enum { CALLS_KEPT = 4096 };

/* What the CRM was told of the centre, by what was sent to it in the end. */
struct told {
    uint64_t call_id; /* of the feed */
    struct buf partial;
    bool broken;    /* it is no feed any more */
    bool web, shop; /* a snapshot has had it so far */
    bool other;     /* an object is another one, or goes */
};

struct sites_play {
    struct arena arena;
    struct world *w;
    struct cluster *centre, *site;
    struct node *crm;
    bool is_centres[CALLS_KEPT]; /* calls of the CRM, by their number */
    bool bends_centre;
    struct bytes in;
    unsigned spare;
    struct told told;
};

/* ---- The records ----------------------------------------------------------------------------- */

static char *word(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void lay(struct sites_play *x, const char *key, const ProtobufCMessage *record)
{
    store_put(x->centre->store, key, record_encoded(&x->arena, record));
}

static void lay_cloudlet(struct sites_play *x)
{
    Board__CloudletRecord c = BOARD__CLOUDLET_RECORD__INIT;
    Board__MaintenanceRecord m = BOARD__MAINTENANCE_RECORD__INIT;
    Board__RefsRecord r = BOARD__REFS_RECORD__INIT;
    c.name = m.name = r.cloudlet = word(PARIS);
    c.uid = m.uid = word("uid-of-paris");
    c.state = word("CREATING");
    c.request = 1;
    m.state = word("NORMAL_OPERATION");
    lay(x, key_edge(&x->arena, RECORD_MAINTENANCE, PARIS), &m.base);
    lay(x, key_edge(&x->arena, RECORD_REFS, PARIS), &r.base);
    lay(x, key_edge(&x->arena, RECORD_CLOUDLET, PARIS), &c.base);
}

static void lay_objects(struct sites_play *x)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec cluster = BOARD__CLUSTER_SPEC__INIT;
    Board__AppInstRecord i = BOARD__APP_INST_RECORD__INIT;
    Board__AppInstSpec spec = BOARD__APP_INST_SPEC__INIT;
    Board__NodeSize size = BOARD__NODE_SIZE__INIT;
    size.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    size.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    size.containers = 16;
    cluster.node = spec.size = &size;
    cluster.nodes = spec.revision = spec.instances = 1;
    c.name = word(WEB);
    c.uid = i.cluster_uid = word("uid-of-web");
    c.state = i.state = word("READY");
    c.request = i.request = 1;
    c.spec = &cluster;
    c.digest = word("w1");
    i.name = word(SHOP);
    i.uid = word("uid-of-shop");
    i.spec = &spec;
    i.digest = word("s1");
    lay(x, key_edge(&x->arena, RECORD_CLUSTERINST, WEB), &c.base);
    lay(x, key_edge(&x->arena, RECORD_APPINST, SHOP), &i.base);
}

static void lay_definition(void *play, const ProtobufCMessage *m)
{
    struct sites_play *x = play;
    Board__EdgeAppRevisionRecord r = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    lrp.process_guid = lrp.domain = word("");
    lrp.instances = 0;
    r.name = word(APP);
    r.revision = 1;
    r.definition = &lrp;
    lay(x, key_appdef(&x->arena, APP, 1), &r.base);
}

static bool stands(struct cluster *c, const char *key)
{
    return cluster_records(c, key) > 0;
}

struct sought {
    enum record_type type;
    const char *state;
    bool found;
};

static void note_state(void *sought, enum record_type type, const ProtobufCMessage *m)
{
    struct sought *s = sought;
    const char *state = type == RECORD_CLUSTERINST ? ((const Board__ClusterInstRecord *)m)->state
                        : type == RECORD_APPINST   ? ((const Board__AppInstRecord *)m)->state
                                                   : "";
    s->found = s->found || (type == s->type && strcmp(state, s->state) == 0);
}

static bool is_ready(struct sites_play *x, enum record_type type)
{
    struct sought s = {.type = type, .state = "READY"};
    cluster_each(x->centre, arena_printf(&x->arena, "%s/", record_type_name(type)), note_state, &s);
    return s.found;
}

static void note_followed(void *found, enum record_type type, const ProtobufCMessage *m)
{
    *(bool *)found = type == RECORD_SITE && *((const Board__SiteRecord *)m)->board_generation;
}

/* The app runs, and the site has had all of the centre's board. */
static bool has_settled(void *play)
{
    struct sites_play *x = play;
    bool follows = false;
    cluster_each(x->site, "site/", note_followed, &follows);
    return follows && cluster_count(x->site, "a-uid-of-shop-s1", "RUNNING") == 1;
}

static bool holds(void *play)
{
    struct sites_play *x = play;
    return stands(x->site, SLICE) && stands(x->site, DESIRED);
}

/* ---- What the CRM is told -------------------------------------------------------------------- */

static void asked(void *play, struct node *from, const struct call *call)
{
    struct sites_play *x = play;
    if (from == x->crm) {
        x->is_centres[call->id % CALLS_KEPT] = call->identity == IDENTITY_CENTRE;
    }
}

static bool is_same(struct arena *a, const Board__FeedFrame *f)
{
    ProtobufCMessage *m;
    enum record_type type = key_type(f->key);
    if (record_decode(a, type, (struct bytes){f->record.data, f->record.len}, &m, NULL) < 0) {
        return true; /* it tells nothing */
    }
    const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)m;
    const Board__AppInstRecord *i = (const Board__AppInstRecord *)m;
    return type == RECORD_CLUSTERINST
               ? strcmp(c->uid, "uid-of-web") == 0 && strcmp(c->state, "READY") == 0 &&
                     strcmp(c->digest, "w1") == 0
               : strcmp(i->uid, "uid-of-shop") == 0 && strcmp(i->state, "READY") == 0 &&
                     strcmp(i->digest, "s1") == 0 && strcmp(i->cluster_uid, "uid-of-web") == 0;
}

static void hear_frame(struct told *t, struct arena *a, const Board__FeedFrame *f)
{
    enum record_type type = key_type(f->key);
    bool own = type == RECORD_CLUSTERINST || type == RECORD_APPINST;
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        t->web = t->shop = false;
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
        t->other = t->other || !t->web || !t->shop;
        break;
    case BOARD__FEED_FRAME__KIND__DELETE:
        t->other = t->other || own;
        break;
    default:
        t->web = t->web || strcmp(f->key, "clusterinst/" WEB) == 0;
        t->shop = t->shop || strcmp(f->key, "appinst/" SHOP) == 0;
        t->other = t->other || (own && !is_same(a, f));
        break;
    }
}

/* As a role follows it: until what comes is no frame. */
static void hear_stream(struct sites_play *x, const struct stream_event *s, struct arena *a)
{
    struct told *t = &x->told;
    uint64_t size;
    if (s->id != t->call_id) {
        buf_clear(&t->partial);
        t->call_id = s->id;
        t->broken = false;
    }
    buf_append(&t->partial, s->data.data, s->data.size);
    struct bytes rest = buf_bytes(&t->partial);
    for (int head; !t->broken && (head = bytes_varint(rest, &size)) != 0;) {
        t->broken = head < 0 || size > 2 * 1024 * 1024;
        if (t->broken || rest.size < (size_t)head + size) {
            break;
        }
        ProtobufCAllocator allocator = arena_protobuf(a);
        const Board__FeedFrame *f = board__feed_frame__unpack(&allocator, size, rest.data + head);
        if (f) {
            hear_frame(t, a, f);
        }
        t->broken = !f;
        rest = (struct bytes){rest.data + head + size, rest.size - (size_t)head - size};
    }
    buf_consume(&t->partial, t->partial.size - rest.size);
}

static bool is_from_centre(const struct sites_play *x, const struct event *ev)
{
    const struct crm *crm = (const struct crm *)node_role(x->crm);
    return ev->kind == EVENT_STREAM ? ev->stream.id == crm->centre.feed_client.call_id
                                    : x->is_centres[ev->response.id % CALLS_KEPT];
}

static void bend(void *play, struct node *n, struct event *ev, struct arena *a)
{
    struct sites_play *x = play;
    bool hears = n == x->crm && (ev->kind == EVENT_STREAM || ev->kind == EVENT_RESPONSE);
    if (!hears) {
        return;
    }
    bool centre = is_from_centre(x, ev);
    if (centre == x->bends_centre && x->in.size > 0 && x->spare > 0) {
        x->spare--;
    } else if (centre == x->bends_centre && x->in.size > 0) {
        if (ev->kind == EVENT_STREAM) {
            ev->stream.data = fuzz_bent_bytes(a, ev->stream.data, &x->in);
        } else {
            fuzz_bend_response(&ev->response, a, &x->in);
        }
        x->spare = fuzz_byte(&x->in) % 32;
    }
    if (centre && ev->kind == EVENT_STREAM) {
        hear_stream(x, &ev->stream, a);
    }
}

/* ---- The story ------------------------------------------------------------------------------- */

static struct role *make_crm(void *play, unsigned incarnation)
{
    struct sites_play *x = play;
    (void)incarnation;
    return crm_new(&(struct crm_config){.name = "crm.site",
                                        .cloudlet = PARIS,
                                        .version = "1.0",
                                        .boards = node_url(x->site->bbs[0]),
                                        .centres = node_url(x->centre->bbs[0]),
                                        .url = "https://crm.site:9025"});
}

static void build(struct sites_play *x)
{
    struct cluster_options options = {.world = {.seed = 1}, .bbs = 1, .cells = 1, .auctioneers = 1};
    arena_init(&x->arena);
    x->centre = cluster_new(&options);
    x->w = x->centre->world;
    options.name = "site";
    x->site = cluster_beside(x->centre, &options);
    FUZZ_REQUIRE(world_run_until(x->w, 60 * SECOND_NS, cluster_ready, x->site));
    FUZZ_REQUIRE(world_run_until(x->w, 60 * SECOND_NS, cluster_ready, x->centre));
    x->crm = world_add(x->w, &(struct node_config){.name = "crm.site",
                                                   .unit = "site",
                                                   .certificate_name = "crm.site",
                                                   .centre_name = PARIS,
                                                   .url = "https://crm.site:9025",
                                                   .cluster = x->site,
                                                   .make = make_crm,
                                                   .context = x});
    lay_cloudlet(x);
    cluster_with_desire("shop", 1, lay_definition, x);
    lay_objects(x);
}

static void show_trace(struct sites_play *x)
{
    if (getenv("FUZZ_TRACE")) {
        fputs(world_trace(x->w), stderr);
    }
}

static void require_held(struct sites_play *x)
{
    bool lost = x->bends_centre && !x->told.other && !holds(x);
    if (lost) {
        show_trace(x);
    }
    FUZZ_REQUIRE(!lost);
}

/* Until nothing is bent any more, and some time after; one that has ended begins again. */
static void go_on_bent(struct sites_play *x)
{
    enum { PARTS = 8 };
    for (unsigned i = 0; i < PARTS; i++) {
        fuzz_go_on(x->w, 4 * SECOND_NS);
        require_held(x);
        if (!node_up(x->crm)) {
            fuzz_restart(x->w, x->crm);
        }
    }
}

static void story(struct bytes in, bool of_centre)
{
    struct sites_play x = {.bends_centre = of_centre};
    buf_init(&x.told.partial);
    build(&x);
    world_observe(x.w, &(struct world_observer){.asked = asked, .context = &x});
    world_bend(x.w, bend, &x);
    world_start(x.w, x.crm);
    FUZZ_REQUIRE(world_run_until(x.w, 120 * SECOND_NS, has_settled, &x));
    fuzz_go_on(x.w, 5 * SECOND_NS);
    FUZZ_REQUIRE(!x.told.other && holds(&x));
    x.spare = fuzz_byte(&in) % 64;
    if (fuzz_byte(&in) & 1) { /* what it says at its start is bent, too */
        fuzz_restart(x.w, x.crm);
    }
    x.in = in;
    go_on_bent(&x);
    FUZZ_REQUIRE(is_ready(&x, RECORD_CLUSTERINST) && is_ready(&x, RECORD_APPINST));
    x.in = (struct bytes){0};
    fuzz_restart(x.w, x.crm); /* what it was told wrongly is forgotten with it */
    fuzz_go_on(x.w, 60 * SECOND_NS);
    FUZZ_REQUIRE(node_up(x.crm));
    FUZZ_REQUIRE(world_run_until(x.w, 60 * SECOND_NS, holds, &x));
    show_trace(&x);
    buf_done(&x.told.partial);
    cluster_free(x.centre);
    arena_done(&x.arena);
}

void fuzz_bent_centre(struct bytes in)
{
    story(in, true);
}

void fuzz_bent_site(struct bytes in)
{
    story(in, false);
}

/* Clients who apply, scale, pause, resume, roll back, abort, restart and remove plain apps through
 * any bbs, while faults befall all of it. The instances of one of the versions crash. When all is
 * healed somebody applies a good version of each app, or removes it. */
#include "common/codec/scan.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

#include "models/desired_lrp_requests.pb-c.h"
#include "system_api.pb-c.h"

#include <stdlib.h>
#include <string.h>

#define ASK_LIMIT_NS (10 * SECOND_NS)
#define PACE_NS (5 * SECOND_NS)       /* between two requests, at most */
#define SETTLE_EACH_NS (5 * SECOND_NS)
#define CRASH_EACH_NS (700 * MILLISECOND_NS)

enum {
    SERVICES_MOST = 3,
    VERSIONS_MOST = 4, /* the last crashes */
    INSTANCES_MOST = 3,
};

static const char *const names[SERVICES_MOST] = {"svca", "svcb", "svcc"};

struct services_work {
    struct workload *work;
    unsigned apps;
    bool healed;
    bool asks[SERVICES_MOST];     /* an answer is awaited */
    bool goes[SERVICES_MOST];     /* when all is healed it is removed */
    int64_t asked_ns[SERVICES_MOST];
    int64_t crash_ns;
};

/* One request. */
struct service_ask {
    struct services_work *own;
    unsigned app;
    Board__ServiceRequest request;
};

static uint64_t below(struct services_work *o, uint64_t bound)
{
    return random_below(&o->work->random, bound);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void answered(void *context, int status, struct bytes body)
{
    struct service_ask *ask = context;
    struct services_work *o = ask->own;
    struct swarm *s = o->work->swarm;
    SCOPED_ARENA(a);
    ProtobufCMessage *m = NULL;
    o->asks[ask->app] = false;
    s->result->done[DONE_SERVICES_ASKED]++;
    bool decoded = status == 200 && scan_and_unpack(&a, &board__service_response__descriptor, body,
                                                    1 << 20, &m, NULL) == 0;
    const Models__Error *error = decoded ? ((const Board__ServiceResponse *)m)->error : NULL;
    world_note(s->world, "applier", "is answered %d %s", status, error ? error->message : "");
    bool well = status == 0 || status == 503 ||
                (decoded && (!error || error->type == MODELS__ERROR__TYPE__ResourceConflict ||
                             error->type == MODELS__ERROR__TYPE__ResourceNotFound));
    if (!well) {
        checkers_report(&s->checkers, "services", "a client of %s is answered %d, %s",
                        names[ask->app], status, error ? error->message : "unreadable");
    }
}

static void send(struct service_ask *ask)
{
    struct services_work *o = ask->own;
    struct swarm *s = o->work->swarm;
    uint64_t bbs = below(o, s->cluster->options.bbs);
    o->asks[ask->app] = true;
    o->asked_ns[ask->app] = world_now(s->world);
    ask->request.name = (char *)(uintptr_t)names[ask->app];
    world_send(s->world, node_url(s->cluster->bbs[bbs]), "/v1/board/service", &ask->request.base,
               ASK_LIMIT_NS, answered, ask);
}

/* With a route of the version's, so that versions differ in routes too. */
static void send_target(void *context, const ProtobufCMessage *m)
{
    struct service_ask *ask = context;
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    Models__ProtoRoutes routes = MODELS__PROTO_ROUTES__INIT;
    Models__ProtoRoutes__RoutesEntry entry = MODELS__PROTO_ROUTES__ROUTES_ENTRY__INIT;
    Models__ProtoRoutes__RoutesEntry *entries[] = {&entry};
    char route[16] = "[\"0\"]";
    route[2] = (char)('0' + below(ask->own, 3));
    entry.key = (char *)"cf-router";
    entry.value = (ProtobufCBinaryData){strlen(route), (uint8_t *)route};
    routes.n_routes = 1;
    routes.routes = entries;
    lrp.routes = &routes;
    ask->request.desired_lrp = &lrp;
    send(ask);
    ask->request.desired_lrp = NULL;
}

static struct service_ask *ask_of(struct services_work *o, unsigned app,
                                  Board__ServiceRequest__Action action)
{
    struct service_ask *ask = ARENA_NEW(&o->work->swarm->arena, struct service_ask);
    ask->own = o;
    ask->app = app;
    board__service_request__init(&ask->request);
    ask->request.action = action;
    return ask;
}

static void apply(struct services_work *o, unsigned app, unsigned version)
{
    static const char *const shares[][2] = {{"", ""}, {"1", ""}, {"0", "1"}, {"50%", "50%"}};
    struct arena *a = &o->work->swarm->arena;
    struct service_ask *ask = ask_of(o, app, BOARD__SERVICE_REQUEST__ACTION__TARGET);
    Board__Rolling *rolling = arena_message(a, &board__rolling__descriptor);
    uint64_t share = below(o, sizeof(shares) / sizeof(shares[0]));
    rolling->max_surge = (char *)(uintptr_t)shares[share][0];
    rolling->max_unavailable = (char *)(uintptr_t)shares[share][1];
    rolling->ready_s = 1 + (int32_t)below(o, 3);
    rolling->deadline_s = 20;
    ask->request.rolling = rolling;
    ask->request.instances = below(o, 3) ? (int32_t)below(o, INSTANCES_MOST + 1) : -1;
    int32_t instances = ask->request.instances < 0 ? 1 : ask->request.instances;
    cluster_with_desire(arena_printf(a, "%s-%u", names[app], version), instances, send_target,
                        ask);
}

static void ask_one(struct services_work *o, unsigned app, Board__ServiceRequest__Action action)
{
    struct service_ask *ask = ask_of(o, app, action);
    ask->request.instances = (int32_t)below(o, INSTANCES_MOST + 1);
    send(ask);
}

static void ask_something(struct services_work *o, unsigned app)
{
    static const Board__ServiceRequest__Action actions[] = {
        BOARD__SERVICE_REQUEST__ACTION__SCALE,    BOARD__SERVICE_REQUEST__ACTION__PAUSE,
        BOARD__SERVICE_REQUEST__ACTION__RESUME,   BOARD__SERVICE_REQUEST__ACTION__RESUME,
        BOARD__SERVICE_REQUEST__ACTION__ROLLBACK, BOARD__SERVICE_REQUEST__ACTION__ABORT,
        BOARD__SERVICE_REQUEST__ACTION__RESTART,  BOARD__SERVICE_REQUEST__ACTION__DELETE};
    if (below(o, 100) < 50) {
        apply(o, app, (unsigned)below(o, VERSIONS_MOST));
    } else {
        ask_one(o, app, actions[below(o, sizeof(actions) / sizeof(actions[0]))]);
    }
}

static void begin(struct workload *w)
{
    struct services_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct services_work);
    o->work = w;
    o->apps = 1 + (unsigned)below(o, SERVICES_MOST);
    for (unsigned i = 0; i < o->apps; i++) {
        o->goes[i] = below(o, 100) < 30;
    }
}

/* The container of this instance ends. */
static void end_one(struct swarm *s, const Models__ActualLRP *r)
{
    int cell = checkers_cell_named(&s->checkers, r->actual_lrp_instance_key->cell_id);
    struct model_containers *m = cell >= 0 ? node_containers(s->cluster->cells[cell]) : NULL;
    for (int n = 0; m && model_containers_guid(m, n); n++) {
        if (strcmp(model_containers_guid(m, n), r->actual_lrp_instance_key->instance_guid) == 0) {
            world_end_container(s->world, s->cluster->cells[cell], n, 1);
            return;
        }
    }
}

static void crash_bad(void *context, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    const char *dash = strrchr(r->actual_lrp_key->process_guid, '-');
    if (dash && atoi(dash + 1) == VERSIONS_MOST - 1 && strcmp(r->state, "RUNNING") == 0 &&
        r->actual_lrp_instance_key) {
        end_one(context, r);
    }
}

static void step(struct workload *w)
{
    struct services_work *o = w->own;
    struct swarm *s = w->swarm;
    int64_t now = world_now(s->world);
    unsigned app = (unsigned)below(o, o->apps);
    if (now >= o->crash_ns) {
        history_each(&s->checkers.history, "actual/svc", crash_bad, s);
        o->crash_ns = now + CRASH_EACH_NS;
    } else if (!o->healed && !o->asks[app]) {
        ask_something(o, app);
    }
    w->due_ns = earlier_ns(o->crash_ns, now + 1 + (int64_t)below(o, PACE_NS));
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    ((struct services_work *)w->own)->healed = true;
}

static const Board__ServiceRecord *service_now(struct services_work *o, unsigned app)
{
    SCOPED_ARENA(a);
    const char *key = key_service(&a, "apps", arena_printf(&a, "/%s", names[app]));
    return (const Board__ServiceRecord *)history_now(&o->work->swarm->checkers.history, key);
}

/* What runs at last is the first version, or nothing. */
static bool is_settled(struct services_work *o, unsigned app)
{
    const Board__ServiceRecord *s = service_now(o, app);
    return o->goes[app] ? !s : s && strcmp(s->state, "stable") == 0 && strcmp(s->target, "0") == 0;
}

static void settle(struct workload *w)
{
    struct services_work *o = w->own;
    int64_t now = world_now(w->swarm->world);
    for (unsigned i = 0; i < o->apps; i++) {
        const Board__ServiceRecord *s = service_now(o, i);
        bool due = !o->asks[i] && now - o->asked_ns[i] >= SETTLE_EACH_NS && !is_settled(o, i);
        if (due && s && s->paused) {
            ask_one(o, i, BOARD__SERVICE_REQUEST__ACTION__RESUME);
        } else if (due && (o->goes[i] || (s && strcmp(s->state, "deleting") == 0))) {
            ask_one(o, i, BOARD__SERVICE_REQUEST__ACTION__DELETE);
        } else if (due && (!s || strcmp(s->target, "0") != 0 || strcmp(s->state, "failed") == 0 ||
                           now - o->asked_ns[i] >= 6 * SETTLE_EACH_NS)) {
            apply(o, i, 0);
        }
    }
}

/* An instance of it waits for room. */
static void note_unplaced(void *context, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    *(bool *)context = *(bool *)context || r->placement_error[0] || r->crash_count > 0;
}

static void rest(struct workload *w, struct buf *ret_why)
{
    struct services_work *o = w->own;
    for (unsigned i = 0; i < o->apps; i++) {
        SCOPED_ARENA(a);
        const Board__ServiceRecord *s = service_now(o, i);
        bool unplaced = false;
        history_each(&w->swarm->checkers.history, arena_printf(&a, "actual/%s-", names[i]),
                     note_unplaced, &unplaced);
        if (!is_settled(o, i) && !unplaced) {
            buf_printf(ret_why, "app %s is %s of %s: %s; ", names[i], s ? s->state : "gone",
                       s ? s->target : "", s ? s->message : "");
        }
    }
}

const struct workload_ops services_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest};

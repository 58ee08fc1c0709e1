#include "test/sim/stories/apps.h"

#include "common/base/arena.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

#define WAIT_NS (120 * SECOND_NS)
#define STEP_NS (100 * MILLISECOND_NS)

/* ---- Asking ---------------------------------------------------------------------------------- */

/* A request about "web", of which `lrp` may be copied from cluster_with_desire(). */
struct app_ask {
    struct cluster *cluster;
    Board__ServiceRequest request;
    int memory_mb;
    int status;
};

static void ask(struct app_ask *q)
{
    struct cluster *c = q->cluster;
    q->request.name = (char *)"web";
    q->status = world_call(c->world, node_url(c->bbs[0]), "/v1/board/service", &q->request.base,
                           SETTLE_NS, NULL);
    assert_int_equal(q->status, 200);
}

static void ask_to_target(void *context, const ProtobufCMessage *m)
{
    struct app_ask *q = context;
    Models__DesiredLRP lrp = *((const Models__DesireLRPRequest *)m)->desired_lrp;
    Board__Rolling rolling = BOARD__ROLLING__INIT;
    rolling.max_surge = (char *)"1";
    rolling.ready_s = 1;
    rolling.deadline_s = 20;
    lrp.memory_mb = q->memory_mb ? q->memory_mb : lrp.memory_mb;
    q->request.action = BOARD__SERVICE_REQUEST__ACTION__TARGET;
    q->request.desired_lrp = &lrp;
    q->request.rolling = &rolling;
    q->request.instances = lrp.instances;
    ask(q);
}

void app_apply(struct cluster *c, const char *version, int instances, int memory_mb)
{
    SCOPED_ARENA(a);
    struct app_ask q = {c, BOARD__SERVICE_REQUEST__INIT, memory_mb, 0};
    cluster_with_desire(arena_printf(&a, "web-%s", version), instances, ask_to_target, &q);
}

void app_change(struct cluster *c, Board__ServiceRequest__Action action, int instances)
{
    struct app_ask q = {c, BOARD__SERVICE_REQUEST__INIT, 0, 0};
    q.request.action = action;
    q.request.instances = instances;
    ask(&q);
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct app_seen {
    struct cluster *cluster;
    const char *state, *says; /* in the arena of the cluster */
    const char *wanted;
    int least;
};

static void note_service(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct app_seen *o = context;
    const Board__ServiceRecord *s = (const Board__ServiceRecord *)m;
    assert_int_equal(type, RECORD_SERVICE);
    o->state = arena_strdup(&o->cluster->arena, s->state);
    o->says = arena_strdup(&o->cluster->arena, s->message);
}

static void look_at_app(struct app_seen *o)
{
    o->state = o->says = "";
    cluster_each(o->cluster, "service/apps/%2Fweb", note_service, o);
}

const char *app_state(struct cluster *c)
{
    struct app_seen o = {.cluster = c};
    look_at_app(&o);
    return o.state;
}

const char *app_says(struct cluster *c)
{
    struct app_seen o = {.cluster = c};
    look_at_app(&o);
    return o.says;
}

static void count_serving(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)m;
    (void)type;
    *(int *)context += strcmp(r->state, "RUNNING") == 0 && r->routable && !r->stopping;
}

static bool is_there(void *seen)
{
    struct app_seen *o = seen;
    int serving = 0;
    cluster_each(o->cluster, "actual/web-", count_serving, &serving);
    if (serving < o->least) {
        fail_msg("%d instances serve, and not %d", serving, o->least);
    }
    look_at_app(o);
    return strcmp(o->state, o->wanted) == 0;
}

void app_await_serving(struct cluster *c, const char *state, int least)
{
    struct app_seen o = {.cluster = c, .wanted = state, .least = least};
    int64_t until_ns = world_now(c->world) + WAIT_NS;
    while (!is_there(&o)) {
        if (world_now(c->world) >= until_ns) {
            fail_msg("web is \"%s\" (%s), and not \"%s\"", o.state, o.says, state);
        }
        world_run(c->world, STEP_NS);
    }
}

void app_await(struct cluster *c, const char *state)
{
    app_await_serving(c, state, 0);
}

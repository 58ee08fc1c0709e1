/* Targets: a whole small cluster at work in which what one kind of speaker says is bent: etcd's
 * answers and its watch, the answers and streams of other processes, their requests, what
 * containers' drivers tell. The words are right ones first, so that what is wrong about them is met
 * where it matters. No process may fall over what it hears, or spin. With FUZZ_TRACE set, what
 * happened is printed. */
#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/fuzz/bending.h"
#include "test/fuzz/fuzz.h"
#include "test/sim/world/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Virtual time of one input. */
#define STORY_NS (8 * SECOND_NS)

struct bending {
    struct bytes in; /* what is left of the input: without any, nothing is bent any more */
    unsigned spare;  /* so many events go straight first */
    bool (*wanted)(const struct node *n, const struct event *ev);
};

/* NULL when what it was bent to is no message of its type any more. */
static const ProtobufCMessage *bent_message(struct arena *a, const ProtobufCMessage *m,
                                            struct bytes *in)
{
    SCOPED_BUF(packed);
    buf_message(&packed, m);
    struct bytes bent = fuzz_bent_bytes(a, buf_bytes(&packed), in);
    ProtobufCAllocator allocator = arena_protobuf(a);
    return protobuf_c_message_unpack(m->descriptor, &allocator, bent.size, bent.data);
}

/* ---- events: bent as far as the shells let them through ---------------------------------------
 */

static void bend_store(struct store_answer *answer, struct arena *a, struct bytes *in)
{
    unsigned how = fuzz_byte(in);
    const ProtobufCMessage *m = answer->message;
    m = answer->outcome == STORE_DONE && how >= 16 ? bent_message(a, m, in) : NULL;
    answer->message = m;
    if (!m) {
        answer->outcome = how == 1 ? STORE_REFUSED : STORE_UNKNOWN;
        answer->grpc_status = (int)fuzz_byte(in) % 17;
        answer->text = fuzz_bent_text(a, "etcdserver: mvcc: database space exceeded", in);
    }
}

/* As common/shell/etcd_watch_io reads it. */
static void bend_watch(struct watch_event *w, struct arena *a, struct bytes *in)
{
    const Etcd__WatchResponse *r =
        w->response ? (const Etcd__WatchResponse *)bent_message(a, &w->response->base, in) : NULL;
    if (!r || r->canceled || (w->kind == WATCH_EVENTS && r->n_events == 0)) {
        w->kind = WATCH_CLOSED;
        w->text = "malformed";
    }
    w->response = r;
}

static void bend_verb(struct verb_answer *v, struct arena *a, struct bytes *in)
{
    unsigned how = fuzz_byte(in);
    if (how < 32) {
        v->outcome = (enum verb_outcome)(how % 3);
        v->text = fuzz_bent_text(a, "cannot: no space left on device", in);
    }
    v->exit_code = how % 4 == 0 ? (int)fuzz_byte(in) : v->exit_code;
    v->data = v->data.size || how % 4 == 1 ? fuzz_bent_bytes(a, v->data, in) : v->data;
    if (v->container_count > 0) {
        struct container_status *list =
            arena_copy(a, v->containers, v->container_count * sizeof(*list));
        struct container_status *c = &list[fuzz_byte(in) % v->container_count];
        c->note = fuzz_bent_bytes(a, c->note, in);
        c->state = how % 2 ? c->state : (enum container_state)(fuzz_byte(in) % 4);
        c->exit_code = fuzz_byte(in);
        c->text = c->text ? fuzz_bent_text(a, c->text, in) : "";
        v->containers = list;
        v->container_count -= how % 16 == 2;
    }
}

static void bend_container(struct container_status *c, struct arena *a, struct bytes *in)
{
    unsigned how = fuzz_byte(in);
    c->state = how % 2 ? c->state : (enum container_state)(fuzz_byte(in) % 4);
    c->exit_code = fuzz_byte(in);
    c->exit_signal = how % 4 == 2 ? fuzz_byte(in) % 65 : 0;
    c->oom_killed = how & 16;
    c->disk_full = how & 32;
    c->note = fuzz_bent_bytes(a, c->note, in);
    c->text = c->text ? fuzz_bent_text(a, c->text, in) : "";
}

static void bend(void *context, struct node *n, struct event *ev, struct arena *a)
{
    struct bending *b = context;
    if (b->in.size == 0 || !b->wanted(n, ev)) {
        return;
    }
    if (b->spare > 0) {
        b->spare--;
        return;
    }
    switch (ev->kind) {
    case EVENT_STORE:
        bend_store(&ev->store, a, &b->in);
        break;
    case EVENT_WATCH:
        bend_watch(&ev->watch, a, &b->in);
        break;
    case EVENT_RESPONSE:
        fuzz_bend_response(&ev->response, a, &b->in);
        break;
    case EVENT_STREAM:
        ev->stream.data = fuzz_bent_bytes(a, ev->stream.data, &b->in);
        break;
    case EVENT_REQUEST:
        ev->request.body = fuzz_bent_bytes(a, ev->request.body, &b->in);
        ev->request.query = fuzz_bent_text(a, ev->request.query, &b->in);
        break;
    case EVENT_VERB:
        bend_verb(&ev->verb, a, &b->in);
        break;
    case EVENT_CONTAINER:
        bend_container(&ev->container, a, &b->in);
        break;
    default:
        break;
    }
    b->spare = fuzz_byte(&b->in);
}

/* ---- the story ------------------------------------------------------------------------------- */

static void nobody(void *context, int status, struct bytes body)
{
    (void)context, (void)status, (void)body;
}

static void send(struct cluster *c, const char *path, const ProtobufCMessage *m)
{
    world_send(c->world, node_url(c->bbs[0]), path, m, 2 * SECOND_NS, nobody, NULL);
}

static void desire_task(struct cluster *c)
{
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    Models__DesireTaskRequest request = MODELS__DESIRE_TASK_REQUEST__INIT;
    run.path = (char *)(size_t) "/bin/true";
    run.user = (char *)(size_t) "root";
    action.run_action = &run;
    definition.root_fs = (char *)(size_t) "preloaded:busybox";
    definition.action = &action;
    definition.memory_mb = definition.disk_mb = 1;
    definition.result_file = (char *)(size_t) "/tmp/result";
    request.task_definition = &definition;
    request.task_guid = (char *)(size_t) "task";
    request.domain = (char *)(size_t) "default";
    send(c, "/v1/tasks/desire.r2", &request.base);
}

/* Work comes, a container ends, a cell and the bbs begin again, work goes. Who exits meanwhile, for
 * it was told that it must, begins again as well. */
static void story(struct bytes in, bool (*wanted)(const struct node *n, const struct event *ev))
{
    bool from_start = fuzz_byte(&in) & 1;
    struct bending b = {.in = in, .wanted = wanted, .spare = fuzz_byte(&in)};
    b.in = in;
    struct cluster *c = cluster_new(&(struct cluster_options){
        .world = {.seed = 1}, .bbs = 1, .cells = 2, .auctioneers = 1, .convergers = 1});
    struct world *w = c->world;
    if (from_start) {
        world_bend(w, bend, &b);
        fuzz_go_on(w, 3 * SECOND_NS);
    } else {
        FUZZ_REQUIRE(world_run_until(w, 20 * SECOND_NS, cluster_ready, c));
        world_bend(w, bend, &b);
    }
    struct node *all[] = {c->bbs[0], c->cells[0], c->cells[1], c->auctioneer, c->converger};
    cluster_desire_send(c, c->bbs[0], "web", 3, nobody, NULL);
    desire_task(c);
    fuzz_go_on(w, STORY_NS / 8);
    world_end_container(w, c->cells[0], 0, 1);
    world_end_container(w, c->cells[1], 0, 0);
    fuzz_go_on(w, STORY_NS / 8);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!node_up(all[i]) || i < 2) {
            fuzz_restart(w, all[i]);
        }
    }
    fuzz_go_on(w, STORY_NS / 2);
    Models__RemoveDesiredLRPRequest gone = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    gone.process_guid = (char *)(size_t) "web";
    send(c, "/v1/desired_lrp/remove", &gone.base);
    fuzz_go_on(w, STORY_NS / 4);
    if (getenv("FUZZ_TRACE")) {
        fputs(world_trace(w), stderr);
    }
    cluster_free(c);
}

/* ---- who speaks ------------------------------------------------------------------------------ */

static bool of_etcd(const struct node *n, const struct event *ev)
{
    return ev->kind == EVENT_STORE || ev->kind == EVENT_WATCH;
}

static bool of_boards(const struct node *n, const struct event *ev)
{
    return ev->kind == EVENT_STREAM ||
           (ev->kind == EVENT_RESPONSE && strncmp(node_name(n), "bbs", 3) != 0);
}

static bool of_peers(const struct node *n, const struct event *ev)
{
    return ev->kind == EVENT_REQUEST ||
           (ev->kind == EVENT_RESPONSE && strncmp(node_name(n), "bbs", 3) == 0);
}

static bool of_drivers(const struct node *n, const struct event *ev)
{
    return ev->kind == EVENT_VERB || ev->kind == EVENT_CONTAINER;
}

void fuzz_bent_etcd(struct bytes in)
{
    story(in, of_etcd);
}

void fuzz_bent_boards(struct bytes in)
{
    story(in, of_boards);
}

void fuzz_bent_peers(struct bytes in)
{
    story(in, of_peers);
}

void fuzz_bent_drivers(struct bytes in)
{
    story(in, of_drivers);
}

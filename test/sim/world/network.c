/* The network of the simulated world: each call, its answer, and streams. One exchange lives from
 * the call to the end of its answer. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/cursor.h"
#include "test/sim/model/etcd.h"
#include "test/sim/world/inside.h"

/* How long a broken way goes unnoticed (TCP_USER_TIMEOUT of the real shells). */
#define NETWORK_BROKEN_NS (3 * SECOND_NS)

static const char heartbeat_path[] = "/v1/board/heartbeat";

struct exchange {
    struct exchange *next;
    uint64_t request_id; /* at the server; unique in the world */
    uint64_t call_id;    /* at the client */
    struct node *from;   /* NULL = a client outside */
    struct node *to;
    unsigned from_start, to_start;
    bool stream;
    bool delivered;           /* the server has seen the request */
    bool broken;              /* its connection is no more; the client is told */
    struct cursor *cursor;    /* of an endless answer, while it lasts */
    const char *channel;
    const char *path; /* while somebody looks on: what was asked, and who did, even if he is dead */
    struct bytes asked;
    struct node *asker;
    struct node *sender; /* also of what was sent again; NULL = a client */
    int64_t arrived_revision;
    int64_t arrives_ns;       /* when the request reaches the server */
    int64_t last_at_ns;       /* pieces of one answer arrive in order */
    world_answered *answered; /* client outside, who is `peer` */
    struct peer peer;
    bool admin, tools;
    void *context;
    struct arena arena;
};

static struct exchange *find(struct world *w, uint64_t request_id)
{
    for (struct exchange *x = w->exchanges; x; x = x->next) {
        if (x->request_id == request_id) {
            return x;
        }
    }
    return NULL;
}

static void forget(struct world *w, struct exchange *x)
{
    struct exchange **at = &w->exchanges;
    while (*at != x) {
        at = &(*at)->next;
    }
    *at = x->next;
    cursor_free(x->cursor);
    arena_done(&x->arena);
    free(x);
}

void network_free(struct world *w)
{
    while (w->exchanges) {
        forget(w, w->exchanges);
    }
}

static bool client_alive(const struct exchange *x)
{
    return !x->from || (x->from->role && x->from->starts == x->from_start);
}

static bool server_alive(const struct exchange *x)
{
    return x->to->role && x->to->starts == x->to_start;
}

static bool way_cut(const struct node *from, const struct node *to)
{
    return from && to && from->cut_to[to->index];
}

/* ---- What arrives, later ---- */

struct arrival {
    uint64_t request_id;
    struct event event;
    bool last; /* the exchange ends with it */
};

static void arrives_at_client(void *world, struct item *item)
{
    struct world *w = world;
    struct arrival *a = item->payload;
    struct exchange *x = find(w, a->request_id);
    if (!x) {
        return;
    }
    if (!x->from) {
        world_answered *answered = x->answered; /* NULL: the client died or gave up */
        void *context = x->context;
        if (answered || a->last) {
            forget(w, x);
        }
        if (answered) {
            answered(context, a->event.response.status, a->event.response.body);
        }
        return;
    }
    struct node *client = x->from;
    bool alive = client_alive(x);
    if (a->last || !alive) {
        forget(w, x);
    }
    if (alive) {
        node_step(client, &a->event);
    }
}

static struct bytes kept(struct arena *a, struct bytes b)
{
    return (struct bytes){.data = arena_copy(a, b.data, b.size), .size = b.size};
}

/* Brings an answer, a piece of a stream, or its end to the client after `delay_ns`. */
static void to_client(struct exchange *x, const struct event *ev, bool last, int64_t delay_ns)
{
    struct world *w = x->to->world;
    struct item *i = item_new(arrives_at_client);
    struct arrival *a = ARENA_NEW(&i->arena, struct arrival);
    *a = (struct arrival){.request_id = x->request_id, .event = *ev, .last = last};
    if (ev->kind == EVENT_RESPONSE) {
        a->event.response.body = kept(&i->arena, ev->response.body);
        a->event.response.content_type = arena_strdup(&i->arena, ev->response.content_type);
        a->event.response.etag = arena_strdup(&i->arena, ev->response.etag);
        a->event.response.text = arena_strdup(&i->arena, ev->response.text);
    } else {
        a->event.stream.data = kept(&i->arena, ev->stream.data);
        a->event.stream.text = arena_strdup(&i->arena, ev->stream.text);
    }
    i->payload = a;
    i->owner = x->from;
    if (world_strikes(w, w->faults.late)) {
        delay_ns += world_draw(w, w->faults.late_by);
    }
    int64_t at = w->now_ns + delay_ns;
    x->last_at_ns = at > x->last_at_ns ? at : x->last_at_ns;
    queue_push(&w->queue, i, x->last_at_ns);
}

static void fail_client(struct exchange *x, enum call_outcome outcome, const char *text,
                        int64_t delay_ns)
{
    struct event ev;
    if (x->stream) {
        ev = (struct event){.kind = EVENT_STREAM,
                            .stream = {.id = x->call_id, .closed = true, .text = text}};
    } else {
        ev = (struct event){.kind = EVENT_RESPONSE,
                            .response = {.id = x->call_id,
                                         .outcome = outcome,
                                         .content_type = "",
                                         .etag = "",
                                         .text = text}};
    }
    to_client(x, &ev, true, delay_ns);
}

static void hangup(void *world, struct item *item)
{
    struct world *w = world;
    struct arrival *a = item->payload;
    struct exchange *x = find(w, a->request_id);
    if (!x) {
        return;
    }
    struct node *server = x->to;
    bool tell = x->delivered && server_alive(x);
    uint64_t id = x->request_id;
    forget(w, x);
    if (tell) {
        node_step(server, &(struct event){.kind = EVENT_HANGUP, .hangup = id});
    }
}

/* What was sent before arrives before: the request of a process that died on its way is heard. */
static void hang_up(struct exchange *x, int64_t delay_ns)
{
    struct world *w = x->to->world;
    struct item *i = item_new(hangup);
    struct arrival *a = ARENA_NEW(&i->arena, struct arrival);
    a->request_id = x->request_id;
    i->payload = a;
    i->owner = x->to;
    int64_t at_ns = w->now_ns + delay_ns;
    queue_push(&w->queue, i, at_ns > x->arrives_ns ? at_ns : x->arrives_ns);
}

static void arrives_at_server(void *world, struct item *item)
{
    struct world *w = world;
    struct arrival *a = item->payload;
    struct exchange *x = find(w, a->request_id);
    if (!x) {
        return;
    }
    if (x->broken) {
        return;
    }
    if (!x->to->role) {
        fail_client(x, CALL_REFUSED, "connection refused", world_draw(w, w->options.network));
        return;
    }
    x->to_start = x->to->starts;
    x->delivered = true;
    if (x->sender && x->from_start == x->sender->starts &&
        strcmp(a->event.request.path, heartbeat_path) == 0) {
        x->sender->heard_ns = w->now_ns;
    }
    struct store *store = x->to->config.store;
    x->arrived_revision = store ? model_etcd_revision(store->etcd) : 0;
    node_step(x->to, &a->event);
}

struct end {
    struct node *server;
    unsigned start;
    uint64_t request_id;
};

static void tell_end(void *world, struct item *item)
{
    struct end *e = item->payload;
    if (e->server->role && e->server->starts == e->start) {
        node_step(e->server, &(struct event){.kind = EVENT_HANGUP, .hangup = e->request_id});
    }
}

static void deadline(void *world, struct item *item)
{
    struct world *w = world;
    struct arrival *a = item->payload;
    struct exchange *x = find(w, a->request_id);
    if (!x || (!x->from && !x->answered)) {
        /* Nobody waits any more; what the dead have sent arrives all the same, however late. */
        return;
    }
    struct item *i = item_new(tell_end);
    struct end *e = ARENA_NEW(&i->arena, struct end);
    *e = (struct end){.server = x->to, .start = x->to_start, .request_id = x->request_id};
    i->payload = e;
    bool tell = x->delivered && server_alive(x);
    fail_client(x, CALL_UNKNOWN, "no answer in time", 0);
    if (tell && e->server->paused) {
        i->owner = e->server;
        node_hold(e->server, i);
        return;
    }
    if (tell) {
        tell_end(w, i);
    }
    item_free(i);
}

/* ---- Calls ---- */

static struct node *node_at(struct world *w, const char *url)
{
    for (size_t i = 0; i < w->node_count; i++) {
        size_t size = strlen(w->nodes[i]->config.url);
        if (strncmp(w->nodes[i]->config.url, url, size) == 0 && url[size] == '/') {
            return w->nodes[i];
        }
    }
    return NULL;
}

static struct exchange *exchange_new(struct world *w, struct node *from, struct node *to)
{
    struct exchange *x = calloc(1, sizeof(*x));
    assert(x);
    arena_init(&x->arena);
    x->request_id = w->next_request_id++;
    x->from = from;
    x->from_start = from ? from->starts : 0;
    x->sender = from;
    x->to = to;
    struct exchange **end = &w->exchanges;
    while (*end) {
        end = &(*end)->next;
    }
    *end = x;
    return x;
}

/* Of the services that are gRPC; every other request is HTTP. */
static const char grpc_paths[] = "/models.Locket/";

/* Whose certificate it shows: of a centre it has another one. */
static struct peer peer_of(const struct exchange *x, const struct call *call, struct arena *a)
{
    const struct node_config *from = x->from ? &x->from->config : NULL;
    if (!from) {
        return (struct peer){.unit = arena_strdup(a, x->peer.unit),
                             .name = arena_strdup(a, x->peer.name)};
    }
    if (call->identity == IDENTITY_CENTRE) {
        assert(from->centre_name);
        return (struct peer){.unit = "crm", .name = from->centre_name};
    }
    return (struct peer){.unit = from->unit, .name = from->certificate_name};
}

static void send_request(struct exchange *x, const struct call *call, int64_t late_ns)
{
    struct world *w = x->to->world;
    struct item *i = item_new(arrives_at_server);
    struct arena *a = &i->arena;
    struct arrival *arrival = ARENA_NEW(a, struct arrival);
    const char *path = strchr(strstr(call->url, "://") + 3, '/');
    const char *query = strchr(path, '?');
    if (w->trace_calls && strcmp(path, heartbeat_path) != 0) {
        world_note(w, x->from ? x->from->config.name : "client", "%s %s: %s",
                   x->stream ? "follows" : "asks", x->to->config.name, path);
    }
    arrival->request_id = x->request_id;
    arrival->event.kind = EVENT_REQUEST;
    arrival->event.request = (struct request){
        .id = x->request_id,
        .method = arena_strdup(a, call->method),
        .path = query ? arena_strndup(a, path, (size_t)(query - path)) : arena_strdup(a, path),
        .query = arena_strdup(a, query ? query + 1 : ""),
        .trace_id = arena_strdup(a, call->trace_id),
        .accept = arena_strdup(a, call->accept),
        .content_type = arena_strdup(a, call->content_type),
        .if_none_match = arena_strdup(a, call->if_none_match),
        .peer = peer_of(x, call, a),
        .admin = x->admin,
        .tools = x->tools,
        .body = kept(a, call->body),
        .grpc = strncmp(path, grpc_paths, sizeof(grpc_paths) - 1) == 0,
    };
    i->payload = arrival;
    i->owner = x->to;
    if (w->observer.answered && x->from && !x->stream) {
        x->path = arena_strdup(&x->arena, arrival->event.request.path);
        x->asked = kept(&x->arena, call->body);
        x->asker = x->from;
    }
    int64_t delay_ns = world_draw(w, w->options.network);
    if (world_strikes(w, w->faults.late)) {
        delay_ns += world_draw(w, w->faults.late_by);
    }
    delay_ns += x->from && x->from->last_words ? x->from->last_words_late_ns : late_ns;
    x->arrives_ns = w->now_ns + delay_ns;
    queue_push(&w->queue, i, x->arrives_ns);
}

static void set_deadline(struct exchange *x, int64_t at_ns)
{
    struct item *i = item_new(deadline);
    struct arrival *a = ARENA_NEW(&i->arena, struct arrival);
    a->request_id = x->request_id;
    i->payload = a;
    i->owner = x->from;
    struct world *w = x->to->world;
    queue_push(&w->queue, i, at_ns > w->now_ns ? at_ns : w->now_ns);
}

/* The same request once more, on a way of its own; nobody waits for its answer. */
static void send_again(const struct exchange *x, const struct call *call)
{
    struct world *w = x->to->world;
    struct exchange *again = exchange_new(w, x->from, x->to);
    send_request(again, call, world_draw(w, w->faults.doubled_by));
    again->from = NULL;
    hang_up(again, 10 * SECOND_NS);
}

void network_call(struct node *from, const struct call *call, bool stream)
{
    struct world *w = from->world;
    struct node *to = node_at(w, call->url);
    if (!to && w->bend && !stream) {
        outside_call(from, call);
        return;
    }
    assert(to); /* a role calls only what it was told of */
    struct exchange *x = exchange_new(w, from, to);
    x->call_id = call->id;
    x->stream = stream;
    if (!way_cut(from, to) && !world_strikes(w, w->faults.request_lost)) {
        send_request(x, call, 0);
        if (!stream && world_strikes(w, w->faults.doubled)) {
            send_again(x, call);
        }
    } else if (stream) {
        fail_client(x, CALL_REFUSED, "no connection", NETWORK_BROKEN_NS);
    }
    if (!stream && call->deadline_ns != NEVER_NS) {
        set_deadline(x, call->deadline_ns);
    }
}

void network_cancel(struct node *from, uint64_t call_id)
{
    struct world *w = from->world;
    for (struct exchange *x = w->exchanges; x; x = x->next) {
        if (x->from == from && x->call_id == call_id && client_alive(x)) {
            x->from = NULL; /* no more events for the client */
            x->answered = NULL;
            hang_up(x, world_draw(w, w->options.network));
            return;
        }
    }
}

/* ---- Answers ---- */

static void pump(struct exchange *x);

static void drain(struct cursor *c, struct buf *out)
{
    while (cursor_fill(c, out, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    cursor_free(c);
}

void network_reply(struct node *to, const struct reply *reply)
{
    struct world *w = to->world;
    struct exchange *x = find(w, reply->id);
    if (x && x->to == to && x->path && !reply->cursor) {
        w->observer.answered(w->observer.context,
                             &(struct world_answer){.from = x->asker,
                                                    .by = to,
                                                    .path = x->path,
                                                    .arrived_revision = x->arrived_revision,
                                                    .status = reply->status,
                                                    .request = x->asked,
                                                    .body = reply->body});
    }
    if (!x || x->to != to || x->broken || (!x->from && !x->answered)) {
        cursor_free(reply->cursor); /* the client is gone */
        return;
    }
    if (x->stream && reply->cursor && reply->size < 0) {
        if (w->observer.streamed && x->from) {
            w->observer.streamed(w->observer.context, x->from, x->call_id, x->arrived_revision);
        }
        x->cursor = reply->cursor;
        x->channel = arena_strdup(&x->arena, reply->channel);
        pump(x);
        return;
    }
    /* Of a gRPC call that was refused, the caller hears the number, negative, and the text. */
    int status = reply->grpc_status ? -reply->grpc_status : reply->status;
    SCOPED_BUF(body);
    buf_append(&body, reply->body.data, reply->body.size);
    buf_append_string(&body, reply->grpc_status ? reply->grpc_message : "");
    if (reply->cursor) {
        drain(reply->cursor, &body);
    }
    if (way_cut(to, x->from) || (!x->stream && world_strikes(w, w->faults.answer_lost))) {
        return; /* the client's deadline tells it */
    }
    struct event ev;
    if (x->stream) {
        ev = (struct event){.kind = EVENT_STREAM,
                            .stream = {.id = x->call_id,
                                       .closed = true,
                                       .status = status,
                                       .data = buf_bytes(&body),
                                       .text = "answer ended"}};
    } else {
        ev = (struct event){.kind = EVENT_RESPONSE,
                            .response = {.id = x->call_id,
                                         .outcome = CALL_ANSWERED,
                                         .status = status,
                                         .content_type = reply->content_type,
                                         .etag = reply->etag,
                                         .body = buf_bytes(&body),
                                         .text = ""}};
    }
    to_client(x, &ev, true, world_draw(w, w->options.network));
}

/* Takes what the cursor has and sends it on its way. */
static void piece_out(struct exchange *x, struct bytes data)
{
    struct event ev = {
        .kind = EVENT_STREAM,
        .stream = {.id = x->call_id, .status = 200, .data = data, .text = ""}};
    to_client(x, &ev, false, world_draw(x->to->world, x->to->world->options.network));
}

/* In one piece, or torn anywhere: a frame, or a revision, may be cut in two. */
static void stream_out(struct exchange *x, struct bytes data)
{
    struct world *w = x->to->world;
    size_t first = 0;
    if (world_strikes(w, w->faults.torn)) {
        first = (size_t)random_below(&w->random, data.size);
    }
    if (first) {
        piece_out(x, (struct bytes){.data = data.data, .size = first});
    }
    piece_out(x, (struct bytes){.data = data.data + first, .size = data.size - first});
}

static void pump(struct exchange *x)
{
    struct world *w = x->to->world;
    while (x->cursor) {
        SCOPED_BUF(out);
        enum cursor_state state = cursor_fill(x->cursor, &out, CURSOR_CHUNK_BYTES);
        if (out.size && !way_cut(x->to, x->from)) {
            stream_out(x, buf_bytes(&out));
        }
        if (state == CURSOR_WAIT) {
            return;
        }
        if (state != CURSOR_MORE || way_cut(x->to, x->from)) {
            cursor_free(x->cursor);
            x->cursor = NULL;
            fail_client(x, CALL_UNKNOWN, state == CURSOR_END ? "ended" : "cut off",
                        way_cut(x->to, x->from) ? NETWORK_BROKEN_NS
                                                : world_draw(w, w->options.network));
        }
    }
}

void network_wake(struct node *to, const char *channel)
{
    for (struct exchange *x = to->world->exchanges; x; x = x->next) {
        if (x->to == to && x->cursor && strcmp(x->channel, channel) == 0) {
            pump(x);
        }
    }
}

void network_node_down(struct node *n)
{
    struct world *w = n->world;
    for (struct exchange *x = w->exchanges; x; x = x->next) {
        if (x->to == n && x->delivered && x->to_start == n->starts) {
            cursor_free(x->cursor);
            x->cursor = NULL;
            if (x->from || x->answered) {
                fail_client(x, CALL_UNKNOWN, "connection broken",
                            world_draw(w, w->options.network));
            }
        } else if (x->from == n) {
            x->from = NULL;
            x->answered = NULL;
            int64_t arrives_ns = x->arrives_ns > w->now_ns ? x->arrives_ns - w->now_ns : 0;
            hang_up(x, n->last_words ? arrives_ns + NETWORK_BROKEN_NS
                                     : world_draw(w, w->options.network));
        }
    }
}

/* The client learns that it broke, and so does a server that has seen the request. */
static void break_one(struct exchange *x)
{
    struct world *w = x->to->world;
    x->broken = true;
    cursor_free(x->cursor);
    x->cursor = NULL;
    if (x->delivered && server_alive(x)) {
        struct item *i = item_new(tell_end);
        struct end *e = ARENA_NEW(&i->arena, struct end);
        *e = (struct end){.server = x->to, .start = x->to_start, .request_id = x->request_id};
        i->payload = e;
        i->owner = x->to;
        queue_push(&w->queue, i, w->now_ns + world_draw(w, w->options.network));
    }
    if (x->from || x->answered) {
        fail_client(x, CALL_UNKNOWN, "connection broken", world_draw(w, w->options.network));
    }
}

void network_break(struct world *w)
{
    for (struct exchange *x = w->exchanges; x; x = x->next) {
        if (!x->broken) {
            break_one(x);
        }
    }
}

/* ---- Clients outside ---- */

void world_send(struct world *w, const char *url, const char *path, const ProtobufCMessage *m,
                int64_t limit_ns, world_answered *answered, void *context)
{
    world_send_traced(w, url, path, "", m, limit_ns, answered, context);
}

void world_send_traced(struct world *w, const char *url, const char *path, const char *trace_id,
                       const ProtobufCMessage *m, int64_t limit_ns, world_answered *answered,
                       void *context)
{
    SCOPED_BUF(body);
    if (m) {
        buf_message(&body, m);
    }
    world_send_request(w, url,
                       &(struct world_request){.method = "POST",
                                               .path = path,
                                               .peer = {.unit = "client", .name = "admin"},
                                               .content_type = "application/x-protobuf",
                                               .accept = "application/x-protobuf",
                                               .trace_id = trace_id,
                                               .body = buf_bytes(&body)},
                       limit_ns, answered, context);
}

void world_send_request(struct world *w, const char *url, const struct world_request *q,
                        int64_t limit_ns, world_answered *answered, void *context)
{
    SCOPED_ARENA(a);
    const char *whole = arena_printf(&a, "%s%s", url, q->path);
    struct node *to = node_at(w, whole);
    assert(to);
    struct exchange *x = exchange_new(w, NULL, to);
    x->answered = answered;
    x->context = context;
    x->peer = (struct peer){.unit = arena_strdup(&x->arena, q->peer.unit),
                            .name = arena_strdup(&x->arena, q->peer.name)};
    x->admin = q->admin;
    x->tools = q->tools;
    struct call call = {.method = q->method,
                        .url = whole,
                        .content_type = q->content_type,
                        .accept = q->accept,
                        .if_none_match = "",
                        .trace_id = q->trace_id,
                        .body = q->body};
    if (!world_strikes(w, w->faults.request_lost)) {
        send_request(x, &call, 0);
    }
    set_deadline(x, w->now_ns + limit_ns);
}

struct waiting {
    bool answered;
    int status;
    struct buf *body;
};

static void wait_answered(void *context, int status, struct bytes body)
{
    struct waiting *waiting = context;
    waiting->answered = true;
    waiting->status = status;
    if (waiting->body) {
        buf_append(waiting->body, body.data, body.size);
    }
}

int world_call(struct world *w, const char *url, const char *path, const ProtobufCMessage *m,
               int64_t limit_ns, struct buf *ret_body)
{
    struct waiting waiting = {.body = ret_body};
    world_send(w, url, path, m, limit_ns, wait_answered, &waiting);
    while (!waiting.answered) {
        bool more = world_step(w, w->now_ns + limit_ns + SECOND_NS);
        assert(more); /* the deadline at the latest */
    }
    return waiting.status;
}

/* Calls to the model etcd and its watches, with the delays and losses of the world. */
#include <assert.h>

#include "test/sim/model_etcd.h"
#include "test/sim/world_parts.h"

enum { WATCH_BATCH = 64 };

struct store_item {
    struct node *node;
    unsigned start;
    struct store_request request;
    uint64_t watch_id;
};

static bool alive(const struct store_item *s)
{
    return s->node->role && s->node->starts == s->start;
}

static ProtobufCMessage *message_copy(struct arena *a, const ProtobufCMessage *m)
{
    size_t size = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = arena_alloc(a, size);
    protobuf_c_message_pack(m, bytes);
    ProtobufCAllocator allocator = arena_protobuf(a);
    ProtobufCMessage *copy = protobuf_c_message_unpack(m->descriptor, &allocator, size, bytes);
    assert(copy);
    return copy;
}

/* ---- Watches ---- */

struct watch_item {
    struct node *node;
    unsigned start;
    struct watch_event news;
};

static void watch_arrives(void *world, struct item *item)
{
    (void)world;
    struct watch_item *n = item->payload;
    if (n->node->role && n->node->starts == n->start && n->node->watch_id == n->news.id) {
        struct event ev = {.kind = EVENT_WATCH, .watch = n->news};
        if (n->news.news == WATCH_CLOSED) {
            n->node->watch_id = 0;
        }
        node_step(n->node, &ev);
    }
}

static void tell_watch(struct node *n, enum watch_news news, const Etcd__WatchResponse *response)
{
    struct world *w = n->world;
    struct item *i = item_new(watch_arrives);
    struct watch_item *p = ARENA_NEW(&i->arena, struct watch_item);
    *p = (struct watch_item){
        .node = n,
        .start = n->starts,
        .news = {.id = n->watch_id,
                 .news = news,
                 .response = (Etcd__WatchResponse *)message_copy(&i->arena, &response->base),
                 .text = news == WATCH_CLOSED ? "compacted" : ""},
    };
    i->payload = p;
    int64_t at = w->now_ns + world_draw(w, w->options.watch_lag);
    n->watch_last_at_ns = at > n->watch_last_at_ns ? at : n->watch_last_at_ns;
    queue_push(&w->queue, i, n->watch_last_at_ns);
}

/* Sends a watch all that it has not been sent yet. */
static void feed_watch(struct node *n)
{
    struct arena a;
    arena_init(&a);
    size_t count;
    do {
        Etcd__WatchResponse **list;
        count = model_etcd_events_since(n->world->etcd, n->watch_next, WATCH_BATCH, &a, &list);
        for (size_t i = 0; i < count; i++) {
            if (list[i]->canceled) {
                tell_watch(n, WATCH_CLOSED, list[i]);
                arena_done(&a);
                return;
            }
            const Etcd__Event *last = list[i]->events[list[i]->n_events - 1];
            n->watch_next = last->kv->mod_revision + 1;
            tell_watch(n, WATCH_EVENTS, list[i]);
        }
    } while (count == WATCH_BATCH);
    arena_done(&a);
}

static void feed_watches(struct world *w)
{
    for (size_t i = 0; i < w->node_count; i++) {
        struct node *n = w->nodes[i];
        if (n->role && n->watch_id && !n->cut_from_etcd) {
            feed_watch(n);
        }
    }
}

static void watch_opens(void *world, struct item *item)
{
    struct world *w = world;
    struct store_item *s = item->payload;
    struct node *n = s->node;
    if (!alive(s) || n->watch_id != s->watch_id) {
        return;
    }
    struct arena a;
    arena_init(&a);
    tell_watch(n, WATCH_OPEN, model_etcd_watch_created(w->etcd, &a));
    arena_done(&a);
    if (!n->cut_from_etcd) {
        feed_watch(n);
    }
}

void store_watch(struct node *n, uint64_t id, int64_t start_revision)
{
    struct world *w = n->world;
    n->watch_id = id;
    n->watch_next = start_revision;
    struct item *i = item_new(watch_opens);
    struct store_item *s = ARENA_NEW(&i->arena, struct store_item);
    *s = (struct store_item){.node = n, .start = n->starts, .watch_id = id};
    i->payload = s;
    queue_push(&w->queue, i, w->now_ns + world_draw(w, w->options.store));
}

void store_unwatch(struct node *n)
{
    n->watch_id = 0;
}

/* ---- Calls ---- */

struct answer_item {
    struct store_item call;
    struct store_answer answer;
};

static void answer_arrives(void *world, struct item *item)
{
    (void)world;
    struct answer_item *p = item->payload;
    if (alive(&p->call)) {
        node_step(p->call.node, &(struct event){.kind = EVENT_STORE, .store = p->answer});
    }
}

static void call_arrives(void *world, struct item *item)
{
    struct world *w = world;
    struct store_item *s = item->payload;
    /* The request is on its way even when its sender has died: it lands all the same. */
    struct item *back = item_new(answer_arrives);
    struct answer_item *p = ARENA_NEW(&back->arena, struct answer_item);
    model_etcd_advance(w->etcd, w->now_ns);
    int64_t before = model_etcd_revision(w->etcd);
    model_etcd_apply(w->etcd, s->request.call, s->request.message, &back->arena, &p->answer);
    p->answer.id = s->request.id;
    p->call = *s;
    back->payload = p;
    if (s->request.call == STORE_TXN && model_etcd_revision(w->etcd) > before) {
        trace_commit(w, s->node->config.name, s->request.message);
    } else if (s->request.call == STORE_TXN && w->trace_logs) {
        world_note(w, s->node->config.name, "a transaction is not applied: %s",
                   p->answer.outcome == STORE_DONE ? "a compare failed" : p->answer.text);
    }
    int64_t at = w->now_ns + world_draw(w, w->options.store);
    if (s->node->cut_from_etcd || at > s->request.deadline_ns) {
        p->answer = (struct store_answer){.id = s->request.id,
                                          .call = s->request.call,
                                          .outcome = STORE_UNKNOWN,
                                          .text = "no answer in time"};
        at = s->request.deadline_ns > w->now_ns ? s->request.deadline_ns : w->now_ns;
    }
    queue_push(&w->queue, back, at);
    feed_watches(w);
}

static void call_lost(void *world, struct item *item)
{
    (void)world;
    struct store_item *s = item->payload;
    if (alive(s)) {
        node_step(s->node, &(struct event){.kind = EVENT_STORE,
                                           .store = {.id = s->request.id,
                                                     .call = s->request.call,
                                                     .outcome = STORE_UNKNOWN,
                                                     .text = "no answer in time"}});
    }
}

void store_call_start(struct node *from, const struct store_request *request)
{
    struct world *w = from->world;
    struct item *i = item_new(from->cut_to_etcd ? call_lost : call_arrives);
    struct store_item *s = ARENA_NEW(&i->arena, struct store_item);
    *s = (struct store_item){.node = from, .start = from->starts, .request = *request};
    s->request.message = message_copy(&i->arena, request->message);
    i->payload = s;
    int64_t at = w->now_ns + world_draw(w, w->options.store);
    queue_push(&w->queue, i, from->cut_to_etcd ? request->deadline_ns : at);
}

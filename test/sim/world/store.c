/* Calls to the model etcd and its watches, with the delays and losses of the world. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bbs/board/compare.h"
#include "common/base/message.h"
#include "test/sim/model/etcd.h"
#include "test/sim/world/inside.h"

enum { WATCH_BATCH = 64 };

struct store_item {
    struct node *node;
    unsigned start;
    struct store_request request;
    uint64_t watch_id;
    bool unheard; /* it lands, and nobody waits any more */
    int64_t sent_ns, clock_ahead_ns;
    unsigned breaks; /* of its store when it was sent */
};

/* How long a bbs may go on with what it decided (OP_DEADLINE_NS and a transaction's time-out), and
 * how long it keeps what it decided to itself while all goes well (GROUP_WAIT_NS, and a step). */
#define CARRIES_ON_NS (7 * SECOND_NS)
#define GATHERS_NS (6 * MILLISECOND_NS)

static bool alive(const struct store_item *s)
{
    return s->node->role && s->node->starts == s->start;
}

/* ---- Watches ---- */

struct watch_item {
    struct node *node;
    unsigned start;
    struct watch_event event;
};

static void watch_arrives(void *world, struct item *item)
{
    struct watch_item *n = item->payload;
    if (n->node->role && n->node->starts == n->start && n->node->watch_id == n->event.id) {
        struct event ev = {.kind = EVENT_WATCH, .watch = n->event};
        if (n->event.kind == WATCH_CLOSED) {
            n->node->watch_id = 0;
        }
        node_step(n->node, &ev);
    }
}

static void tell_watch(struct node *n, enum watch_event_kind kind,
                       const Etcd__WatchResponse *response)
{
    struct world *w = n->world;
    struct item *i = item_new(watch_arrives);
    struct watch_item *p = ARENA_NEW(&i->arena, struct watch_item);
    *p = (struct watch_item){
        .node = n,
        .start = n->starts,
        .event = {.id = n->watch_id,
                 .kind = kind,
                 .text = ""},
    };
    if (response) {
        p->event.response = (Etcd__WatchResponse *)message_copy(&i->arena, &response->base);
    }
    if (kind == WATCH_CLOSED) {
        p->event.text = response ? "compacted" : "connection broken";
    }
    i->payload = p;
    i->owner = n;
    int64_t at = w->now_ns + world_draw(w, w->options.watch_lag);
    n->watch_last_at_ns = at > n->watch_last_at_ns ? at : n->watch_last_at_ns;
    queue_push(&w->queue, i, n->watch_last_at_ns);
}

static bool is_kind(const Etcd__Event *e, const char *prefix)
{
    return e->kv->key.len > strlen(prefix) &&
           memcmp(e->kv->key.data, prefix, strlen(prefix)) == 0;
}

/* Takes out the first event of a cause, or of a record that a bbs keeps. False if there is none. */
static bool leave_out(Etcd__WatchResponse *r, bool cause)
{
    for (size_t i = 0; i < r->n_events; i++) {
        bool kept = !is_kind(r->events[i], "cause/") && !is_kind(r->events[i], "run/");
        if (cause ? is_kind(r->events[i], "cause/") : kept) {
            memmove(&r->events[i], &r->events[i + 1],
                    (r->n_events - i - 1) * sizeof(r->events[0]));
            r->n_events--;
            return true;
        }
    }
    return false;
}

static size_t kept_records(const Etcd__WatchResponse *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->n_events; i++) {
        count += !is_kind(r->events[i], "cause/") && !is_kind(r->events[i], "run/");
    }
    return count;
}

static bool has_cause(const Etcd__WatchResponse *r)
{
    for (size_t i = 0; i < r->n_events; i++) {
        if (is_kind(r->events[i], "cause/")) {
            return true;
        }
    }
    return false;
}

/* Changes what the watch is about to tell, if it is to. False: nothing of it is told. */
static bool slip(struct node *n, Etcd__WatchResponse *r, struct arena *a)
{
    enum watch_slip how = n->watch_slip;
    size_t records = kept_records(r), least = how == SLIP_SILENT ? 2 : 1;
    bool heartbeat = is_kind(r->events[0], "beat/");
    if ((how == SLIP_CHANGE || how == SLIP_REPEAT) && !has_cause(r)) {
        return true; /* nothing tells which changes it has, as after a silent slip */
    }
    if (how == SLIP_NONE || (how != SLIP_REVISION && (heartbeat || records < least))) {
        return true;
    }
    n->watch_slip = SLIP_NONE;
    if (how == SLIP_REPEAT) {
        Etcd__Event **events = ARENA_ARRAY(a, r->n_events + 1, Etcd__Event *);
        memcpy(events, r->events, r->n_events * sizeof(*events));
        size_t i = 0;
        while (is_kind(events[i], "cause/") || is_kind(events[i], "run/")) {
            i++;
        }
        events[r->n_events++] = events[i];
        r->events = events;
        return true;
    }
    if (how == SLIP_SILENT) {
        leave_out(r, true);
    }
    return how != SLIP_REVISION && (leave_out(r, false), r->n_events > 0);
}

/* Sends a watch all that it has not been sent yet. */
static void feed_watch(struct node *n)
{
    SCOPED_ARENA(a);
    size_t count;
    do {
        Etcd__WatchResponse **list;
        count = model_etcd_events_since(n->config.store->etcd, n->watch_next, WATCH_BATCH, &a,
                                        &list);
        for (size_t i = 0; i < count; i++) {
            if (list[i]->canceled) {
                tell_watch(n, WATCH_CLOSED, list[i]);
                n->watch_opened = false;
                return;
            }
            const Etcd__Event *last = list[i]->events[list[i]->n_events - 1];
            n->watch_next = last->kv->mod_revision + 1;
            if (slip(n, list[i], &a)) {
                tell_watch(n, WATCH_EVENTS, list[i]);
            }
        }
    } while (count == WATCH_BATCH);
}

static void feed_watches(struct store *s)
{
    for (size_t i = 0; i < s->world->node_count; i++) {
        if (s->world->nodes[i]->config.store == s) {
            store_feed_watch(s->world->nodes[i]);
        }
    }
}

void store_feed_watch(struct node *n)
{
    if (n->role && n->watch_id && n->watch_opened && !n->cut_from_etcd && !n->watch_stalled) {
        feed_watch(n);
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
    SCOPED_ARENA(a);
    struct store *store = n->config.store;
    bool down = w->now_ns < store->down_until_ns;
    if (n->cut_from_etcd || n->cut_to_etcd || down || s->breaks != store->breaks) {
        tell_watch(n, WATCH_CLOSED, NULL);
    } else {
        tell_watch(n, WATCH_OPEN, model_etcd_watch_created(store->etcd, &a));
        n->watch_opened = true;
    }
    store_feed_watch(n);
}

void world_break_watch(struct world *w, struct node *n)
{
    if (n->watch_id) {
        world_note(w, n->config.name, "its watch breaks");
        tell_watch(n, WATCH_CLOSED, NULL);
        n->watch_opened = false;
    }
}

void world_slip_watch(struct world *w, struct node *n, enum watch_slip slip)
{
    static const char *const told[] = {
        [SLIP_NONE] = "is told of everything",
        [SLIP_REVISION] = "leaves out a revision",
        [SLIP_CHANGE] = "leaves out a change",
        [SLIP_SILENT] = "leaves out a change and its cause",
        [SLIP_REPEAT] = "tells a change twice",
    };
    world_note(w, n->config.name, "its watch %s", told[slip]);
    n->watch_slip = slip;
}

bool world_slip_waits(const struct node *n)
{
    return n->watch_slip != SLIP_NONE;
}

void world_stall_watch(struct world *w, struct node *n, bool stalled)
{
    world_note(w, n->config.name, stalled ? "its watch stalls" : "its watch flows");
    n->watch_stalled = stalled;
    store_feed_watch(n);
}

/* ---- The store itself ---- */

struct store *world_store(struct world *w, const char *name)
{
    for (size_t i = 0; i < w->store_count; i++) {
        if (strcmp(w->stores[i]->name, name) == 0) {
            return w->stores[i];
        }
    }
    assert(w->store_count < WORLD_STORES_MAX);
    struct store *s = calloc(1, sizeof(*s));
    assert(s);
    *s = (struct store){
        .world = w, .name = name, .etcd = model_etcd_new(&(struct model_etcd_config){0})};
    return w->stores[w->store_count++] = s;
}

void store_free(struct store *s)
{
    model_etcd_free(s->etcd);
    free(s);
}

struct model_etcd *store_etcd(struct store *s)
{
    return s->etcd;
}

void store_put(struct store *s, const char *key, struct bytes value)
{
    SCOPED_ARENA(a);
    struct store_answer answer = {0};
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    Etcd__RequestOp *op = etcd_op_put(&a, key, value);
    txn.n_success = 1;
    txn.success = &op;
    model_etcd_apply(store_etcd(s), STORE_TXN, &txn.base, &a, &answer);
    assert(answer.outcome == STORE_DONE);
}

void store_compact(struct store *s)
{
    Etcd__CompactionRequest request = ETCD__COMPACTION_REQUEST__INIT;
    request.revision = model_etcd_revision(s->etcd);
    SCOPED_ARENA(a);
    struct store_answer answer = {0};
    model_etcd_apply(s->etcd, STORE_COMPACT, &request.base, &a, &answer);
    world_note(s->world, s->name, "is compacted");
}

void store_fill(struct store *s, bool full)
{
    world_note(s->world, s->name, full ? "its disk is full" : "its disk has room again");
    model_etcd_set_quota(s->etcd, full ? model_etcd_file_bytes(s->etcd) : 0);
}

static void break_connections(struct store *s, int64_t down_ns)
{
    struct world *w = s->world;
    s->breaks++;
    s->down_until_ns = s->stalls_until_ns = w->now_ns + down_ns;
    for (size_t i = 0; i < w->node_count; i++) {
        if (w->nodes[i]->config.store == s && w->nodes[i]->watch_id) {
            tell_watch(w->nodes[i], WATCH_CLOSED, NULL);
            w->nodes[i]->watch_opened = false;
        }
    }
}

void store_down(struct store *s, int64_t down_ns)
{
    world_note(s->world, s->name, "is down");
    break_connections(s, down_ns);
}

void store_restore(struct store *s, int64_t revision, int64_t down_ns)
{
    world_note(s->world, s->name, "is restored as it was at revision %lld", (long long)revision);
    model_etcd_restore(s->etcd, revision);
    break_connections(s, down_ns);
}

void store_elect(struct store *s, int64_t duration_ns)
{
    world_note(s->world, s->name, "elects a leader");
    model_etcd_elect(s->etcd);
    s->stalls_until_ns = s->world->now_ns + duration_ns;
}

void store_watch(struct node *n, uint64_t id, int64_t start_revision)
{
    struct world *w = n->world;
    n->watch_id = id;
    n->watch_next = start_revision;
    n->watch_opened = false;
    struct item *i = item_new(watch_opens);
    struct store_item *s = ARENA_NEW(&i->arena, struct store_item);
    *s = (struct store_item){
        .node = n, .start = n->starts, .watch_id = id, .breaks = n->config.store->breaks};
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

static bool well(const struct store_answer *answer)
{
    return answer->outcome == STORE_DONE &&
           (answer->call != STORE_TXN || ((const Etcd__TxnResponse *)answer->message)->succeeded);
}

static struct store_answer unknown(const struct store_item *s, const char *text)
{
    return (struct store_answer){
        .id = s->request.id, .call = s->request.call, .outcome = STORE_UNKNOWN, .text = text};
}

static void answer_arrives(void *world, struct item *item)
{
    struct world *w = world;
    struct answer_item *p = item->payload;
    if (p->call.breaks != p->call.node->config.store->breaks) {
        p->answer = unknown(&p->call, "connection broken");
    }
    if (alive(&p->call)) {
        if (!well(&p->answer) ||
            w->now_ns - p->call.sent_ns > 2 * w->options.store.high_ns + GATHERS_NS) {
            p->call.node->store_troubled_ns = w->now_ns;
        }
        node_step(p->call.node, &(struct event){.kind = EVENT_STORE, .store = p->answer});
    }
}

static bool within(int64_t at_ns, int64_t from_ns, int64_t to_ns)
{
    return at_ns != NEVER_NS && at_ns >= from_ns && at_ns <= to_ns;
}

static void tell_commit(struct world *w, const struct store_item *s)
{
    struct node *n = s->node;
    if (!w->observer.committed) {
        return;
    }
    bool carried = within(n->store_troubled_ns, s->sent_ns - CARRIES_ON_NS, w->now_ns);
    int64_t decided_ns = s->sent_ns - (carried ? CARRIES_ON_NS : GATHERS_NS);
    struct world_commit commit = {
        .by = n,
        .txn = (const Etcd__TxnRequest *)s->request.message,
        .decided_ns = decided_ns > 0 ? decided_ns : 0,
        .sent_ns = s->sent_ns,
        .clock_ahead_ns = within(n->clock_jumped_ns, decided_ns, w->now_ns) ? n->clock_most_ns
                                                                            : s->clock_ahead_ns,
    };
    w->observer.committed(w->observer.context, &commit);
}

static void call_lost(void *world, struct item *item)
{
    struct store_item *s = item->payload;
    if (alive(s)) {
        s->node->store_troubled_ns = ((struct world *)world)->now_ns;
        node_step(s->node, &(struct event){.kind = EVENT_STORE,
                                           .store = unknown(s, "no answer in time")});
    }
}

static void send_item(struct node *from, const struct store_request *request, int64_t at_ns,
                      void (*run)(void *, struct item *), bool unheard)
{
    struct item *i = item_new(run);
    struct store_item *s = ARENA_NEW(&i->arena, struct store_item);
    *s = (struct store_item){
        .node = from,
        .start = from->starts,
        .request = *request,
        .unheard = unheard,
        .sent_ns = from->world->now_ns,
        .clock_ahead_ns = from->clock_ahead_ns,
        .breaks = from->config.store->breaks,
    };
    s->request.message = message_copy(&i->arena, request->message);
    i->payload = s;
    i->owner = run == call_lost ? from : NULL;
    queue_push(&from->world->queue, i, at_ns);
}

static void call_arrives(void *world, struct item *item)
{
    struct world *w = world;
    struct store_item *s = item->payload;
    struct store *store = s->node->config.store;
    if (s->breaks != store->breaks) {
        if (alive(s) && !s->unheard) {
            send_item(s->node, &s->request, w->now_ns, call_lost, false);
        }
        return;
    }
    /* The request is on its way even when its sender has died: it lands all the same. */
    struct item *back = item_new(answer_arrives);
    struct answer_item *p = ARENA_NEW(&back->arena, struct answer_item);
    model_etcd_advance(store->etcd, w->now_ns);
    int64_t before = model_etcd_revision(store->etcd);
    model_etcd_apply(store->etcd, s->request.call, s->request.message, &back->arena, &p->answer);
    p->answer.id = s->request.id;
    p->call = *s;
    back->payload = p;
    bool changed = model_etcd_revision(store->etcd) > before;
    if (s->request.call == STORE_TXN) {
        trace_transaction(w, s->node->config.name, s->request.message,
                          changed                           ? ""
                          : p->answer.outcome == STORE_DONE ? "compare failed: "
                                                            : "refused by etcd: ");
    }
    if (s->request.call == STORE_TXN && changed) {
        tell_commit(w, s);
    }
    int64_t at = w->now_ns + world_draw(w, w->options.store);
    bool lost = world_strikes(w, w->faults.store_answer_lost);
    if (s->node->cut_from_etcd || at > s->request.deadline_ns || lost) {
        p->answer = unknown(s, "no answer in time");
        at = s->request.deadline_ns > w->now_ns ? s->request.deadline_ns : w->now_ns;
    }
    back->owner = s->node;
    if (s->unheard) {
        item_free(back);
    } else {
        queue_push(&w->queue, back, at);
    }
    feed_watches(store);
}

void store_call_start(struct node *from, const struct store_request *request)
{
    struct world *w = from->world;
    int64_t at = w->now_ns + world_draw(w, w->options.store);
    if (from->cut_to_etcd || world_strikes(w, w->faults.store_request_lost)) {
        send_item(from, request, request->deadline_ns, call_lost, false);
        return;
    }
    if (world_strikes(w, w->faults.store_late)) {
        at += world_draw(w, w->faults.late_by);
    }
    int64_t stalls_until_ns = from->config.store->stalls_until_ns;
    at = at > stalls_until_ns ? at : stalls_until_ns;
    /* What lands after its deadline has been given up by then. */
    bool unheard = at >= request->deadline_ns;
    if (unheard) {
        send_item(from, request, request->deadline_ns, call_lost, false);
    }
    send_item(from, request, at, call_arrives, unheard);
}

/* Watches of the store shell: each a stream on a connection of its own, its request side held open.
 * etcd cuts long responses anywhere: a revision that is cut is joined. */
#include "common/base/memory.h"
#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>

struct etcd_watch {
    struct etcd_watch *next;
    struct etcd_channel channel;
    struct exchange *exchange;
    uint64_t id;
    struct event *open_timer; /* not confirmed in time */
    bool open;
    bool ended;        /* nothing more is reported; freed from the loop's top */
    struct buf joined; /* of fragments: what is not reported yet, the beginning of a revision */
    struct arena arena;
};

static struct etcd_watch *watch_of(struct etcd_channel *c)
{
    return (struct etcd_watch *)(void *)((char *)c - offsetof(struct etcd_watch, channel));
}

static void watch_free(struct etcd_watch *w)
{
    channel_done(&w->channel);
    exchange_free(w->exchange);
    event_free(w->open_timer);
    buf_done(&w->joined);
    arena_done(&w->arena);
    free(w);
}

static void tell(struct etcd_watch *w, enum watch_event_kind kind,
                 const Etcd__WatchResponse *response, const char *text)
{
    struct etcd *e = w->channel.etcd;
    struct watch_event event = {.id = w->id, .kind = kind, .response = response, .text = text};
    if (kind == WATCH_CLOSED) {
        w->ended = true;
        etcd_defer(e);
    }
    e->handlers.on_watch(e->handlers.context, &event);
}

static void close_broken(struct etcd_watch *w, const char *problem)
{
    struct etcd *e = w->channel.etcd;
    etcd_endpoint_failed(e, w->channel.endpoint);
    char *text =
        arena_printf(&w->arena, "watch at etcd %s: %s", e->endpoints[w->channel.endpoint], problem);
    tell(w, WATCH_CLOSED, NULL, text);
}

static void take_response(struct etcd_watch *w, const Etcd__WatchResponse *response)
{
    if (response->canceled) {
        const char *reason = response->cancel_reason;
        tell(w, WATCH_CLOSED, response,
             *reason                      ? reason
             : response->compact_revision ? "the start revision has been compacted"
                                          : "etcd cancelled the watch");
    } else if (response->created && !w->open) {
        w->open = true;
        event_del(w->open_timer);
        tell(w, WATCH_OPEN, response, "");
    } else if (response->n_events) {
        tell(w, WATCH_EVENTS, response, "");
    }
}

/* Keeps the last revision of a fragment, which may go on in the next one; the rest can be told. A
 * backlog comes as one response of up to 1,000 revisions: nobody holds all of it. */
static void keep_last_revision(struct etcd_watch *w, Etcd__WatchResponse *r)
{
    size_t reported = r->n_events;
    const Etcd__KeyValue *last = reported ? r->events[reported - 1]->kv : NULL;
    while (reported > 0 && last && r->events[reported - 1]->kv &&
           r->events[reported - 1]->kv->mod_revision == last->mod_revision) {
        reported--;
    }
    Etcd__WatchResponse rest = ETCD__WATCH_RESPONSE__INIT;
    rest.n_events = r->n_events - reported;
    rest.events = r->events + reported;
    buf_clear(&w->joined);
    buf_message(&w->joined, &rest.base);
    r->n_events = reported;
}

/* One frame: a response or a fragment of one. Packed messages that stand one after the other are
 * one message with the repeated fields joined, so fragments are joined as bytes. */
static void take_frame(struct etcd_watch *w, struct bytes frame)
{
    arena_reset(&w->arena);
    ProtobufCAllocator allocator = arena_protobuf(&w->arena);
    if (w->joined.size + frame.size > ETCD_ANSWER_BYTES) {
        close_broken(w, "the joined fragments of a revision are too large");
        return;
    }
    Etcd__WatchResponse *r = etcd__watch_response__unpack(&allocator, frame.size, frame.data);
    if (r && (r->fragment || w->joined.size)) {
        bool last = !r->fragment;
        buf_append(&w->joined, frame.data, frame.size);
        arena_reset(&w->arena);
        r = etcd__watch_response__unpack(&allocator, w->joined.size, w->joined.data);
        if (last) {
            buf_done(&w->joined);
        } else if (r) {
            keep_last_revision(w, r);
        }
    }
    if (!r) {
        close_broken(w, "a response cannot be read");
        return;
    }
    r->fragment = false;
    take_response(w, r);
}

static void watch_progress(struct etcd_channel *c)
{
    struct etcd_watch *w = watch_of(c);
    struct buf *received = &w->exchange->received;
    size_t taken = 0;
    while (!w->ended) {
        struct bytes left = {.data = received->data + taken, .size = received->size - taken};
        struct bytes frame;
        int64_t size = grpc_frame_next(left, ETCD_ANSWER_BYTES, &frame);
        if (size == 0) {
            break;
        }
        if (size < 0) {
            close_broken(w, "a response is too large or compressed");
            break;
        }
        taken += (size_t)size;
        take_frame(w, frame);
    }
    buf_consume(received, taken);
}

static void watch_done(struct etcd_channel *c, struct exchange *x, CURLcode result)
{
    struct etcd_watch *w = watch_of(c);
    if (w->ended) {
        return;
    }
    SCOPED_BUF(problem);
    if (x->trailers.status == GRPC_NO_STATUS) {
        exchange_explain(x, result, &problem);
    } else {
        buf_printf(&problem, "ended with grpc-status %d: %s", x->trailers.status,
                   buf_string(&x->trailers.text));
    }
    arena_reset(&w->arena);
    close_broken(w, buf_string(&problem));
}

static bool watch_waiting(struct etcd_channel *c)
{
    const struct etcd_watch *w = watch_of(c);
    return w->open && !w->ended;
}

static void watch_dead(struct etcd_channel *c)
{
    struct etcd_watch *w = watch_of(c);
    c->dead = false;
    if (!w->ended) {
        arena_reset(&w->arena);
        close_broken(w, "the connection is silent");
    }
}

static void on_open_timeout(evutil_socket_t fd, short what, void *watch)
{
    (void)fd;
    (void)what;
    struct etcd_watch *w = watch;
    if (!w->ended) {
        arena_reset(&w->arena);
        close_broken(w, "not confirmed in time");
    }
}

static void send_create(struct etcd_watch *w, int64_t start_revision)
{
    struct etcd *e = w->channel.etcd;
    Etcd__WatchCreateRequest create = ETCD__WATCH_CREATE_REQUEST__INIT;
    uint8_t zero = 0;
    create.key = (ProtobufCBinaryData){.len = 1, .data = &zero}; /* the whole key space */
    create.range_end = create.key;
    create.start_revision = start_revision;
    create.prev_kv = true;
    create.fragment = true;
    Etcd__WatchRequest request = ETCD__WATCH_REQUEST__INIT;
    request.request_union_case = ETCD__WATCH_REQUEST__REQUEST_UNION_CREATE_REQUEST;
    request.create_request = &create;
    SCOPED_BUF(url);
    exchange_fill(w->exchange, &request.base, true);
    exchange_aim(w->exchange, etcd_url(e, w->channel.endpoint, "/etcdserverpb.Watch/Watch", &url),
                 0);
    channel_send(&w->channel, w->exchange);
}

void etcd_watch(struct etcd *e, uint64_t id, int64_t start_revision)
{
    struct etcd_watch *w = mem_zeroed(sizeof(*w));
    w->id = id;
    w->channel = (struct etcd_channel){.endpoint = e->endpoint,
                                  .pinned = true,
                                  .is_waiting = watch_waiting,
                                  .on_dead = watch_dead,
                                  .on_done = watch_done,
                                  .on_progress = watch_progress};
    channel_init(&w->channel, e);
    w->exchange = exchange_new(&e->options, w);
    buf_init(&w->joined);
    arena_init(&w->arena);
    w->open_timer = evtimer_new(e->base, on_open_timeout, w);
    struct timeval limit = {.tv_sec = ETCD_WATCH_OPEN_MS / 1000,
                            .tv_usec = ETCD_WATCH_OPEN_MS % 1000 * 1000};
    if (!w->open_timer || event_add(w->open_timer, &limit)) {
        abort();
    }
    size_t count = 0;
    for (struct etcd_watch *other = e->watches; other; other = other->next) {
        assert(other->ended || other->id != id);
        count += !other->ended;
    }
    assert(count < ETCD_WATCHES);
    w->next = e->watches;
    e->watches = w;
    send_create(w, start_revision);
}

void etcd_unwatch(struct etcd *e, uint64_t id)
{
    for (struct etcd_watch *w = e->watches; w; w = w->next) {
        if (w->id == id && !w->ended) {
            w->ended = true;
            etcd_defer(e);
        }
    }
}

void etcd_watches_deferred(struct etcd *e)
{
    for (struct etcd_watch *w = e->watches; w; w = w->next) {
        channel_deferred(&w->channel);
    }
    struct etcd_watch **link = &e->watches;
    while (*link) {
        struct etcd_watch *w = *link;
        if (w->ended) {
            *link = w->next;
            watch_free(w);
        } else {
            link = &w->next;
        }
    }
}

void etcd_watches_free(struct etcd *e)
{
    while (e->watches) {
        struct etcd_watch *next = e->watches->next;
        watch_free(e->watches);
        e->watches = next;
    }
}

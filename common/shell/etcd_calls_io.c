/* Calls of the store shell: they wait until the channel is warm, then share its one connection. */
#include "common/base/memory.h"
#include "common/contract/moment.h"
#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>

enum {
    CALLS_SENT = 100, /* at once; one HTTP/2 connection carries so many streams */
    SPARE_CALLS = 128,
    HANDLE_KEPT_BYTES = 1024 * 1024,
    DEADLINE_EXCEEDED = 4,
};

struct etcd_call {
    TAILQ_ENTRY(etcd_call) link;
    struct etcd *etcd;
    struct exchange *exchange;
    struct event *expiry; /* while it waits */
    uint64_t id;
    enum store_call kind;
    int64_t deadline_ns;
    size_t endpoint;
    int refused_status; /* when it is refused without being sent */
    const char *refused_text;
};

struct method {
    const char *path;
    const ProtobufCMessageDescriptor *request;
    const ProtobufCMessageDescriptor *response;
};

static const struct method methods[STORE_CALL_COUNT] = {
    [STORE_RANGE] = {"/etcdserverpb.KV/Range", &etcd__range_request__descriptor,
                     &etcd__range_response__descriptor},
    [STORE_TXN] = {"/etcdserverpb.KV/Txn", &etcd__txn_request__descriptor,
                   &etcd__txn_response__descriptor},
    [STORE_COMPACT] = {"/etcdserverpb.KV/Compact", &etcd__compaction_request__descriptor,
                       &etcd__compaction_response__descriptor},
    [STORE_LEASE_GRANT] = {"/etcdserverpb.Lease/LeaseGrant", &etcd__lease_grant_request__descriptor,
                           &etcd__lease_grant_response__descriptor},
    [STORE_LEASE_REVOKE] = {"/etcdserverpb.Lease/LeaseRevoke",
                            &etcd__lease_revoke_request__descriptor,
                            &etcd__lease_revoke_response__descriptor},
    [STORE_LEASE_KEEP_ALIVE] = {"/etcdserverpb.Lease/LeaseKeepAlive",
                                &etcd__lease_keep_alive_request__descriptor,
                                &etcd__lease_keep_alive_response__descriptor},
    [STORE_STATUS] = {"/etcdserverpb.Maintenance/Status", &etcd__status_request__descriptor,
                      &etcd__status_response__descriptor},
    [STORE_ALARM] = {"/etcdserverpb.Maintenance/Alarm", &etcd__alarm_request__descriptor,
                     &etcd__alarm_response__descriptor},
    [STORE_DEFRAGMENT] = {"/etcdserverpb.Maintenance/Defragment",
                          &etcd__defragment_request__descriptor,
                          &etcd__defragment_response__descriptor},
};

/* Taking and giving back */

static void on_expiry(evutil_socket_t fd, short what, void *call);

static struct etcd_call *call_take(struct etcd *e)
{
    struct etcd_call *c = TAILQ_FIRST(&e->calls.spare);
    if (c) {
        TAILQ_REMOVE(&e->calls.spare, c, link);
        e->calls.spare_count--;
        return c;
    }
    c = mem_zeroed(sizeof(*c));
    c->etcd = e;
    c->exchange = exchange_new(&e->options, c);
    c->expiry = evtimer_new(e->base, on_expiry, c);
    assert(c->expiry);
    return c;
}

static void call_free(struct etcd_call *c)
{
    exchange_free(c->exchange);
    event_free(c->expiry);
    free(c);
}

/* A handle that carried something huge is not worth its memory, and one that failed is not trusted
 * any more. */
static void call_give_back(struct etcd *e, struct etcd_call *c)
{
    const struct exchange *x = c->exchange;
    bool failed = x->sent && x->trailers.status == GRPC_NO_STATUS;
    if (e->calls.spare_count >= SPARE_CALLS || x->received.capacity > HANDLE_KEPT_BYTES ||
        x->request.capacity > HANDLE_KEPT_BYTES || failed) {
        call_free(c);
        return;
    }
    TAILQ_INSERT_HEAD(&e->calls.spare, c, link);
    e->calls.spare_count++;
}

/* Answers */

/* The answer's message in the arena, or NULL when there is not exactly one whole message. */
static const ProtobufCMessage *call_message(struct etcd *e, const struct etcd_call *c)
{
    struct bytes received = buf_bytes(&c->exchange->received);
    struct bytes message;
    int64_t size = grpc_frame_next(received, ETCD_ANSWER_BYTES, &message);
    if (size <= 0 || (size_t)size != received.size) {
        return NULL;
    }
    ProtobufCAllocator allocator = arena_protobuf(&e->calls.arena);
    return protobuf_c_message_unpack(methods[c->kind].response, &allocator, message.size,
                                     message.data);
}

/* "A commit ends in done, lost or unknown" (design.md 2): everything but a certain answer is
 * unknown.
 */
static void judge(struct etcd *e, const struct etcd_call *c, struct store_answer *answer)
{
    struct grpc_trailers *trailers = &c->exchange->trailers;
    answer->grpc_status = trailers->status;
    answer->text = arena_strdup(&e->calls.arena, buf_string(&trailers->text));
    if (trailers->status == GRPC_OK) {
        answer->message = call_message(e, c);
        answer->outcome = answer->message ? STORE_DONE : STORE_UNKNOWN;
        if (!answer->message) {
            answer->text = "the answer cannot be read";
        }
    } else {
        answer->outcome = grpc_refused(trailers->status) ? STORE_REFUSED : STORE_UNKNOWN;
    }
}

static void judge_without_status(struct etcd *e, const struct etcd_call *c, const char *problem,
                                 struct store_answer *answer)
{
    bool unsent = exchange_unsent(c->exchange);
    answer->outcome = unsent ? STORE_REFUSED : STORE_UNKNOWN;
    answer->grpc_status = unsent ? GRPC_UNAVAILABLE : 0;
    answer->text = arena_printf(&e->calls.arena, "etcd %s: %s%s", e->endpoints[c->endpoint],
                                problem, unsent ? " (nothing was sent)" : "");
}

/* The call is in no list any more. */
static void call_answer(struct etcd *e, struct etcd_call *c, const char *problem)
{
    struct store_answer answer = {.id = c->id, .call = c->kind, .text = ""};
    int status = c->exchange->trailers.status;
    arena_reset(&e->calls.arena);
    if (status == GRPC_NO_STATUS) {
        judge_without_status(e, c, problem, &answer);
    } else {
        judge(e, c, &answer);
        e->calls.last_answer_ns = etcd_now_ns();
    }
    if (status == GRPC_NO_STATUS || status == GRPC_UNAVAILABLE) {
        etcd_endpoint_failed(e, c->endpoint);
    }
    call_give_back(e, c);
    e->handlers.on_answer(e->handlers.context, &answer);
}

/* To be told from the loop's top. The call is in no list. */
static void call_refuse(struct etcd_call *c, int status, const char *text)
{
    c->refused_status = status;
    c->refused_text = text;
    TAILQ_INSERT_TAIL(&c->etcd->calls.refused, c, link);
    etcd_defer(c->etcd);
}

static void tell_refused(struct etcd *e)
{
    struct etcd_calls reported = TAILQ_HEAD_INITIALIZER(reported);
    struct etcd_call *c;
    TAILQ_CONCAT(&reported, &e->calls.refused, link);
    while ((c = TAILQ_FIRST(&reported))) {
        TAILQ_REMOVE(&reported, c, link);
        arena_reset(&e->calls.arena);
        struct store_answer answer = {
            .id = c->id,
            .call = c->kind,
            .outcome = STORE_REFUSED,
            .grpc_status = c->refused_status,
            .text = arena_printf(&e->calls.arena, "%s (nothing was sent)", c->refused_text)};
        call_give_back(e, c);
        e->handlers.on_answer(e->handlers.context, &answer);
    }
}

/* Waiting and sending */

static void call_send(struct etcd *e, struct etcd_call *c)
{
    SCOPED_BUF(url);
    int64_t left_ms = (c->deadline_ns - etcd_now_ns()) / MILLISECOND_NS;
    c->endpoint = e->calls.channel.endpoint;
    event_del(c->expiry);
    TAILQ_INSERT_TAIL(&e->calls.sent, c, link);
    e->calls.sent_count++;
    exchange_aim(c->exchange, etcd_url(e, c->endpoint, methods[c->kind].path, &url),
                 left_ms > 0 ? (long)left_ms : 1);
    channel_send(&e->calls.channel, c->exchange);
}

/* Nothing was heard for a while. */
static bool is_quiet(const struct calls *s)
{
    return etcd_now_ns() - s->last_answer_ns >= ETCD_PROBE_MS * MILLISECOND_NS;
}

/* Sends what can be sent. A cold channel is probed first, so that nothing goes to a peer that does
 * not answer. */
static void pump(struct etcd *e)
{
    struct calls *s = &e->calls;
    struct etcd_call *c;
    /* Another endpoint is in use by now, or the connection may have gone while nobody looked; then
     * each call would open one of its own. */
    if (s->channel.endpoint != e->endpoint || (s->sent_count == 0 && is_quiet(s))) {
        s->channel.warm = false;
    }
    while (s->channel.warm && s->sent_count < CALLS_SENT && (c = TAILQ_FIRST(&s->waiting))) {
        TAILQ_REMOVE(&s->waiting, c, link);
        call_send(e, c);
    }
    if (!s->channel.warm && !TAILQ_EMPTY(&s->waiting)) {
        channel_probe(&s->channel);
    }
}

static void on_expiry(evutil_socket_t fd, short what, void *call)
{
    (void)fd;
    (void)what;
    struct etcd_call *c = call;
    TAILQ_REMOVE(&c->etcd->calls.waiting, c, link);
    c->etcd->calls.open_count--;
    call_refuse(c, DEADLINE_EXCEEDED, "the deadline passed before there was a connection");
}

static void call_wait(struct etcd *e, struct etcd_call *c, int64_t now_ns)
{
    int64_t left_ns = c->deadline_ns - now_ns;
    struct timeval limit = {.tv_sec = left_ns / SECOND_NS,
                            .tv_usec = left_ns % SECOND_NS / MICROSECOND_NS};
    e->calls.open_count++;
    TAILQ_INSERT_TAIL(&e->calls.waiting, c, link);
    evtimer_add(c->expiry, &limit);
}

void etcd_call(struct etcd *e, const struct store_request *request)
{
    assert(request->call < STORE_CALL_COUNT &&
           request->message->descriptor == methods[request->call].request);
    int64_t now_ns = etcd_now_ns();
    int64_t last_ns = now_ns + ETCD_CALL_MAX_MS * MILLISECOND_NS;
    struct etcd_call *c = call_take(e);
    c->id = request->id;
    c->kind = request->call;
    c->deadline_ns = earlier_ns(request->deadline_ns, last_ns);
    exchange_fill(c->exchange, request->message, false);
    if (c->deadline_ns <= now_ns) {
        call_refuse(c, DEADLINE_EXCEEDED, "the deadline had passed");
    } else if (e->calls.open_count >= ETCD_CALLS) {
        call_refuse(c, GRPC_RESOURCE_EXHAUSTED, "too many calls are open");
    } else {
        call_wait(e, c, now_ns);
        pump(e);
    }
}

/* The channel's events */

static void sent_done(struct etcd *e, struct etcd_call *c)
{
    TAILQ_REMOVE(&e->calls.sent, c, link);
    e->calls.sent_count--;
    e->calls.open_count--;
}

static void call_ended(struct etcd_channel *channel, struct exchange *x, CURLcode result)
{
    struct etcd *e = channel->etcd;
    SCOPED_BUF(problem);
    exchange_explain(x, result, &problem);
    sent_done(e, x->owner);
    call_answer(e, x->owner, buf_string(&problem));
    pump(e);
}

static void channel_warm(struct etcd_channel *channel)
{
    channel->etcd->calls.last_answer_ns = etcd_now_ns();
    pump(channel->etcd);
}

static bool calls_waiting(struct etcd_channel *channel)
{
    const struct calls *s = &channel->etcd->calls;
    return s->sent_count > 0 && is_quiet(s);
}

/* What was sent is unknown. What waits is tried at each endpoint, at one more than once for the
 * case that the connection was merely old, and refused when nobody answers. */
static void calls_dead(struct etcd_channel *channel)
{
    struct etcd *e = channel->etcd;
    struct etcd_calls sent = TAILQ_HEAD_INITIALIZER(sent);
    struct etcd_call *c;
    TAILQ_CONCAT(&sent, &e->calls.sent, link);
    e->calls.open_count -= e->calls.sent_count;
    e->calls.sent_count = 0;
    channel_reset(channel);
    while ((c = TAILQ_FIRST(&sent))) {
        TAILQ_REMOVE(&sent, c, link);
        call_answer(e, c, "the connection is silent");
    }
    if (channel->tries > e->endpoint_count) {
        channel->tries = 0;
        while ((c = TAILQ_FIRST(&e->calls.waiting))) {
            TAILQ_REMOVE(&e->calls.waiting, c, link);
            e->calls.open_count--;
            event_del(c->expiry);
            call_refuse(c, GRPC_UNAVAILABLE, channel->problem);
        }
    }
    pump(e);
}

/* Birth and death */

void etcd_calls_init(struct etcd *e)
{
    struct calls *s = &e->calls;
    TAILQ_INIT(&s->waiting);
    TAILQ_INIT(&s->sent);
    TAILQ_INIT(&s->spare);
    TAILQ_INIT(&s->refused);
    arena_init(&s->arena);
    s->channel = (struct etcd_channel){.is_waiting = calls_waiting,
                                  .on_warm = channel_warm,
                                  .on_dead = calls_dead,
                                  .on_done = call_ended};
    channel_init(&s->channel, e);
}

void etcd_calls_deferred(struct etcd *e)
{
    tell_refused(e);
    channel_deferred(&e->calls.channel);
}

static void free_all(struct etcd_calls *list)
{
    struct etcd_call *c;
    while ((c = TAILQ_FIRST(list))) {
        TAILQ_REMOVE(list, c, link);
        call_free(c);
    }
}

void etcd_calls_free(struct etcd *e)
{
    channel_done(&e->calls.channel);
    free_all(&e->calls.waiting);
    free_all(&e->calls.sent);
    free_all(&e->calls.spare);
    free_all(&e->calls.refused);
    arena_done(&e->calls.arena);
}

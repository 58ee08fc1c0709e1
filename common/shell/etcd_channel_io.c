#include "common/shell/etcd_parts_io.h"

#include <event2/event.h>
#include <stdlib.h>

/* More streams than this open another connection; Go's HTTP/2 server allows 250. */
enum { STREAMS_PER_CONNECTION = 200 };

static void exchange_ended(void *context, CURL *easy, CURLcode result)
{
    struct channel *c = context;
    struct exchange *x = exchange_of(easy);
    if (x != c->probe) {
        c->on_done(c, x, result);
        return;
    }
    c->probing = false;
    /* Any status is a sign of life; only silence is none. */
    if (x->trailers.status == GRPC_NO_STATUS) {
        c->dead = true;
        etcd_defer(c->etcd);
    }
}

static void progressed(void *context)
{
    struct channel *c = context;
    if (c->on_progress) {
        c->on_progress(c);
    }
}

static void open_transfers(struct channel *c)
{
    struct transfers_news news = {
        .on_done = exchange_ended, .on_progress = progressed, .context = c};
    c->transfers = transfers_new(c->etcd->base, &news);
    CURLM *multi = transfers_multi(c->transfers);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, c->connections);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)STREAMS_PER_CONNECTION);
}

static void send_probe(struct channel *c)
{
    Etcd__RangeRequest request = ETCD__RANGE_REQUEST__INIT;
    request.key = (ProtobufCBinaryData){.len = 1, .data = (uint8_t *)"-"};
    request.serializable = true;
    request.count_only = true;
    struct buf url;
    buf_init(&url);
    exchange_prepare(c->probe, etcd_url(c->etcd, "/etcdserverpb.KV/Range", &url), &request.base,
                     ETCD_SILENCE_MS, false);
    buf_done(&url);
    c->probing = true;
    transfers_add(c->transfers, c->probe->easy);
}

static void on_tick(evutil_socket_t fd, short what, void *channel)
{
    (void)fd;
    (void)what;
    struct channel *c = channel;
    if (!c->probing && !c->dead && c->is_waiting(c)) {
        send_probe(c);
    }
}

void channel_init(struct channel *c, struct etcd *e)
{
    c->etcd = e;
    c->probe = exchange_new(&e->options, c);
    open_transfers(c);
    c->tick = event_new(e->base, -1, EV_PERSIST, on_tick, c);
    struct timeval period = {.tv_sec = ETCD_PROBE_MS / 1000,
                             .tv_usec = ETCD_PROBE_MS % 1000 * 1000};
    if (!c->tick || event_add(c->tick, &period)) {
        abort();
    }
}

void channel_done(struct channel *c)
{
    transfers_free(c->transfers);
    exchange_free(c->probe);
    event_free(c->tick);
}

void channel_reset(struct channel *c)
{
    transfers_free(c->transfers);
    c->probing = false;
    c->dead = false;
    open_transfers(c);
}

void channel_send(struct channel *c, struct exchange *x)
{
    transfers_add(c->transfers, x->easy);
}

void channel_deferred(struct channel *c)
{
    if (c->dead) {
        c->on_dead(c);
    }
}

#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <bsd/string.h>
#include <event2/event.h>
#include <stdlib.h>

static void probe_ended(struct etcd_channel *c, CURLcode result)
{
    c->probing = false;
    /* Any status is a sign of life; only silence is none. */
    if (c->probe->trailers.status != GRPC_NO_STATUS) {
        c->tries = 0;
        c->warm = true;
        if (c->on_warm) {
            c->on_warm(c);
        }
        return;
    }
    SCOPED_BUF(problem);
    buf_printf(&problem, "etcd %s: ", c->etcd->endpoints[c->endpoint]);
    exchange_explain(c->probe, result, &problem);
    strlcpy(c->problem, buf_string(&problem), sizeof(c->problem));
    c->tries++;
    c->warm = false;
    c->dead = true;
    etcd_endpoint_failed(c->etcd, c->endpoint);
    etcd_defer(c->etcd);
}

static void exchange_ended(void *context, CURL *easy, CURLcode result)
{
    struct etcd_channel *c = context;
    struct exchange *x = exchange_of(easy);
    if (x == c->probe) {
        probe_ended(c, result);
    } else {
        c->warm = x->trailers.status != GRPC_NO_STATUS;
        c->on_done(c, x, result);
    }
}

static void progressed(void *context)
{
    struct etcd_channel *c = context;
    if (c->on_progress) {
        c->on_progress(c);
    }
}

/* More than a channel ever sends at once, so that one connection is enough. */
enum { STREAMS_PER_CONNECTION = 200 };

/* No limit is set on connections: transfers that libcurl 8.14.1 keeps waiting for one are forgotten
 * when it breaks, even their time-outs. */
static void open_loop(struct etcd_channel *c)
{
    struct curl_loop_handlers handlers = {
        .on_done = exchange_ended, .on_turn = progressed, .context = c};
    c->loop = curl_loop_new(c->etcd->base, &handlers);
    curl_multi_setopt(curl_loop_multi(c->loop), CURLMOPT_MAX_CONCURRENT_STREAMS,
                      (long)STREAMS_PER_CONNECTION);
}

static void close_loop(struct etcd_channel *c)
{
    CURL **list = curl_multi_get_handles(curl_loop_multi(c->loop));
    for (size_t i = 0; list && list[i]; i++) {
        curl_multi_remove_handle(curl_loop_multi(c->loop), list[i]);
    }
    curl_free(list);
    curl_loop_free(c->loop);
}

static void add(struct etcd_channel *c, struct exchange *x)
{
    CURLMcode code = curl_multi_add_handle(curl_loop_multi(c->loop), x->easy);
    assert(code == CURLM_OK);
}

/* A handle that failed is not trusted any more. */
static void renew_probe(struct etcd_channel *c)
{
    exchange_free(c->probe);
    c->probe = exchange_new(&c->etcd->options, c);
}

void channel_probe(struct etcd_channel *c)
{
    if (c->probing || c->dead) {
        return;
    }
    Etcd__RangeRequest request = ETCD__RANGE_REQUEST__INIT;
    request.key = (ProtobufCBinaryData){.len = 1, .data = (uint8_t *)(size_t) "-"};
    request.serializable = true;
    request.count_only = true;
    SCOPED_BUF(url);
    if (c->tries) {
        renew_probe(c);
    }
    c->endpoint = c->pinned ? c->endpoint : c->etcd->endpoint;
    exchange_fill(c->probe, &request.base, false);
    exchange_aim(c->probe, etcd_url(c->etcd, c->endpoint, "/etcdserverpb.KV/Range", &url),
                 ETCD_SILENCE_MS);
    c->probing = true;
    add(c, c->probe);
}

static void on_tick(evutil_socket_t fd, short what, void *channel)
{
    (void)fd;
    (void)what;
    struct etcd_channel *c = channel;
    if (c->is_waiting(c)) {
        channel_probe(c);
    }
}

void channel_init(struct etcd_channel *c, struct etcd *e)
{
    c->etcd = e;
    c->probe = exchange_new(&e->options, c);
    open_loop(c);
    c->tick = event_new(e->base, -1, EV_PERSIST, on_tick, c);
    struct timeval period = {.tv_sec = ETCD_PROBE_MS / 1000,
                             .tv_usec = ETCD_PROBE_MS % 1000 * 1000};
    if (!c->tick || event_add(c->tick, &period)) {
        abort();
    }
}

void channel_done(struct etcd_channel *c)
{
    close_loop(c);
    exchange_free(c->probe);
    event_free(c->tick);
}

void channel_reset(struct etcd_channel *c)
{
    close_loop(c);
    c->probing = false;
    c->dead = false;
    c->warm = false;
    open_loop(c);
}

void channel_send(struct etcd_channel *c, struct exchange *x)
{
    add(c, x);
}

void channel_deferred(struct etcd_channel *c)
{
    if (c->dead) {
        c->on_dead(c);
    }
}

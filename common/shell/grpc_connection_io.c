#include "common/shell/grpc_connection_io.h"

#include "common/shell/bev_io.h"
#include "common/shell/http_connection_io.h"
#include "common/shell/tls_io.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The timer of libevent. */
void grpc_timer(struct event *timer, int64_t timeout_ms)
{
    if (timeout_ms <= 0) {
        evtimer_del(timer);
        return;
    }
    struct timeval tv = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    evtimer_add(timer, &tv);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static void connection_free(struct grpc_connection *c)
{
    struct grpc_server *s = c->server;
    struct grpc_call *call;
    assert(!c->inside);
    c->inside = true; /* what the role answers now goes nowhere */
    while ((call = TAILQ_FIRST(&c->calls))) {
        grpc_call_free(call);
    }
    nghttp2_session_del(c->session);
    TAILQ_REMOVE(&s->all, c, link);
    newcomers_remove(&s->newcomers, &c->newcomer);
    event_free(c->timer);
    bufferevent_free(c->bev);
    free(c->unit);
    free(c->name);
    free(c);
    grpc_server_gone(s);
}

void grpc_connection_cut(struct grpc_connection *c)
{
    if (c->inside) {
        c->doomed = true;
    } else {
        connection_free(c);
    }
}

void grpc_connection_calm(struct grpc_connection *c)
{
    assert(c->inside);
    if (nghttp2_session_terminate_session(c->session, NGHTTP2_ENHANCE_YOUR_CALM) != 0) {
        c->doomed = true;
    }
}

void grpc_connection_leave(struct grpc_connection *c)
{
    assert(!c->inside);
    if (!c->session ||
        nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(c->session),
                              NGHTTP2_NO_ERROR, NULL, 0) != 0) {
        connection_free(c);
    } else {
        grpc_connection_flush(c);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

static size_t output_bytes(const struct grpc_connection *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

/* False when the connection has to break off. */
static bool take_output(struct grpc_connection *c)
{
    const uint8_t *data;
    ssize_t size = 1;
    c->inside = true;
    while (size > 0 && output_bytes(c) < GRPC_OUTPUT_BYTES) {
        size = nghttp2_session_mem_send(c->session, &data);
        if (size > 0) {
            bufferevent_write(c->bev, data, (size_t)size);
        }
    }
    c->inside = false;
    return size >= 0 && !c->doomed;
}

/* Rule 5: bytes that OpenSSL holds decrypted are asked for when reading begins again, for no event
 * of the socket tells of them. */
static void set_reading(struct grpc_connection *c)
{
    bool reads = bufferevent_get_enabled(c->bev) & EV_READ;
    bool wanted = output_bytes(c) < GRPC_OUTPUT_BYTES;
    if (reads && !wanted) {
        bufferevent_disable(c->bev, EV_READ);
    } else if (wanted && !reads) {
        bufferevent_enable(c->bev, EV_READ);
        bev_read_again(c->bev);
    }
}

bool grpc_connection_owes(const struct grpc_connection *c)
{
    const struct grpc_call *call;
    TAILQ_FOREACH (call, &c->calls, link) {
        if (call->phase == GRPC_PHASE_ANSWER) {
            return true;
        }
    }
    return output_bytes(c) > 0;
}

void grpc_connection_flush(struct grpc_connection *c)
{
    assert(!c->inside && c->session);
    if (!take_output(c)) {
        connection_free(c);
        return;
    }
    bool over = !nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session);
    if (over && output_bytes(c) == 0) {
        connection_free(c);
        return;
    }
    set_reading(c);
}

static void on_written(struct bufferevent *bev, void *context)
{
    (void)bev;
    struct grpc_connection *c = context;
    if (c->session) {
        grpc_connection_flush(c);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* True when nghttp2 took it; what it has to say of it is in its output. */
static bool give_input(struct grpc_connection *c, const uint8_t *data, size_t size)
{
    c->inside = true;
    ssize_t taken = nghttp2_session_mem_recv(c->session, data, size);
    c->inside = false;
    return taken == (ssize_t)size && !c->doomed;
}

static void on_readable(struct bufferevent *bev, void *context)
{
    struct grpc_connection *c = context;
    struct evbuffer *input = bufferevent_get_input(bev);
    bool good = c->session != NULL;
    size_t size;
    while (good && (size = evbuffer_get_contiguous_space(input))) {
        good = give_input(c, evbuffer_pullup(input, (ev_ssize_t)size), size);
        evbuffer_drain(input, size);
    }
    if (!c->session) { /* nothing can come before TLS is up */
        connection_free(c);
        return;
    }
    if (good) {
        grpc_connection_flush(c);
    } else {
        connection_free(c); /* no HTTP/2 at all: for the rest nghttp2 finds a word */
    }
}

/* ---- The handshake --------------------------------------------------------------------------- */

static bool speaks_h2(const SSL *ssl)
{
    const unsigned char *name;
    unsigned size;
    SSL_get0_alpn_selected(ssl, &name, &size);
    return size == 2 && memcmp(name, "h2", 2) == 0;
}

static void begin_session(struct grpc_connection *c)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, GRPC_STREAMS_MAX},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, GRPC_HEAD_BYTES},
    };
    newcomers_remove(&c->server->newcomers, &c->newcomer);
    if (!speaks_h2(c->ssl)) {
        connection_free(c);
        return;
    }
    tls_peer(c->ssl, &c->unit, &c->name);
    if (nghttp2_session_server_new2(&c->session, c->server->callbacks, c, c->server->options) ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings,
                                sizeof(settings) / sizeof(settings[0]))) {
        abort();
    }
    struct timeval stall = {.tv_sec = c->server->times.stall_ms / 1000,
                            .tv_usec = c->server->times.stall_ms % 1000 * 1000};
    bufferevent_set_timeouts(c->bev, NULL, &stall);
    grpc_connection_flush(c);
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    struct grpc_connection *c = context;
    if (what & BEV_EVENT_CONNECTED) {
        begin_session(c);
        return;
    }
    if (!c->session) {
        tls_tell_failure(c->server->log, c->ssl, newcomer_address(&c->newcomer),
                         bufferevent_get_openssl_error(bev));
    } else if (what & BEV_EVENT_TIMEOUT) {
        log_printf(c->server->log, LOG_INFO_LEVEL, "a reader takes nothing", "name=%s", c->name);
    }
    connection_free(c);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct grpc_connection *c = context;
    if (c->settled) {
        grpc_connection_leave(c); /* idle: it may come again */
    } else {
        connection_free(c);
    }
}

void grpc_connection_new(struct grpc_server *s, int fd)
{
    struct grpc_connection *c = calloc(1, sizeof(*c));
    if (!c || !(c->timer = evtimer_new(s->base, on_timer, c))) {
        abort();
    }
    c->server = s;
    c->ssl = SSL_new(s->ctx);
    c->frames_left = GRPC_FREE_FRAMES_MAX;
    c->counted_ns = shell_now_ns();
    TAILQ_INIT(&c->calls);
    if (!c->ssl || !(c->bev = bufferevent_openssl_socket_new(s->base, fd, c->ssl,
                                                             BUFFEREVENT_SSL_ACCEPTING,
                                                             BEV_OPT_CLOSE_ON_FREE))) {
        abort();
    }
    TAILQ_INSERT_TAIL(&s->all, c, link);
    newcomers_add(&s->newcomers, &c->newcomer, fd, c->ssl);
    s->count++;
    bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
    bufferevent_setcb(c->bev, on_readable, on_written, on_event, c);
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    grpc_timer(c->timer, s->times.handshake_ms);
}

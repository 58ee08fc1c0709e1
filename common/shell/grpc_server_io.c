#include "common/shell/grpc_server_io.h"

#include "common/base/memory.h"
#include "common/shell/grpc_connection_io.h"
#include "common/shell/listen_io.h"
#include "common/shell/tls_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPT_RETRY_MS = 100 };

/* ---- Accepting ------------------------------------------------------------------------------- */

static bool full(void *context)
{
    const struct grpc_server *s = context;
    return s->stopped && !s->closing && !s->freeing;
}

static void cut_newcomer(void *context, struct newcomer *n)
{
    (void)context;
    grpc_connection_cut(
        (struct grpc_connection *)((char *)n - offsetof(struct grpc_connection, newcomer)));
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *context)
{
    (void)address, (void)size;
    struct grpc_server *s = context;
    grpc_connection_new(s, fd);
    if (s->count >= s->max) {
        s->stopped = true;
        evconnlistener_disable(listener);
        newcomers_make_room(&s->newcomers, s->count);
    }
}

void grpc_server_gone(struct grpc_server *s)
{
    s->count--;
    if (s->stopped && s->count < s->max && !s->closing && !s->freeing) {
        s->stopped = false;
        evconnlistener_enable(s->listener);
    }
}

/* A limit of the process or the machine: pause instead of spinning. */
static void accept_failed(struct evconnlistener *listener, void *context)
{
    struct grpc_server *s = context;
    log_printf(s->log, LOG_WARN_LEVEL, "a connection cannot be accepted", "reason=\"%s\"",
               strerror(errno));
    evconnlistener_disable(listener);
    grpc_timer(s->retry, ACCEPT_RETRY_MS);
}

static void retry_accept(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct grpc_server *s = context;
    if (!s->stopped && !s->closing) {
        evconnlistener_enable(s->listener);
    }
}

/* ---- Replies and the end --------------------------------------------------------------------- */

void grpc_server_reply(struct grpc_server *s, const struct reply *reply)
{
    struct grpc_call *call = id_table_remove(&s->by_id, reply->id);
    if (call) {
        grpc_call_reply(call, reply);
    }
}

bool grpc_server_closing(struct grpc_server *s)
{
    struct grpc_connection *c, *next;
    bool first = !s->closing, busy = false;
    s->closing = true;
    evconnlistener_disable(s->listener);
    for (c = TAILQ_FIRST(&s->all); c; c = next) {
        next = TAILQ_NEXT(c, link);
        busy = busy || grpc_connection_owes(c);
        if (first) {
            grpc_connection_leave(c);
        }
    }
    return busy;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Rule 1. A peer that offers nothing at all is found out when the handshake is over. */
static int select_h2(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_size,
                     const unsigned char *offered, unsigned size, void *context)
{
    (void)ssl, (void)context;
    static const unsigned char h2[] = "\x02h2";
    unsigned char *name;
    if (SSL_select_next_proto(&name, ret_size, h2, sizeof(h2) - 1, offered, size) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *ret_name = name;
    return SSL_TLSEXT_ERR_OK;
}

static void set_times(struct grpc_times *t, const struct grpc_times *wanted)
{
    *t = *wanted;
    t->handshake_ms = t->handshake_ms ? t->handshake_ms : GRPC_HANDSHAKE_MS;
    t->request_ms = t->request_ms ? t->request_ms : GRPC_REQUEST_MS;
    t->idle_ms = t->idle_ms ? t->idle_ms : GRPC_IDLE_MS;
    t->stall_ms = t->stall_ms ? t->stall_ms : GRPC_STALL_MS;
}

static void start(struct grpc_server *s, int fd)
{
    if (nghttp2_session_callbacks_new(&s->callbacks) || nghttp2_option_new(&s->options)) {
        abort();
    }
    grpc_stream_callbacks(s->callbacks);
    nghttp2_option_set_no_closed_streams(s->options, 1);
    nghttp2_option_set_stream_reset_rate_limit(s->options, GRPC_RESETS_MAX, GRPC_RESETS_A_SECOND);
    s->listener = evconnlistener_new(s->base, on_accept, s,
                                     LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
    s->retry = evtimer_new(s->base, retry_accept, s);
    assert(s->listener && s->retry);
    evconnlistener_set_error_cb(s->listener, accept_failed);
}

int grpc_server_new(const struct grpc_server_config *config, struct event_base *base,
                    struct log *log, const struct grpc_server_handlers *handlers,
                    struct grpc_server **ret_server, struct err *err)
{
    struct grpc_server *s = mem_zeroed(sizeof(*s));
    s->base = base;
    s->log = log;
    s->handlers = *handlers;
    s->max = config->connections_max ? config->connections_max : GRPC_CONNECTIONS_MAX;
    set_times(&s->times, &config->times);
    TAILQ_INIT(&s->all);
    id_table_init(&s->by_id);
    newcomers_init(&s->newcomers, base, log,
                   &(struct newcomers_handlers){.full = full, .cut = cut_newcomer, .context = s});
    int fd;
    int r = tls_server_new(&config->tls, &s->ctx, err);
    if (r == 0) {
        SSL_CTX_set_alpn_select_cb(s->ctx, select_h2, NULL);
        r = listen_open("Locket address", config->listen, (unsigned)s->times.stall_ms, &fd,
                        &s->port, err);
    }
    if (r < 0) {
        SSL_CTX_free(s->ctx);
        id_table_done(&s->by_id);
        newcomers_done(&s->newcomers);
        free(s);
        return r;
    }
    start(s, fd);
    *ret_server = s;
    return 0;
}

void grpc_server_free(struct grpc_server *s)
{
    struct grpc_connection *c;
    if (!s) {
        return;
    }
    s->freeing = true;
    while ((c = TAILQ_FIRST(&s->all))) {
        grpc_connection_cut(c);
    }
    newcomers_done(&s->newcomers);
    evconnlistener_free(s->listener);
    event_free(s->retry);
    nghttp2_session_callbacks_del(s->callbacks);
    nghttp2_option_del(s->options);
    id_table_done(&s->by_id);
    SSL_CTX_free(s->ctx);
    free(s);
}

int grpc_server_port(const struct grpc_server *s)
{
    return s->port;
}

unsigned grpc_server_connections(const struct grpc_server *s)
{
    return s->count;
}

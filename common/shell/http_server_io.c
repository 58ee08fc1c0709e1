#include "common/shell/http_server_io.h"

#include "common/base/memory.h"
#include "common/shell/http_connection_io.h"
#include "common/shell/listen_io.h"
#include "common/shell/tls_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ACCEPT_RETRY_MS = 100 };

/* ---- Accepting ----------------------------------------------------------------------------- */

/* At the descriptor limit accept() fails and the listening socket stays readable: a busy loop
 * (rule 4). So accepting stops before. */
static unsigned connection_limit(unsigned wanted, unsigned others)
{
    struct rlimit files = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t spare = HTTP_SPARE_FILES + others;
    rlim_t limit = files.rlim_cur > spare ? files.rlim_cur - spare : 1;
    if (limit > 1000 * 1000) {
        limit = 1000 * 1000;
    }
    return wanted && wanted < limit ? wanted : (unsigned)limit;
}

static bool full(void *context)
{
    const struct http_server *s = context;
    return s->stopped && !s->closing && !s->freeing;
}

static void cut_newcomer(void *context, struct newcomer *n)
{
    (void)context;
    connection_cut((struct connection *)((char *)n - offsetof(struct connection, newcomer)));
}

void server_count(struct http_server *s, int change)
{
    assert(change > 0 || s->count > 0);
    s->count += (unsigned)change;
    if (s->closing || s->freeing) {
        return;
    }
    if (!s->stopped && s->count >= s->max) {
        s->stopped = true;
        evconnlistener_disable(s->listener);
        newcomers_make_room(&s->newcomers, s->count);
    } else if (s->stopped && s->count < s->max) {
        s->stopped = false;
        evconnlistener_enable(s->listener);
    }
}

/* evhttp has made itself the context of the listener's callbacks, so the error callback finds its
 * server here. */
static LIST_HEAD(, http_server) servers = LIST_HEAD_INITIALIZER(servers);

/* accept() failed, by a limit that we do not count (the machine's, or files of others in this
 * process): pause instead of spinning. */
static void accept_failed(struct evconnlistener *listener, void *evhttp)
{
    struct http_server *s = LIST_FIRST(&servers);
    while (s->http != evhttp) {
        s = LIST_NEXT(s, siblings);
    }
    struct timeval pause = {.tv_usec = ACCEPT_RETRY_MS * 1000};
    log_printf(s->log, LOG_WARN_LEVEL, "a connection cannot be accepted", "reason=\"%s\"",
               strerror(errno));
    evconnlistener_disable(listener);
    evtimer_add(s->retry, &pause);
}

static void retry_accept(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct http_server *s = context;
    if (!s->stopped && !s->closing) {
        evconnlistener_enable(s->listener);
    }
}

/* ---- Replies ------------------------------------------------------------------------------- */

void http_server_reply(struct http_server *s, const struct reply *reply)
{
    struct connection *c = id_table_get(&s->by_id, reply->id);
    if (!c) {
        cursor_free(reply->cursor);
        return;
    }
    assert(c->phase == PHASE_ROLE);
    if (!reply->cursor) {
        id_table_remove(&s->by_id, c->id);
        c->id = 0;
    }
    connection_answer(c, reply);
}

void http_server_wake(struct http_server *s, const char *name)
{
    struct channel *channel = map_remove(&s->channels, name);
    if (!channel) {
        return;
    }
    struct connection *c;
    while ((c = TAILQ_FIRST(&channel->waiting))) {
        TAILQ_REMOVE(&channel->waiting, c, line);
        c->channel = NULL;
        c->runnable = true;
        TAILQ_INSERT_TAIL(&s->runnable, c, line);
    }
    free(channel);
    event_active(s->pump, EV_TIMEOUT, 0);
}

static void on_pump(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct http_server *s = context;
    struct connection *c;
    while ((c = TAILQ_FIRST(&s->runnable))) {
        TAILQ_REMOVE(&s->runnable, c, line);
        c->runnable = false;
        /* What the reader has not taken yet goes first; then taken() asks. */
        connection_pump(c);
    }
}

bool http_server_closing(struct http_server *s)
{
    const struct connection *c;
    s->closing = true;
    evconnlistener_disable(s->listener);
    TAILQ_FOREACH (c, &s->all, all) {
        if (c->phase == PHASE_ANSWER && evbuffer_get_length(bufferevent_get_output(c->bev))) {
            return true;
        }
    }
    return false;
}

/* ---- Beginning and ending ------------------------------------------------------------------ */

static void set_times(struct http_times *t, const struct http_times *wanted)
{
    *t = *wanted;
    t->handshake_ms = t->handshake_ms ? t->handshake_ms : HTTP_HANDSHAKE_MS;
    t->head_ms = t->head_ms ? t->head_ms : HTTP_HEAD_MS;
    t->body_ms = t->body_ms ? t->body_ms : HTTP_BODY_MS;
    t->idle_ms = t->idle_ms ? t->idle_ms : HTTP_IDLE_MS;
    t->stall_ms = t->stall_ms ? t->stall_ms : HTTP_STALL_MS;
    t->linger_ms = t->linger_ms ? t->linger_ms : HTTP_LINGER_MS;
}

/* Only what evhttp does before it has told us of a request; everything else has been taken from it
 * by connection_accept(). */
static void never_called(struct evhttp_request *req, void *context)
{
    (void)context;
    evhttp_send_error(req, HTTP_INTERNAL, NULL);
}

static void start(struct http_server *s, int fd)
{
    s->http = evhttp_new(s->base);
    s->listener = evconnlistener_new(s->base, NULL, NULL,
                                     LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
    s->retry = evtimer_new(s->base, retry_accept, s);
    s->pump = event_new(s->base, -1, 0, on_pump, s);
    assert(s->http && s->listener && s->retry && s->pump);
    evhttp_set_bevcb(s->http, connection_accept, s);
    evhttp_set_gencb(s->http, never_called, s);
    evhttp_set_max_headers_size(s->http, HTTP_HEAD_BYTES);
    evhttp_set_default_content_type(s->http, NULL);
    if (!evhttp_bind_listener(s->http, s->listener)) {
        abort();
    }
    evconnlistener_set_error_cb(s->listener, accept_failed);
}

int http_server_new(const struct http_server_config *config, struct event_base *base,
                    struct log *log, const struct http_server_handlers *handlers,
                    struct http_server **ret_server, struct err *err)
{
    struct http_server *s = mem_zeroed(sizeof(*s));
    s->base = base;
    s->log = log;
    s->handlers = *handlers;
    s->last_id = config->ids_above;
    s->ssl_new = config->ssl_new ? config->ssl_new : SSL_new;
    s->max = connection_limit(config->connections_max, config->others);
    set_times(&s->times, &config->times);
    TAILQ_INIT(&s->all);
    TAILQ_INIT(&s->runnable);
    id_table_init(&s->by_id);
    map_init(&s->channels);
    newcomers_init(&s->newcomers, base, log,
                   &(struct newcomers_handlers){.full = full, .cut = cut_newcomer, .context = s});
    int fd;
    int r = tls_server_new(&config->tls, &s->ctx, err);
    if (r == 0) {
        r = listen_open("listen address", config->listen, (unsigned)s->times.stall_ms, &fd,
                        &s->port, err);
    }
    if (r < 0) {
        SSL_CTX_free(s->ctx);
        newcomers_done(&s->newcomers);
        free(s);
        return r;
    }
    start(s, fd);
    LIST_INSERT_HEAD(&servers, s, siblings);
    *ret_server = s;
    return 0;
}

void http_server_free(struct http_server *s)
{
    struct connection *c, *next;
    if (!s) {
        return;
    }
    s->freeing = true;
    for (c = TAILQ_FIRST(&s->all); c; c = next) {
        next = TAILQ_NEXT(c, all);
        if (c->evcon) {
            connection_cut(c);
        }
    }
    evhttp_free(s->http);
    LIST_REMOVE(s, siblings);
    assert(TAILQ_EMPTY(&s->all));
    newcomers_done(&s->newcomers);
    event_free(s->retry);
    event_free(s->pump);
    map_done(&s->channels, free);
    id_table_done(&s->by_id);
    SSL_CTX_free(s->ctx);
    free(s);
}

int http_server_port(const struct http_server *s)
{
    return s->port;
}

unsigned http_server_connections(const struct http_server *s)
{
    return s->count;
}

#include "common/shell/http_connection_io.h"

#include "common/base/memory.h"
#include "common/shell/bev_io.h"
#include "common/shell/tls_io.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <event2/keyvalq_struct.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

int64_t shell_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void connection_deadline(struct connection *c, int timeout_ms)
{
    if (!timeout_ms) {
        evtimer_del(c->timer);
        return;
    }
    struct timeval tv = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    evtimer_add(c->timer, &tv);
}

static void enter(struct connection *c, enum phase phase, int timeout_ms)
{
    if (phase != PHASE_HANDSHAKE) {
        newcomers_remove(&c->server->newcomers, &c->newcomer);
    }
    c->phase = phase;
    connection_deadline(c, timeout_ms);
}

/* ---- The buffers --------------------------------------------------------------------------- */

/* libevent leaves bytes that OpenSSL holds decrypted where they are when the input buffer reaches
 * its high watermark, and hears of them no more. So they are asked for when the buffer has room. */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *context)
{
    struct connection *c = context;
    (void)input;
    if (info->n_deleted && SSL_pending(c->ssl)) {
        bev_read_again(c->bev);
    }
    if (!info->n_added) {
        return;
    }
    if (c->phase == PHASE_HANDSHAKE || c->phase == PHASE_IDLE) {
        enter(c, PHASE_HEAD, c->server->times.head_ms);
    } else if (c->phase == PHASE_STREAM && c->endless && !c->cut) {
        c->cut = true; /* behaviour.md 16.1: bytes from the reader end its stream */
        event_active(c->adopt, EV_TIMEOUT, 0);
    }
}

static void on_output(struct evbuffer *output, const struct evbuffer_cb_info *info, void *context)
{
    struct connection *c = context;
    (void)output;
    if (info->n_deleted) {
        c->progress_ns = shell_now_ns();
    }
}

/* ---- Ending -------------------------------------------------------------------------------- */

void connection_forget(struct connection *c)
{
    free(c->path);
    free(c->query);
    c->path = c->query = NULL;
    buf_done(&c->body);
    buf_init(&c->body);
    c->too_large = c->head_seen = false;
    c->refuse_status = 0;
    c->request = NULL;
}

static void connection_free(struct connection *c)
{
    struct http_server *s = c->server;
    TAILQ_REMOVE(&s->all, c, all);
    newcomers_remove(&s->newcomers, &c->newcomer);
    event_free(c->adopt);
    event_free(c->timer);
    if (c->drain) {
        event_free(c->drain);
    }
    connection_forget(c);
    free(c->unit);
    free(c->name);
    free(c);
    server_count(s, -1);
}

/* evhttp says that the connection is going; its request goes with it. Its buffers may live on for a
 * moment, in the middle of a write: they must not call back any more. */
static void closed(struct evhttp_connection *evcon, void *context)
{
    (void)evcon;
    struct connection *c = context;
    struct http_server *s = c->server;
    uint64_t id = c->id;
    if (c->ssl && !SSL_is_init_finished(c->ssl) && !s->freeing) {
        tls_tell_failure(s->log, c->ssl, newcomer_address(&c->newcomer),
                         bufferevent_get_openssl_error(c->bev));
    }
    evbuffer_remove_cb(bufferevent_get_input(c->bev), on_input, c);
    evbuffer_remove_cb(bufferevent_get_output(c->bev), on_output, c);
    connection_end_stream(c);
    if (id) {
        id_table_remove(&s->by_id, id);
    }
    connection_free(c);
    if (id && !s->freeing) {
        s->handlers.on_hangup(s->handlers.context, id);
    }
}

void connection_cut(struct connection *c)
{
    evhttp_connection_free(c->evcon); /* calls closed() */
}

/* What comes after the last answer is thrown away undecrypted, so that the peer gets that answer
 * and not a reset, until it hangs up or the bounds are reached. */
static void on_drain(evutil_socket_t fd, short what, void *context)
{
    static char nothing[64 * 1024];
    struct connection *c = context;
    (void)what;
    ssize_t n = recv(fd, nothing, sizeof(nothing), MSG_DONTWAIT);
    if (n > 0) {
        c->drained += (size_t)n;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || c->drained > HTTP_DRAIN_BYTES) {
        connection_cut(c);
    }
}

static void linger(struct connection *c)
{
    evutil_socket_t fd = bufferevent_getfd(c->bev);
    bufferevent_setcb(c->bev, NULL, NULL, NULL, c->evcon);
    bufferevent_disable(c->bev, EV_READ | EV_WRITE);
    ERR_clear_error();
    SSL_shutdown(c->ssl);
    ERR_clear_error();
    shutdown(fd, SHUT_WR);
    enter(c, PHASE_LINGER, c->server->times.linger_ms);
    c->drained = 0;
    c->drain = event_new(c->server->base, fd, EV_READ | EV_PERSIST, on_drain, c);
    if (!c->drain || event_add(c->drain, NULL) < 0) {
        abort();
    }
}

static int left_ms(int64_t since_ns, int limit_ms)
{
    int64_t left_ns = since_ns + limit_ms * MILLISECOND_NS - shell_now_ns();
    return left_ns <= 0 ? 0 : (int)(left_ns / MILLISECOND_NS) + 1;
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct connection *c = context;
    if (c->phase == PHASE_HANDSHAKE && SSL_is_init_finished(c->ssl)) {
        enter(c, PHASE_IDLE, c->server->times.idle_ms); /* kept warm for later */
        return;
    }
    if (c->phase == PHASE_ANSWER || c->phase == PHASE_STREAM) {
        if (evbuffer_get_length(bufferevent_get_output(c->bev)) == 0) {
            return; /* has taken all that there is: a quiet stream may last */
        }
        int left = left_ms(c->progress_ns, c->server->times.stall_ms);
        if (left) {
            connection_deadline(c, left);
            return;
        }
        log_printf(c->server->log, LOG_INFO_LEVEL, "a reader takes nothing", "path=%s name=%s",
                   c->path ? c->path : "", c->name ? c->name : "");
    }
    connection_cut(c);
}

/* ---- A request ----------------------------------------------------------------------------- */

static void learn_peer(struct connection *c)
{
    if (!c->unit) {
        tls_peer(c->ssl, &c->unit, &c->name);
    }
}

static const char *header(const struct evhttp_request *req, const char *name)
{
    const char *value = evhttp_find_header(req->input_headers, name);
    return value ? value : "";
}

static size_t count_headers(const struct evhttp_request *req, const char *name)
{
    size_t count = 0;
    const struct evkeyval *h;
    TAILQ_FOREACH (h, req->input_headers, next) {
        count += strcasecmp(h->key, name) == 0;
    }
    return count;
}

static void remove_headers(struct evhttp_request *req, const char *name)
{
    while (evhttp_remove_header(req->input_headers, name) == 0) {
    }
}

/* Length of the body that the head announces; false when the head leaves it in doubt. Doubt would
 * let one side take for a body what the other takes for a request. */
static bool framing(const struct evhttp_request *req, bool *ret_chunked, uint64_t *ret_length)
{
    enum { DIGITS_MAX = 18 };
    size_t lengths = count_headers(req, "Content-Length");
    size_t encodings = count_headers(req, "Transfer-Encoding");
    const char *length = header(req, "Content-Length");
    *ret_chunked = encodings > 0;
    *ret_length = 0;
    if (encodings) {
        return encodings == 1 && !lengths &&
               strcasecmp(header(req, "Transfer-Encoding"), "chunked") == 0;
    }
    if (lengths) {
        size_t digits = strspn(length, "0123456789");
        if (lengths > 1 || digits == 0 || digits > DIGITS_MAX || length[digits]) {
            return false;
        }
        *ret_length = strtoull(length, NULL, 10);
    }
    return true;
}

/* A path, "*", or a whole URL; evhttp takes anything between the first and the last space. */
static bool target_good(const struct evhttp_request *req)
{
    const char *uri = req->uri;
    return !strchr(uri, ' ') && (*uri == '/' || strcmp(uri, "*") == 0 ||
                                 evhttp_uri_get_scheme(req->uri_elems) ||
                                 req->type == EVHTTP_REQ_CONNECT);
}

/* evhttp reads no body for these, so what would be one must not be taken for the next request. */
static bool never_has_body(const struct evhttp_request *req)
{
    switch (req->type) {
    case EVHTTP_REQ_GET:
    case EVHTTP_REQ_POST:
    case EVHTTP_REQ_PUT:
    case EVHTTP_REQ_DELETE:
    case EVHTTP_REQ_OPTIONS:
    case EVHTTP_REQ_PATCH:
    case EVHTTP_REQ_CONNECT:
        return false;
    default:
        return true;
    }
}

/* Makes evhttp hand the request on without reading a body. */
static void skip_body(struct connection *c, struct evhttp_request *req)
{
    remove_headers(req, "Content-Length");
    remove_headers(req, "Transfer-Encoding");
    remove_headers(req, "Expect");
    c->close = true;
}

/* evhttp has read the head of a request: decides how its body is taken. */
static int head_read(struct evhttp_request *req, void *context)
{
    struct connection *c = context;
    struct http_server *s = c->server;
    bool chunked = false;
    uint64_t length = 0;
    const char *expect = header(req, "Expect");
    const char *path = evhttp_uri_get_path(req->uri_elems);
    c->head_seen = true;
    c->path = mem_text(path && *path ? path : "/");
    const char *query = evhttp_uri_get_query(req->uri_elems);
    c->query = mem_text(query ? query : "");
    c->body_limit = s->handlers.body_limit(s->handlers.context, c->path);
    enter(c, PHASE_BODY, s->times.body_ms);
    if (!target_good(req) || !framing(req, &chunked, &length)) {
        c->refuse_status = 400;
        skip_body(c, req);
    } else if (*expect && strcasecmp(expect, "100-continue") != 0) {
        c->refuse_status = 417;
        skip_body(c, req);
    } else if (length > c->body_limit) {
        c->too_large = true;
        skip_body(c, req);
    } else if (never_has_body(req) && (chunked || length)) {
        skip_body(c, req);
    }
    evhttp_connection_set_max_body_size(c->evcon, (ev_ssize_t)c->body_limit);
    /* evhttp wants a chunk whole in the input buffer. */
    bufferevent_setwatermark(c->bev, EV_READ, 0, HTTP_INPUT_BYTES + (chunked ? c->body_limit : 0));
    return 0;
}

static void body_piece_read(struct evhttp_request *req, void *context)
{
    struct connection *c = context;
    size_t size = evbuffer_get_length(req->input_buffer);
    assert(c->body.size + size <= c->body_limit);
    buf_reserve(&c->body, size);
    evbuffer_remove(req->input_buffer, c->body.data + c->body.size, size);
    c->body.size += size;
}

static const char *method_name(const struct evhttp_request *req)
{
    switch (req->type) {
    case EVHTTP_REQ_GET: return "GET";
    case EVHTTP_REQ_POST: return "POST";
    case EVHTTP_REQ_HEAD: return "HEAD";
    case EVHTTP_REQ_PUT: return "PUT";
    case EVHTTP_REQ_DELETE: return "DELETE";
    case EVHTTP_REQ_OPTIONS: return "OPTIONS";
    case EVHTTP_REQ_TRACE: return "TRACE";
    case EVHTTP_REQ_CONNECT: return "CONNECT";
    case EVHTTP_REQ_PATCH: return "PATCH";
    default: return "UNKNOWN"; /* evhttp does not keep the word */
    }
}

static void give_to_role(struct connection *c, struct evhttp_request *req)
{
    struct http_server *s = c->server;
    char *type = mem_text(header(req, "Content-Type"));
    type[strcspn(type, "; \t")] = 0;
    learn_peer(c);
    struct request r = {
        .id = ++s->last_id,
        .method = method_name(req),
        .path = c->path,
        .query = c->query,
        .trace_id = header(req, "X-Vcap-Request-Id"),
        .accept = header(req, "Accept"),
        .content_type = type,
        .if_none_match = header(req, "If-None-Match"),
        .peer = {.unit = c->unit, .name = c->name},
        .too_large = c->too_large,
    };
    /* The connection may be gone when on_request returns, and with it what it owns. */
    struct buf body = c->body;
    buf_init(&c->body);
    if (!c->too_large) {
        r.body = buf_bytes(&body);
    }
    c->id = r.id;
    id_table_add(&s->by_id, r.id, c);
    s->handlers.on_request(s->handlers.context, &r);
    buf_done(&body);
    free(type);
}

/* While the role thinks, evhttp would not hear of a hang-up, and would end the process when bytes
 * of a next request come. So we read on, up to the high watermark, and handle nothing of it. */
static void watch_for_hangup(struct connection *c)
{
    bufferevent_data_cb on_write;
    bufferevent_event_cb on_event;
    void *context;
    bufferevent_getcb(c->bev, NULL, &on_write, &on_event, &context);
    bufferevent_setcb(c->bev, NULL, on_write, on_event, context);
    bufferevent_setwatermark(c->bev, EV_READ, 0, HTTP_INPUT_BYTES);
    bufferevent_enable(c->bev, EV_READ);
}

/* evhttp has read a request, or has found it malformed (no uri then). */
static void request_read(struct evhttp_request *req, void *context)
{
    struct connection *c = context;
    bool failed = !req->uri;
    watch_for_hangup(c);
    enter(c, PHASE_ROLE, 0);
    if (failed && !(c->head_seen && req->response_code == HTTP_ENTITYTOOLARGE)) {
        connection_refuse(c, 400);
        return;
    }
    if (failed) { /* a chunked body that is too large or no chunked body at all */
        c->too_large = true;
        c->close = true;
    }
    if (c->refuse_status) {
        connection_refuse(c, c->refuse_status);
        return;
    }
    give_to_role(c, req);
}

/* ---- Taking hold of evhttp's connection and requests --------------------------------------- */

/* evhttp 2.1 tells nobody of a server's request before it has read all of it, which is too late to
 * bound its body. But its requests stand in a queue, and a request of our own that joins the queue
 * for a moment (both through the public interface) has the one before it as its neighbour. */
static struct evhttp_request *present_request(struct evhttp_connection *evcon)
{
    struct evhttp_request *probe = evhttp_request_new(NULL, NULL);
    if (!probe || evhttp_make_request(evcon, probe, EVHTTP_REQ_GET, "/") < 0) {
        abort();
    }
    char *link = (char *)probe->next.tqe_prev;
    struct evhttp_request *before =
        (void *)(link - offsetof(struct evhttp_request, next.tqe_next));
    evhttp_cancel_request(probe);
    return before;
}

static void take_request(struct connection *c)
{
    struct evhttp_request *req = present_request(c->evcon);
    assert(req->evcon == c->evcon && req->kind == EVHTTP_REQUEST && !req->uri);
    c->request = req;
    c->close = false;
    req->cb = request_read;
    req->cb_arg = c;
    evhttp_request_set_header_cb(req, head_read);
    evhttp_request_set_chunked_cb(req, body_piece_read);
}

/* A connection that evhttp has just made: from here on it is ours. False when it is gone. */
static bool adopt(struct connection *c)
{
    void *evcon;
    struct bufferevent *bev = c->bev;
    bufferevent_getcb(bev, NULL, NULL, NULL, &evcon);
    if (!evcon) { /* evhttp could not use the socket */
        connection_free(c);
        bufferevent_decref(bev);
        return false;
    }
    c->evcon = evcon;
    evhttp_connection_set_closecb(evcon, closed, c);
    bufferevent_decref(bev);
    if (!c->ssl) {
        log_printf(c->server->log, LOG_ERROR_LEVEL, "a connection without TLS is refused", "%s",
                   "reason=\"no memory for it\"");
        connection_cut(c);
        return false;
    }
    bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    bufferevent_setwatermark(bev, EV_READ, 0, HTTP_INPUT_BYTES);
    evbuffer_add_cb(bufferevent_get_input(bev), on_input, c);
    evbuffer_add_cb(bufferevent_get_output(bev), on_output, c);
    enter(c, PHASE_HANDSHAKE, c->server->times.handshake_ms);
    newcomers_add(&c->server->newcomers, &c->newcomer, bufferevent_getfd(bev), c->ssl);
    return true;
}

/* Runs before evhttp reads from the socket: after accept, and after each answer. */
static void on_adopt(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct connection *c = context;
    if (!c->evcon) {
        if (!adopt(c)) {
            return;
        }
    } else if (c->cut) {
        connection_cut(c);
        return;
    } else if (c->close) {
        linger(c);
        return;
    } else if (evbuffer_get_length(bufferevent_get_input(c->bev))) {
        enter(c, PHASE_HEAD, c->server->times.head_ms); /* the next one came early */
    } else {
        enter(c, PHASE_IDLE, c->server->times.idle_ms);
    }
    take_request(c);
}

struct bufferevent *connection_accept(struct event_base *base, void *server)
{
    struct http_server *s = server;
    struct connection *c = calloc(1, sizeof(*c));
    if (!c || !(c->adopt = event_new(base, -1, 0, on_adopt, c)) ||
        !(c->timer = evtimer_new(base, on_deadline, c))) {
        abort();
    }
    c->server = s;
    buf_init(&c->body);
    c->ssl = s->ssl_new(s->ctx);
    if (c->ssl) {
        c->bev = bufferevent_openssl_socket_new(base, -1, c->ssl, BUFFEREVENT_SSL_ACCEPTING,
                                                BEV_OPT_CLOSE_ON_FREE);
    } else {
        /* No bufferevent at all would make evhttp serve plain text; adopt() ends this one. */
        c->bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    }
    assert(c->bev);
    bufferevent_incref(c->bev);
    TAILQ_INSERT_TAIL(&s->all, c, all);
    server_count(s, 1);
    event_active(c->adopt, EV_TIMEOUT, 0);
    return c->bev;
}

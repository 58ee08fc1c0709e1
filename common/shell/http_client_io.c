#include "common/shell/http_client_io.h"

#include "common/base/memory.h"
#include "common/shell/curl_loop_io.h"
#include "common/shell/id_table.h"
#include "common/shell/names_io.h"

#include <arpa/inet.h>
#include <assert.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

/* One call or subscription. */
struct transfer {
    LIST_ENTRY(transfer) all;
    TAILQ_ENTRY(transfer) turn; /* in client->ready while `is_ready` */
    struct http_client *client;
    uint64_t id;
    bool endless; /* a subscription */
    bool pulled;  /* its bytes are taken by http_client_take() */
    bool paused;  /* pulled: libcurl reads no more until some are taken */
    bool outside; /* to a user's URL */
    bool location; /* outside: the head that is coming in says where to go instead */
    bool answered; /* outside: a head has come that is the answer */
    bool is_ready; /* has events to hand on when libcurl has returned */
    bool head_due; /* of a subscription: its head has come and is not reported yet */
    bool too_large;
    bool in_multi;
    bool listed; /* in client->by_id */
    bool full; /* too many calls: refused without trying */
    bool ended;
    CURLcode result; /* once ended */
    CURL *easy;
    struct curl_slist *headers;
    struct event *deadline;
    /* A name that libcurl asks for is looked up by us, and the transfer begun again with the
     * answer. */
    bool name_wanted;
    unsigned names_left; /* so many more of HTTP_NAMES_MAX */
    struct name_wait name;
    char *host, *port;
    struct curl_slist *addresses; /* for libcurl */
    long sent_before;             /* bytes of requests before it was begun again */
    long redirects;               /* likewise, that were followed */
    struct buf body; /* of the request */
    size_t body_sent;
    struct buf data; /* of the answer, not reported yet */
    size_t body_skipped; /* outside: of the answer */
    char *etag;
    char error[CURL_ERROR_SIZE];
};

LIST_HEAD(transfer_list, transfer);
TAILQ_HEAD(transfer_queue, transfer);

struct http_client {
    struct event_base *base;
    struct curl_loop *calls;   /* pooled connections */
    struct curl_loop *streams; /* a connection each */
    struct curl_loop *outside; /* to users' servers */
    struct names *names, *outside_names; /* users' names hold up no peer's */
    struct event *turn;        /* tells what is ready, from the loop */
    struct http_client_handlers handlers;
    struct tls_files files;
    struct id_table by_id;
    struct transfer_list all;
    struct transfer_queue ready;
    struct transfer *telling; /* the subscription whose event the role looks at, NULL once freed */
};

static CURLM *multi_of(const struct transfer *t)
{
    struct http_client *c = t->client;
    return curl_loop_multi(t->outside ? c->outside : t->endless ? c->streams : c->calls);
}

/* Its id is free again: the role may use it for another. */
static void unlist(struct transfer *t)
{
    if (t->listed) {
        id_table_remove(&t->client->by_id, t->id);
        t->listed = false;
    }
}

static void transfer_free(struct transfer *t)
{
    struct http_client *c = t->client;
    if (t->in_multi) {
        curl_multi_remove_handle(multi_of(t), t->easy);
    }
    if (t->is_ready) {
        TAILQ_REMOVE(&c->ready, t, turn);
    }
    LIST_REMOVE(t, all);
    unlist(t);
    if (c->telling == t) {
        c->telling = NULL;
    }
    names_cancel(&t->name);
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->addresses);
    free(t->host);
    free(t->port);
    event_free(t->deadline);
    buf_done(&t->body);
    buf_done(&t->data);
    free(t->etag);
    free(t);
}

/* ---- Telling ------------------------------------------------------------------------------- */

/* libcurl may not be entered from its own callbacks and roles not from their own effects, so events
 * wait in `ready` until the loop comes round. */
static void make_ready(struct transfer *t)
{
    if (!t->is_ready) {
        t->is_ready = true;
        TAILQ_INSERT_TAIL(&t->client->ready, t, turn);
    }
    event_active(t->client->turn, EV_TIMEOUT, 0);
}

static const char *reason(const struct transfer *t)
{
    if (t->full) {
        return "too many open calls";
    }
    if (t->too_large) {
        return "the answer is too large";
    }
    return t->error[0] ? t->error : curl_easy_strerror(t->result);
}

/* Content type without its parameters, in `out`. */
static const char *plain_type(CURL *easy, char *out, size_t size)
{
    char *type = NULL;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    size_t n = type ? strcspn(type, "; \t") : 0;
    if (n >= size) {
        n = 0;
    }
    memcpy(out, type ? type : "", n);
    out[n] = 0;
    return out;
}

static enum call_fault fault(CURLcode result)
{
    switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
        return CALL_FAULT_TIMED_OUT;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return CALL_FAULT_CLOSED;
    default:
        return CALL_FAULT_OTHER;
    }
}

/* Gives the transfer's end and frees it. */
static void tell_response(struct transfer *t)
{
    struct http_client *c = t->client;
    long status = 0, sent = 0;
    char type[128];
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
    struct response r = {.id = t->id, .content_type = "", .etag = "", .text = ""};
    if (t->answered || (t->result == CURLE_OK && !t->full)) {
        r.outcome = CALL_ANSWERED;
        r.status = (int)status;
        r.content_type = plain_type(t->easy, type, sizeof(type));
        r.etag = t->etag ? t->etag : "";
        r.body = buf_bytes(&t->data);
    } else {
        r.outcome = t->sent_before + sent > 0 ? CALL_UNKNOWN : CALL_REFUSED;
        r.fault = fault(t->result);
        r.text = reason(t);
    }
    unlist(t);
    c->handlers.on_response(c->handlers.context, &r);
    transfer_free(t);
}

/* Hands one event to the role; false when the role cancelled the subscription thereby. */
static bool hand_on(struct transfer *t, const struct stream_event *n)
{
    struct http_client *c = t->client;
    c->telling = t;
    c->handlers.on_stream(c->handlers.context, n);
    bool alive = c->telling != NULL;
    c->telling = NULL;
    return alive;
}

static bool tell_data(struct transfer *t, const struct stream_event *head)
{
    struct buf held = t->data;
    buf_init(&t->data);
    bool alive = true;
    for (size_t at = 0; alive && at < held.size; at += HTTP_STREAM_BYTES) {
        size_t left = held.size - at;
        struct stream_event n = *head;
        n.data.data = held.data + at;
        n.data.size = left < HTTP_STREAM_BYTES ? left : HTTP_STREAM_BYTES;
        alive = hand_on(t, &n);
    }
    buf_done(&held);
    return alive;
}

/* Hands on all events of a subscription; frees it after the last. */
static void tell_stream(struct transfer *t)
{
    struct http_client *c = t->client;
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    struct stream_event n = {.id = t->id, .status = (int)status, .text = ""};
    if (t->head_due) {
        t->head_due = false;
        if (!hand_on(t, &n)) {
            return;
        }
    }
    if (t->pulled && t->data.size) {
        hand_on(t, &n);
        return; /* once more when all is taken */
    }
    if ((t->data.size && !tell_data(t, &n)) || !t->ended) {
        return;
    }
    n.closed = true;
    n.complete = t->result == CURLE_OK;
    n.text = t->result == CURLE_OK ? "the peer ended it" : reason(t);
    unlist(t);
    c->handlers.on_stream(c->handlers.context, &n);
    transfer_free(t);
}

static void on_turn(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct http_client *c = context;
    struct transfer *t;
    while ((t = TAILQ_FIRST(&c->ready))) {
        if (!t->endless) {
            assert(t->ended);
            tell_response(t);
            continue;
        }
        TAILQ_REMOVE(&c->ready, t, turn);
        t->is_ready = false;
        tell_stream(t);
    }
}

/* ---- libcurl's callbacks ------------------------------------------------------------------- */

static void loop_turned(void *context)
{
    (void)context; /* what became ready activated the event `turn` already */
}

static void end_with(struct transfer *t, CURLcode result)
{
    t->ended = true;
    t->result = result;
    evtimer_del(t->deadline);
    make_ready(t);
}

static void join_multi(struct transfer *t)
{
    if (curl_multi_add_handle(multi_of(t), t->easy) != CURLM_OK) {
        abort();
    }
    t->in_multi = true;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* libcurl has no connection to this host, and neither knows nor may look for its addresses. */
static int want_name(void *resolver, void *reserved, void *context)
{
    (void)resolver, (void)reserved;
    struct transfer *t = context;
    t->name_wanted = true;
    return 1;
}

/* Where the transfer goes now: its URL, or where that has sent it. False when it cannot be read. */
static bool learn_host(struct transfer *t)
{
    char *url = NULL, *host = NULL, *port = NULL;
    CURLU *parts = curl_url();
    curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &url);
    bool good = parts && url && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                (curl_url_get(parts, CURLUPART_HOST, &host, CURLU_PUNYCODE) == CURLUE_OK ||
                 curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK) &&
                curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    if (good) {
        free(t->host);
        free(t->port);
        t->host = mem_text(host);
        t->port = mem_text(port);
        char *copy = mem_text(url); /* libcurl frees its own before it copies */
        curl_easy_setopt(t->easy, CURLOPT_URL, copy);
        free(copy);
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
    return good;
}

/* What is left of a transfer that was sent elsewhere: how often it may be sent on, and its method.
 */
static void go_on_from_there(struct transfer *t)
{
    long redirects = 0, sent = 0;
    char *method = NULL;
    curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_COUNT, &redirects);
    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
    curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_METHOD, &method);
    t->sent_before += sent;
    t->redirects += redirects;
    if (t->outside) {
        curl_easy_setopt(t->easy, CURLOPT_MAXREDIRS, HTTP_OUTSIDE_REDIRECTS - t->redirects);
        if (method && strcmp(method, "GET") == 0) {
            curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L);
        }
    }
}

static void name_reported_to(void *context, enum name_end end, const char *text)
{
    struct transfer *t = context;
    struct buf line;
    if (end != NAME_FOUND) {
        snprintf(t->error, sizeof(t->error), "%.100s was not found: %s", t->host, text);
        end_with(t, end == NAME_TIMED_OUT ? CURLE_OPERATION_TIMEDOUT : CURLE_COULDNT_RESOLVE_HOST);
        return;
    }
    buf_init(&line); /* "+": it is forgotten as an answer of libcurl's own would be */
    buf_printf(&line, "+%s:%s:%s", t->host, t->port, text);
    curl_slist_free_all(t->addresses);
    t->addresses = curl_slist_append(NULL, buf_string(&line));
    buf_done(&line);
    assert(t->addresses);
    curl_easy_setopt(t->easy, CURLOPT_RESOLVE, t->addresses);
    join_multi(t);
}

static bool is_address(const char *host)
{
    struct in_addr v4;
    return host[0] == '[' || inet_pton(AF_INET, host, &v4) == 1;
}

static void look_name_up(struct transfer *t)
{
    struct http_client *c = t->client;
    t->name_wanted = false;
    t->error[0] = '\0';
    if (t->names_left == 0 || !learn_host(t)) {
        snprintf(t->error, sizeof(t->error), "its host cannot be looked up");
        end_with(t, CURLE_COULDNT_RESOLVE_HOST);
        return;
    }
    t->names_left--;
    go_on_from_there(t);
    if (is_address(t->host)) { /* libcurl asks for these too */
        name_reported_to(t, NAME_FOUND, t->host);
        return;
    }
    names_ask(t->outside ? c->outside_names : c->names, &t->name, t->host,
              t->outside ? HTTP_OUTSIDE_CONNECT_MS : HTTP_CONNECT_MS, name_reported_to, t);
}

static void transfer_done(void *context, CURL *easy, CURLcode result)
{
    (void)context;
    struct transfer *t = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    t->in_multi = false;
    if (t->name_wanted) {
        look_name_up(t);
    } else {
        end_with(t, result);
    }
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct transfer *t = context;
    if (t->in_multi) {
        curl_multi_remove_handle(multi_of(t), t->easy);
        t->in_multi = false;
    }
    names_cancel(&t->name);
    if (!t->ended) {
        snprintf(t->error, sizeof(t->error), "no answer before the deadline");
        end_with(t, CURLE_OPERATION_TIMEDOUT);
    }
}

static size_t take_data(char *data, size_t one, size_t size, void *context)
{
    struct transfer *t = context;
    (void)one;
    if (t->outside) { /* nobody reads it, and it need not come to an end */
        t->body_skipped += size;
        return t->body_skipped > HTTP_OUTSIDE_BYTES ? CURL_WRITEFUNC_ERROR : size;
    }
    if (t->data.size + size > HTTP_ANSWER_BYTES) {
        t->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (t->pulled && t->data.size && t->data.size + size > HTTP_STREAM_BYTES) {
        t->paused = true; /* libcurl keeps these and gives them again */
        return CURL_WRITEFUNC_PAUSE;
    }
    buf_append(&t->data, data, size);
    if (t->endless) {
        make_ready(t);
    }
    return size;
}

/* What Go's client takes for an order to go elsewhere. libcurl would follow any 3xx. */
static bool redirects(long status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* A line of one of the heads that come in: of 1xx, of redirects, of the answer. */
static size_t take_outside_header(struct transfer *t, const char *line, size_t size)
{
    static const char location[] = "location:";
    long status = 0;
    if (size > 5 && strncasecmp(line, "HTTP/", 5) == 0) {
        t->location = false;
    } else if (size > sizeof(location) - 1 &&
               strncasecmp(line, location, sizeof(location) - 1) == 0) {
        t->location = true;
    } else if (size <= 2) { /* the empty line that ends the head */
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        t->answered = status >= 200 && !(t->location && redirects(status));
        return t->answered && t->location && status / 100 == 3 ? CURL_WRITEFUNC_ERROR : size;
    }
    return size;
}

static size_t take_header(char *line, size_t one, size_t size, void *context)
{
    static const char etag[] = "etag:";
    struct transfer *t = context;
    (void)one;
    if (t->outside) {
        return take_outside_header(t, line, size);
    }
    if (size > sizeof(etag) - 1 && strncasecmp(line, etag, sizeof(etag) - 1) == 0) {
        const char *value = line + sizeof(etag) - 1, *end = line + size;
        while (value < end && (*value == ' ' || *value == '\t')) {
            value++;
        }
        while (end > value && strchr(" \t\r\n", end[-1])) {
            end--;
        }
        free(t->etag);
        t->etag = strndup(value, (size_t)(end - value));
    } else if (t->endless && size <= 2) { /* the empty line that ends the head */
        t->head_due = true;
        long status = 0;
        curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
        if (status == 200) {
            evtimer_del(t->deadline);
        }
        make_ready(t);
    }
    return size;
}

static size_t give_body(char *out, size_t one, size_t room, void *context)
{
    struct transfer *t = context;
    size_t left = t->body.size - t->body_sent;
    size_t size = left < one * room ? left : one * room;
    if (size) {
        memcpy(out, t->body.data + t->body_sent, size);
        t->body_sent += size;
    }
    return size;
}

/* libcurl would send a request again by itself when a reused connection breaks before an answer;
 * the first one may have been carried out, so a body is never rewound and the outcome is UNKNOWN.
 */
static int refuse_rewind(void *context, curl_off_t offset, int origin)
{
    (void)context, (void)offset, (void)origin;
    return CURL_SEEKFUNC_FAIL;
}

static int set_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    (void)context, (void)purpose;
    unsigned user_timeout_ms = HTTP_USER_TIMEOUT_MS;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof(user_timeout_ms));
    return CURL_SOCKOPT_OK;
}

/* ---- Beginning and ending ------------------------------------------------------------------ */

static void set_connection(CURL *e, const struct tls_files *files)
{
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_CAINFO, files->ca);
    curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(e, CURLOPT_SSLCERT, files->cert);
    curl_easy_setopt(e, CURLOPT_SSLKEY, files->key);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS);
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, (long)HTTP_PROBE_S);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, (long)HTTP_PROBE_S);
    curl_easy_setopt(e, CURLOPT_TCP_KEEPCNT, (long)HTTP_PROBES);
    curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, set_socket);
    curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, (long)HTTP_REUSE_S);
}

/* As Go's client: ten requests at most, a POST becomes a GET at 301, 302 and 303. Each request has
 * a connection of its own: on a kept one that breaks libcurl would send it again, unasked, and here
 * its body can be rewound, for redirects want it. */
static void set_outside(struct transfer *t)
{
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(e, CURLOPT_MAXREDIRS, (long)HTTP_OUTSIDE_REDIRECTS);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_OUTSIDE_CONNECT_MS);
    curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, NULL);
    curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->body.size ? (const char *)t->body.data : "");
}

static void add_header(struct transfer *t, const char *name, const char *value)
{
    SCOPED_BUF(line);
    if (!value || !*value || strpbrk(value, "\r\n")) {
        return;
    }
    buf_printf(&line, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(t->headers, buf_string(&line));
    assert(longer);
    t->headers = longer;
}

static void set_request(struct transfer *t, const struct call *call)
{
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_URL, call->url);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    buf_append(&t->body, call->body.data, call->body.size);
    if (t->body.size || strcmp(call->method, "GET") != 0) {
        curl_easy_setopt(e, CURLOPT_POST, 1L);
        curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body.size);
        curl_easy_setopt(e, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(e, CURLOPT_READDATA, t);
        curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, refuse_rewind);
        curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, call->method);
    }
    add_header(t, "Content-Type", call->content_type);
    add_header(t, "Accept", call->accept);
    add_header(t, "If-None-Match", call->if_none_match);
    add_header(t, "X-Vcap-Request-Id", call->trace_id);
    /* What libcurl would add by itself: no waiting for "100 Continue", no form type. */
    struct curl_slist *none = curl_slist_append(t->headers, "Expect:");
    if (none && (!call->content_type || !*call->content_type)) {
        none = curl_slist_append(none, "Content-Type:");
    }
    if (none && (!call->accept || !*call->accept)) {
        none = curl_slist_append(none, "Accept:");
    }
    assert(none);
    t->headers = none;
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers);
}

static struct transfer *transfer_new(struct http_client *c, const struct call *call, bool endless)
{
    struct transfer *t = calloc(1, sizeof(*t));
    if (!t || !(t->easy = curl_easy_init()) ||
        !(t->deadline = evtimer_new(c->base, on_deadline, t))) {
        abort();
    }
    t->client = c;
    t->id = call->id;
    t->endless = endless;
    t->outside = call->outside;
    buf_init(&t->body);
    buf_init(&t->data);
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_data);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, want_name);
    curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t);
    t->names_left = HTTP_NAMES_MAX;
    set_connection(e, &c->files);
    set_request(t, call);
    if (t->outside) {
        set_outside(t);
    }
    LIST_INSERT_HEAD(&c->all, t, all);
    id_table_add(&c->by_id, t->id, t);
    t->listed = true;
    return t;
}

static void set_deadline(struct transfer *t, int64_t deadline_ns)
{
    struct timespec now;
    if (deadline_ns == NEVER_NS) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left_ns = deadline_ns - (now.tv_sec * SECOND_NS + now.tv_nsec);
    left_ns = left_ns < 0 ? 0 : left_ns;
    struct timeval tv = {.tv_sec = left_ns / SECOND_NS,
                         .tv_usec = left_ns % SECOND_NS / MICROSECOND_NS};
    evtimer_add(t->deadline, &tv);
}

static void begin(struct http_client *c, const struct call *call, bool endless)
{
    bool full = c->by_id.count >= HTTP_CALLS;
    struct transfer *t = transfer_new(c, call, endless);
    if (full) {
        t->full = true;
        end_with(t, CURLE_OK);
        return;
    }
    set_deadline(t, call->deadline_ns);
    curl_easy_setopt(t->easy, CURLOPT_FORBID_REUSE, endless || t->outside ? 1L : 0L);
    join_multi(t);
}

void http_client_call(struct http_client *c, const struct call *call)
{
    begin(c, call, false);
}

void http_client_subscribe(struct http_client *c, const struct call *call)
{
    begin(c, call, true);
}

void http_client_pull(struct http_client *c, const struct call *call)
{
    begin(c, call, true);
    struct transfer *t = id_table_get(&c->by_id, call->id);
    assert(t);
    t->pulled = true;
}

size_t http_client_take(struct http_client *c, uint64_t id, struct buf *out, size_t max)
{
    struct transfer *t = id_table_get(&c->by_id, id);
    if (!t) {
        return 0;
    }
    assert(t->pulled);
    size_t size = t->data.size < max ? t->data.size : max;
    buf_append(out, t->data.data, size);
    buf_consume(&t->data, size);
    if (t->paused && t->data.size == 0) {
        t->paused = false; /* before: what libcurl kept comes from within */
        curl_easy_pause(t->easy, CURLPAUSE_CONT);
    }
    if (t->ended && t->data.size == 0) {
        make_ready(t);
    }
    return size;
}

void http_client_cancel(struct http_client *c, uint64_t id)
{
    struct transfer *t = id_table_get(&c->by_id, id);
    if (t) {
        transfer_free(t);
    }
}

struct http_client *http_client_new(const struct tls_files *files, struct event_base *base,
                                    const struct http_client_handlers *handlers)
{
    struct http_client *c = calloc(1, sizeof(*c));
    if (!c || !(c->turn = event_new(base, -1, 0, on_turn, c))) {
        abort();
    }
    c->base = base;
    c->handlers = *handlers;
    c->files = (struct tls_files){.ca = mem_text(files->ca),
                                  .cert = mem_text(files->cert),
                                  .key = mem_text(files->key)};
    id_table_init(&c->by_id);
    LIST_INIT(&c->all);
    TAILQ_INIT(&c->ready);
    struct curl_loop_handlers n = {.on_done = transfer_done, .on_turn = loop_turned, .context = c};
    c->calls = curl_loop_new(base, &n);
    c->streams = curl_loop_new(base, &n);
    c->outside = curl_loop_new(base, &n);
    c->names = names_new(base);
    c->outside_names = names_new(base);
    curl_multi_setopt(curl_loop_multi(c->calls), CURLMOPT_MAX_HOST_CONNECTIONS,
                      (long)HTTP_PEER_CONNECTIONS);
    curl_multi_setopt(curl_loop_multi(c->calls), CURLMOPT_MAXCONNECTS, (long)HTTP_IDLE_CONNECTIONS);
    return c;
}

void http_client_free(struct http_client *c)
{
    if (!c) {
        return;
    }
    while (!LIST_EMPTY(&c->all)) {
        transfer_free(LIST_FIRST(&c->all));
    }
    curl_loop_free(c->calls);
    curl_loop_free(c->streams);
    curl_loop_free(c->outside);
    names_free(c->names);
    names_free(c->outside_names);
    event_free(c->turn);
    id_table_done(&c->by_id);
    free((char *)c->files.ca);
    free((char *)c->files.cert);
    free((char *)c->files.key);
    free(c);
}

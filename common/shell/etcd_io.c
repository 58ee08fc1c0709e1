#include "common/shell/etcd_io.h"

#include "common/contract/moment.h"
#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPARE_CALLS = 256, CALL_CONNECTIONS = 4, DEADLINE_EXCEEDED = 4 };

struct etcd_call {
    struct etcd_call *next, **link;
    struct exchange *exchange;
    uint64_t id;
    enum store_call kind;
    size_t endpoint;
};

/* A call that is answered without having been sent. */
struct etcd_refusal {
    struct etcd_refusal *next;
    uint64_t id;
    enum store_call kind;
    int status;
    const char *text;
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
    [STORE_LEASE_GRANT] = {"/etcdserverpb.Lease/LeaseGrant",
                           &etcd__lease_grant_request__descriptor,
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

int64_t etcd_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void etcd_defer(struct etcd *e)
{
    event_active(e->deferred, 0, 0);
}

const char *etcd_url(struct etcd *e, const char *method, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s%s", e->endpoints[e->endpoint], method);
    return buf_string(out);
}

void etcd_endpoint_failed(struct etcd *e, size_t endpoint)
{
    if (endpoint == e->endpoint) {
        e->endpoint = (endpoint + 1) % e->endpoint_count;
    }
}

/* Calls */

static struct etcd_call *call_take(struct etcd *e)
{
    struct etcd_call *c = e->spare;
    if (c) {
        e->spare = c->next;
        e->spare_count--;
    } else {
        c = calloc(1, sizeof(*c));
        if (!c) {
            abort();
        }
        c->exchange = exchange_new(&e->options, c);
    }
    c->next = e->open;
    c->link = &e->open;
    if (c->next) {
        c->next->link = &c->next;
    }
    e->open = c;
    e->open_count++;
    return c;
}

static void call_free(struct etcd_call *c)
{
    exchange_free(c->exchange);
    free(c);
}

static void call_give_back(struct etcd *e, struct etcd_call *c)
{
    *c->link = c->next;
    if (c->next) {
        c->next->link = c->link;
    }
    e->open_count--;
    /* A handle that carried something huge is not worth its memory. */
    if (e->spare_count >= SPARE_CALLS || c->exchange->received.capacity > 1024 * 1024 ||
        c->exchange->request.capacity > 1024 * 1024) {
        call_free(c);
        return;
    }
    c->next = e->spare;
    e->spare = c;
    e->spare_count++;
}

static void refuse(struct etcd *e, const struct store_request *request, int status,
                   const char *text)
{
    struct etcd_refusal *r = calloc(1, sizeof(*r));
    if (!r) {
        abort();
    }
    *r = (struct etcd_refusal){
        .id = request->id, .kind = request->call, .status = status, .text = text};
    *e->refusals_end = r;
    e->refusals_end = &r->next;
    etcd_defer(e);
}

void etcd_call(struct etcd *e, const struct store_request *request)
{
    const struct method *m = &methods[request->call];
    assert(request->call < STORE_CALL_COUNT && request->message->descriptor == m->request);
    int64_t left_ms = -1;
    int64_t now_ns = etcd_now_ns();
    if (request->deadline_ns > now_ns) {
        left_ms = (request->deadline_ns - now_ns) / MILLISECOND_NS + 1;
        left_ms = left_ms < ETCD_CALL_MAX_MS ? left_ms : ETCD_CALL_MAX_MS;
    }
    if (left_ms < 0) {
        refuse(e, request, DEADLINE_EXCEEDED, "not sent: the deadline had passed");
        return;
    }
    if (e->open_count >= ETCD_CALLS) {
        refuse(e, request, GRPC_RESOURCE_EXHAUSTED, "not sent: too many calls are open");
        return;
    }
    if (e->open_count == 0) {
        e->last_answer_ns = now_ns;
    }
    struct etcd_call *c = call_take(e);
    c->id = request->id;
    c->kind = request->call;
    c->endpoint = e->endpoint;
    struct buf url;
    buf_init(&url);
    exchange_prepare(c->exchange, etcd_url(e, m->path, &url), request->message, (long)left_ms,
                     false);
    buf_done(&url);
    channel_send(&e->channel, c->exchange);
}

/* The answer's message in e's arena, or NULL when there is not exactly one whole message. */
static const ProtobufCMessage *call_message(struct etcd *e, const struct etcd_call *c)
{
    struct bytes received = buf_bytes(&c->exchange->received);
    struct bytes message;
    int64_t size = grpc_frame_next(received, ETCD_ANSWER_BYTES, &message);
    if (size <= 0 || (size_t)size != received.size) {
        return NULL;
    }
    ProtobufCAllocator allocator = arena_protobuf(&e->arena);
    return protobuf_c_message_unpack(methods[c->kind].response, &allocator, message.size,
                                     message.data);
}

static void judge_without_status(struct etcd *e, const struct etcd_call *c, const char *problem,
                                 struct store_answer *answer)
{
    bool unsent = exchange_unsent(c->exchange);
    answer->outcome = unsent ? STORE_REFUSED : STORE_UNKNOWN;
    answer->grpc_status = unsent ? GRPC_UNAVAILABLE : 0;
    answer->text = arena_printf(&e->arena, "etcd %s: %s%s", e->endpoints[c->endpoint], problem,
                                unsent ? " (nothing was sent)" : "");
}

/* "A commit ends in done, lost or unknown" (DESIGN 2): everything but a certain answer is unknown. */
static void judge(struct etcd *e, const struct etcd_call *c, const char *problem,
                  struct store_answer *answer)
{
    struct grpc_trailers *trailers = &c->exchange->trailers;
    if (trailers->status == GRPC_NO_STATUS) {
        judge_without_status(e, c, problem, answer);
        return;
    }
    answer->grpc_status = trailers->status;
    answer->text = arena_strdup(&e->arena, buf_string(&trailers->text));
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

static void call_answer(struct etcd *e, struct etcd_call *c, const char *problem)
{
    struct store_answer answer = {.id = c->id, .call = c->kind, .text = ""};
    int status = c->exchange->trailers.status;
    arena_reset(&e->arena);
    judge(e, c, problem, &answer);
    if (status != GRPC_NO_STATUS) {
        e->last_answer_ns = etcd_now_ns();
    }
    if (status == GRPC_NO_STATUS || status == GRPC_UNAVAILABLE) {
        etcd_endpoint_failed(e, c->endpoint);
    }
    call_give_back(e, c);
    e->news.on_answer(e->news.context, &answer);
}

static void call_ended(struct channel *channel, struct exchange *x, CURLcode result)
{
    struct buf problem;
    buf_init(&problem);
    exchange_explain(x, result, &problem);
    call_answer(channel->etcd, x->owner, buf_string(&problem));
    buf_done(&problem);
}

static bool calls_waiting(struct channel *channel)
{
    const struct etcd *e = channel->etcd;
    return e->open_count > 0 && etcd_now_ns() - e->last_answer_ns >= ETCD_PROBE_MS * MILLISECOND_NS;
}

static void calls_dead(struct channel *channel)
{
    struct etcd *e = channel->etcd;
    channel_reset(channel);
    /* A call made while these are told goes to the new connections, at the head of the list. */
    struct etcd_call *c = e->open;
    e->open = NULL;
    while (c) {
        struct etcd_call *next = c->next;
        c->link = &c;
        call_answer(e, c, "the connection is silent");
        c = next;
    }
}

static void tell_refusals(struct etcd *e)
{
    struct etcd_refusal *r = e->refusals;
    e->refusals = NULL;
    e->refusals_end = &e->refusals;
    while (r) {
        struct store_answer answer = {.id = r->id,
                                      .call = r->kind,
                                      .outcome = STORE_REFUSED,
                                      .grpc_status = r->status,
                                      .text = r->text};
        struct etcd_refusal *next = r->next;
        free(r);
        e->news.on_answer(e->news.context, &answer);
        r = next;
    }
}

static void on_deferred(evutil_socket_t fd, short what, void *etcd)
{
    (void)fd;
    (void)what;
    struct etcd *e = etcd;
    tell_refusals(e);
    channel_deferred(&e->channel);
    etcd_watches_deferred(e);
}

/* Birth and death */

static int check_file(const char *what, const char *path, struct err *err)
{
    if (path && access(path, R_OK) != 0) {
        return err_set(err, ERR_INVALID, "cannot read the %s for etcd, %s: %s", what, path,
                       strerror(errno));
    }
    return 0;
}

static int add_endpoint(struct etcd *e, const char *text, size_t size, struct err *err)
{
    bool tls = size > 8 && strncmp(text, "https://", 8) == 0;
    if (!tls && !(size > 7 && strncmp(text, "http://", 7) == 0)) {
        return err_set(err, ERR_INVALID,
                       "etcd endpoint \"%.*s\" does not begin with https:// or http://", (int)size,
                       text);
    }
    if (tls && !e->options.ca) {
        return err_set(err, ERR_INVALID, "etcd endpoint \"%.*s\" needs a CA file", (int)size,
                       text);
    }
    if (e->endpoint_count == ETCD_ENDPOINTS) {
        return err_set(err, ERR_TOO_LARGE, "more than %d etcd endpoints", ETCD_ENDPOINTS);
    }
    while (text[size - 1] == '/') {
        size--;
    }
    e->endpoints[e->endpoint_count] = strndup(text, size);
    if (!e->endpoints[e->endpoint_count++]) {
        abort();
    }
    return 0;
}

static int parse_endpoints(struct etcd *e, const char *text, struct err *err)
{
    for (const char *p = text ? text : ""; *p;) {
        size_t size = strcspn(p, ",");
        int code = size ? add_endpoint(e, p, size, err) : 0;
        if (code) {
            return code;
        }
        p += size + (p[size] == ',');
    }
    return e->endpoint_count ? 0 : err_set(err, ERR_INVALID, "no etcd endpoint is given");
}

static char *copy(const char *text)
{
    char *s = text ? strdup(text) : NULL;
    if (text && !s) {
        abort();
    }
    return s;
}

static int configure(struct etcd *e, const struct etcd_config *config, struct err *err)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    int code = exchange_check_libcurl(curl->version_num, curl->version, curl->features, err);
    if (code || (code = check_file("CA file", config->ca, err)) ||
        (code = check_file("certificate", config->cert, err)) ||
        (code = check_file("key", config->key, err))) {
        return code;
    }
    if (!config->cert != !config->key) {
        return err_set(err, ERR_INVALID, "for etcd a certificate and its key are needed, or none");
    }
    e->options = (struct exchange_options){
        .ca = copy(config->ca),
        .cert = copy(config->cert),
        .key = copy(config->key),
        .connect_ms = ETCD_CONNECT_MS,
        .user_timeout_ms = ETCD_USER_TIMEOUT_MS,
        .answer_bytes = ETCD_ANSWER_BYTES,
        .headers = exchange_headers(),
    };
    return parse_endpoints(e, config->endpoints, err);
}

int etcd_new(const struct etcd_config *config, struct event_base *base,
             const struct etcd_news *news, struct etcd **ret, struct err *err)
{
    struct etcd *e = calloc(1, sizeof(*e));
    if (!e || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        abort();
    }
    e->base = base;
    e->news = *news;
    e->refusals_end = &e->refusals;
    arena_init(&e->arena);
    int code = configure(e, config, err);
    if (code) {
        etcd_free(e);
        return code;
    }
    e->deferred = event_new(base, -1, 0, on_deferred, e);
    if (!e->deferred) {
        abort();
    }
    e->channel = (struct channel){.connections = CALL_CONNECTIONS,
                                  .is_waiting = calls_waiting,
                                  .on_dead = calls_dead,
                                  .on_done = call_ended};
    channel_init(&e->channel, e);
    *ret = e;
    return 0;
}

static void free_calls(struct etcd_call *list)
{
    while (list) {
        struct etcd_call *next = list->next;
        call_free(list);
        list = next;
    }
}

void etcd_free(struct etcd *e)
{
    if (!e) {
        return;
    }
    if (e->channel.etcd) {
        etcd_watches_free(e);
        channel_done(&e->channel);
        event_free(e->deferred);
    }
    free_calls(e->open);
    free_calls(e->spare);
    while (e->refusals) {
        struct etcd_refusal *next = e->refusals->next;
        free(e->refusals);
        e->refusals = next;
    }
    for (size_t i = 0; i < e->endpoint_count; i++) {
        free(e->endpoints[i]);
    }
    free((char *)(size_t)e->options.ca);
    free((char *)(size_t)e->options.cert);
    free((char *)(size_t)e->options.key);
    curl_slist_free_all(e->options.headers);
    arena_done(&e->arena);
    free(e);
    curl_global_cleanup();
}

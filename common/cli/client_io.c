#include "common/cli/client_io.h"

#include "common/base/memory.h"
#include "common/cli/cli_io.h"
#include "common/codec/scan.h"
#include "common/model/not_done.h"
#include "models/actual_lrp_requests.pb-c.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_KEEPALIVE_S = 5 };

#define CLIENT_DECODED_MAX ((size_t)4 << 30)

const struct cli_option cli_bbs_options[] = {
    {.name = "bbs-url",
     .value = "URLS",
     .help = "the bbs servers, comma-separated",
     .env = "CORKBOARD_BBS_URLS,BBS_URL",
     .required = true},
    {0},
};

const struct cli_option cli_tls_options[] = {
    {.name = "ca-cert-file",
     .value = "FILE",
     .help = "the CA's certificate",
     .env = "CA_CERT_FILE",
     .required = true},
    {.name = "client-cert-file",
     .value = "FILE",
     .help = "the client's certificate",
     .env = "CLIENT_CERT_FILE",
     .required = true},
    {.name = "client-key-file",
     .value = "FILE",
     .help = "the client's key",
     .env = "CLIENT_KEY_FILE",
     .required = true},
    {0},
};

struct cli_client {
    CURL *curl;
    char *urls[CLIENT_URLS_MAX];
    size_t url_count;
    size_t next;         /* the URL that answered last */
    size_t tried;        /* of the URLs, in this call */
    int64_t deadline_ms; /* -1 = none */
    bool may_have_done;  /* a try of this call was sent, and not answered */
    const char *ca, *cert, *key;
    char detail[CURL_ERROR_SIZE];
    struct buf body;
    const char *rest; /* method of a call in JSON; NULL = it is none */
    /* Of a stream. */
    int (*take)(void *owner, struct bytes bytes);
    void *owner;
    int taken;
    int64_t silence_ms, heard_ms;
    int64_t begin_until_ms; /* it has begun by then */
    const atomic_bool *stop;
};

/* Why it cannot be read; a directory can be opened, and not be read. NULL if it can. */
static const char *unreadable(const char *file)
{
    struct stat s;
    return access(file, R_OK) != 0 || stat(file, &s) != 0 ? strerror(errno)
           : S_ISDIR(s.st_mode)                           ? strerror(EISDIR)
                                                          : NULL;
}

static int check_file(const struct invocation *call, const char *option, const char *variable,
                      const char **ret_file, struct err *err)
{
    const char *file = cli_text(call, option);
    const char *why = unreadable(file);
    if (why) {
        return err_set(err, ERR_INVALID, "cannot read %.120s: %s (%s, --%s)", file, why, variable,
                       option);
    }
    *ret_file = file;
    return 0;
}

/* Of "https://HOST[:PORT][/PATH]": whether the port, if there is one, is from 1 to 65535. */
static bool port_is_valid(const char *url, size_t size)
{
    const char *host = url + 8, *end = host;
    while (end < url + size && *end != '/' && *end != '?' && *end != '#') {
        end++;
    }
    const char *colon = memrchr(host, ':', (size_t)(end - host));
    if (!colon || memchr(colon, ']', (size_t)(end - colon))) {
        return true; /* a colon in brackets is of an IPv6 address */
    }
    unsigned long port = 0;
    for (const char *c = colon + 1; c < end; c++) {
        port =
            *c >= '0' && *c <= '9' && port <= 65535 ? port * 10 + (unsigned long)(*c - '0') : 65536;
    }
    return port >= 1 && port <= 65535;
}

static int add_url(struct cli_client *c, const char *url, size_t size, struct err *err)
{
    if (size < 9 || strncmp(url, "https://", 8) != 0) {
        return err_set(err, ERR_INVALID, "\"%.*s\" is not an https URL",
                       (int)(size < 60 ? size : 60), url);
    }
    if (!port_is_valid(url, size)) {
        return err_set(err, ERR_INVALID, "\"%.*s\" has no port from 1 to 65535",
                       (int)(size < 60 ? size : 60), url);
    }
    if (c->url_count == CLIENT_URLS_MAX) {
        return err_set(err, ERR_INVALID, "more than %d URLs", CLIENT_URLS_MAX);
    }
    size -= url[size - 1] == '/';
    c->urls[c->url_count++] = strndup(url, size);
    return 0;
}

static int add_urls(struct cli_client *c, const char *urls, struct err *err)
{
    for (const char *at = urls; *at;) {
        size_t size = strcspn(at, ",");
        int r = size ? add_url(c, at, size, err) : 0;
        if (r < 0) {
            return r;
        }
        at += size + (at[size] == ',');
    }
    return c->url_count ? 0 : err_set(err, ERR_INVALID, "no URL was given");
}

int cli_client_open(const struct invocation *call, const char *urls, struct cli_client **ret_client,
                    struct err *err)
{
    struct cli_client *c = mem_zeroed(sizeof(*c));
    c->deadline_ms = -1;
    buf_init(&c->body);
    cli_catch_interrupts();
    int r = add_urls(c, urls, err);
    r = r < 0 ? r : check_file(call, "ca-cert-file", "CA_CERT_FILE", &c->ca, err);
    r = r < 0 ? r : check_file(call, "client-cert-file", "CLIENT_CERT_FILE", &c->cert, err);
    r = r < 0 ? r : check_file(call, "client-key-file", "CLIENT_KEY_FILE", &c->key, err);
    if (r < 0) {
        cli_client_close(c);
        return r;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c->curl = curl_easy_init();
    *ret_client = c;
    return 0;
}

void cli_client_close(struct cli_client *c)
{
    if (!c) {
        return;
    }
    curl_easy_cleanup(c->curl);
    for (size_t i = 0; i < c->url_count; i++) {
        free(c->urls[i]);
    }
    buf_done(&c->body);
    free(c);
}

void cli_client_limit(struct cli_client *c, int64_t limit_ms)
{
    c->deadline_ms = limit_ms < 0 ? -1 : cli_now_ms() + limit_ms;
}

void cli_client_stop(struct cli_client *c, const atomic_bool *stop)
{
    c->stop = stop;
}

static int64_t time_left(const struct cli_client *c)
{
    return c->deadline_ms < 0 ? INT32_MAX : c->deadline_ms - cli_now_ms();
}

static size_t on_body(char *data, size_t size, size_t count, void *client)
{
    struct cli_client *c = client;
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    c->heard_ms = cli_now_ms();
    if (c->take && status == 200) {
        c->taken = c->take(c->owner, (struct bytes){(const uint8_t *)data, size * count});
        return c->taken < 0 ? 0 : size * count;
    }
    if (c->body.size + size * count > CLIENT_ANSWER_MAX) {
        return 0;
    }
    buf_append(&c->body, data, size * count);
    return size * count;
}

/* libcurl calls it at least once a second. Anything but 0 ends the call. */
static int on_progress(void *client, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    const struct cli_client *c = client;
    long status = 0; /* of the answer, once it has begun */
    (void)down_total, (void)down, (void)up_total, (void)up;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    bool silent = c->take && (cli_now_ms() - c->heard_ms > c->silence_ms ||
                              (status == 0 && cli_now_ms() >= c->begin_until_ms));
    return cli_interrupted() || silent || (c->stop && atomic_load(c->stop));
}

/* Options that hold for every call; libcurl keeps the connection through the reset. */
static void prepare(struct cli_client *c, const char *path, const struct buf *body,
                    int64_t limit_ms)
{
    char url[2048];
    snprintf(url, sizeof(url), "%s%s", c->urls[c->next], path);
    curl_easy_reset(c->curl);
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca);
    curl_easy_setopt(c->curl, CURLOPT_SSLCERT, c->cert);
    curl_easy_setopt(c->curl, CURLOPT_SSLKEY, c->key);
    curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    if (c->take) { /* a peer that has gone is noticed, however little it says otherwise */
        curl_easy_setopt(c->curl, CURLOPT_TCP_KEEPALIVE, 1L);
        curl_easy_setopt(c->curl, CURLOPT_TCP_KEEPIDLE, (long)STREAM_KEEPALIVE_S);
        curl_easy_setopt(c->curl, CURLOPT_TCP_KEEPINTVL, (long)STREAM_KEEPALIVE_S);
    }
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->detail);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(limit_ms < CLIENT_CONNECT_MS ? limit_ms : CLIENT_CONNECT_MS));
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    if (c->rest) {
        curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, c->rest);
    }
    if (body) {
        curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body->size ? (const char *)body->data : "");
    }
}

static struct curl_slist *make_headers(bool body, bool rest)
{
    char line[64];
    uint64_t id[2] = {0};
    if (getrandom(id, sizeof(id), 0) < 0) {
        id[0] = (uint64_t)cli_wall_ns();
    }
    snprintf(line, sizeof(line), "X-Vcap-Request-Id: %016" PRIx64 "%016" PRIx64, id[0], id[1]);
    struct curl_slist *headers = curl_slist_append(NULL, line);
    headers = curl_slist_append(headers, "Expect:");
    return curl_slist_append(headers, body && rest ? "Content-Type: application/json"
                                      : body       ? "Content-Type: application/x-protobuf"
                                                   : "Accept: application/json");
}

static int transport_error(struct cli_client *c, CURLcode code, struct err *err)
{
    const char *what = c->detail[0] ? c->detail : curl_easy_strerror(code);
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    if (code == CURLE_ABORTED_BY_CALLBACK ||
        (code == CURLE_OPERATION_TIMEDOUT && time_left(c) <= 0)) {
        return err_set(err, ERR_TIMEOUT, "%.80s does not answer in time", c->urls[c->next]);
    }
    if (code == CURLE_SSL_CERTPROBLEM) {
        return err_set(err, ERR_INVALID,
                       "%.80s and %.80s are no certificate and its key (CLIENT_CERT_FILE, "
                       "CLIENT_KEY_FILE)",
                       c->cert, c->key);
    }
    if (code == CURLE_SSL_CACERT_BADFILE) {
        return err_set(err, ERR_INVALID, "%.120s is no certificate of a CA (CA_CERT_FILE)", c->ca);
    }
    if (code == CURLE_WRITE_ERROR) {
        return err_set(err, ERR_TOO_LARGE, "%.80s answers with more than %d MiB", c->urls[c->next],
                       CLIENT_ANSWER_MAX / 1024 / 1024);
    }
    return err_set(err, ERR_UNAVAILABLE, "%.80s does not answer: %.120s", c->urls[c->next], what);
}

/* Diego's paths say it in the error of a message, our own as a text. */
static int denied(struct cli_client *c, struct err *err)
{
    SCOPED_ARENA(arena);
    const char *type = NULL, *text = buf_string(&c->body);
    curl_easy_getinfo(c->curl, CURLINFO_CONTENT_TYPE, &type);
    if (type && strncmp(type, "application/x-protobuf", 22) == 0) {
        /* Every response has the error in field 1: one serves for all. */
        ProtobufCMessage *m = NULL;
        scan_and_unpack(&arena, &models__actual_lrplifecycle_response__descriptor,
                        buf_bytes(&c->body), CLIENT_DECODED_MAX, &m, NULL);
        const Models__ActualLRPLifecycleResponse *answer =
            (const Models__ActualLRPLifecycleResponse *)m;
        text = answer && answer->error ? answer->error->message : "it does not say why";
    }
    int r = err_set(err, ERR_DENIED, "%.80s denies it: %.*s", c->urls[c->next],
                    (int)strcspn(text, "\r\n"), text);
    return r;
}

/* Whether a 503 has a reason that somebody must hear of (bbs/route/answer.h). */
static bool says_not_done(const char *text)
{
    return strncmp(text, NOT_DONE, strlen(NOT_DONE)) == 0;
}

/* What a refusal in JSON says; NULL when it is none. */
static const char *rest_message(struct arena *a, struct bytes body)
{
    json_t *tree = json_loadb((const char *)body.data, body.size, 0, NULL);
    const char *text = json_string_value(json_object_get(tree, "message"));
    text = text && *text ? arena_strdup(a, text) : NULL;
    json_decref(tree);
    return text;
}

/* What a 503 says; "" when it has no body. In the arena, or as long as the answer. */
static const char *unavailable_text(struct arena *a, struct cli_client *c)
{
    const char *message = c->rest ? rest_message(a, buf_bytes(&c->body)) : NULL;
    return message ? message : buf_string(&c->body);
}

/* Of a call in JSON; 0 when the status is none of its own. */
static int rest_error(struct cli_client *c, long status, struct err *err)
{
    static const struct {
        long status;
        enum err_code code;
    } rows[] = {{400, ERR_INVALID},   {404, ERR_NOT_FOUND}, {409, ERR_CONFLICT},
                {413, ERR_TOO_LARGE}, {403, ERR_DENIED},    {500, ERR_IO}};
    SCOPED_ARENA(a);
    const char *text = rest_message(&a, buf_bytes(&c->body));
    for (size_t i = 0; text && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].status == status) {
            return err_set(err, rows[i].code, "%.230s", text);
        }
    }
    return 0;
}

/* `get`: something of this name was asked for, so that a 404 may be said of it. */
static int status_error(struct cli_client *c, const char *path, bool get, long status,
                        struct err *err)
{
    SCOPED_ARENA(a);
    const char *text = status == 503 ? unavailable_text(&a, c) : buf_string(&c->body);
    int size = (int)strcspn(text, "\r\n");
    switch (status) {
    case 503:
        if (size > 0 && (!get || c->rest || says_not_done(text))) {
            return err_set(err, ERR_UNAVAILABLE, "%.80s: %.*s", c->urls[c->next], size, text);
        }
        return err_set(err, ERR_UNAVAILABLE,
                       "%.80s is not ready: it begins, or does not reach its etcd",
                       c->urls[c->next]);
    case 403:
        return denied(c, err);
    case 400:
        return err_set(err, ERR_INVALID, "%.80s refuses it: %.*s", c->urls[c->next], size, text);
    case 404:
        if (get && strncmp(text, "404 page not found", 18) != 0) {
            return err_set(err, ERR_NOT_FOUND, "%.*s", size, text);
        }
        /* Not "not found", which is an answer about what was asked for: there is nobody to ask. */
        return err_set(err, ERR_IO, "%.80s knows no %.60s; is it the right server and port?",
                       c->urls[c->next], path);
    default:
        return err_set(err, ERR_IO, "%.80s answers with status %ld: %.*s", c->urls[c->next], status,
                       size, text);
    }
}

/* Whether the request was on its way when the connection failed. */
static bool was_sent(struct cli_client *c)
{
    curl_off_t sent_us = 0;
    curl_easy_getinfo(c->curl, CURLINFO_PRETRANSFER_TIME_T, &sent_us);
    return sent_us > 0;
}

/* How long this server is waited for: those that were not tried yet have their share of what is
 * left. */
static int64_t attempt_ms(const struct cli_client *c, int64_t left_ms)
{
    if (c->url_count == 1) {
        return left_ms;
    }
    int64_t share_ms = left_ms / (int64_t)(c->url_count - c->tried % c->url_count);
    share_ms = share_ms < CLIENT_ATTEMPT_LEAST_MS ? CLIENT_ATTEMPT_LEAST_MS : share_ms;
    share_ms = share_ms < CLIENT_ATTEMPT_MS ? share_ms : CLIENT_ATTEMPT_MS;
    return share_ms < left_ms ? share_ms : left_ms;
}

/* One exchange with one server; 0 when it answered 200. */
static int exchange(struct cli_client *c, const char *path, const struct buf *body, struct err *err)
{
    int64_t left = time_left(c);
    if (left <= 0) {
        return err_set(err, ERR_TIMEOUT, "no answer in time");
    }
    int64_t limit_ms = attempt_ms(c, left);
    prepare(c, path, body, limit_ms);
    c->begin_until_ms = cli_now_ms() + limit_ms;
    struct curl_slist *headers = make_headers(body != NULL, c->rest != NULL);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    if (!c->take) {
        curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)limit_ms);
    }
    buf_clear(&c->body);
    c->detail[0] = 0;
    c->heard_ms = cli_now_ms();
    CURLcode code = curl_easy_perform(c->curl);
    curl_slist_free_all(headers);
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK && !(c->take && c->taken < 0)) {
        c->may_have_done = c->may_have_done || was_sent(c);
        return transport_error(c, code, err);
    }
    SCOPED_ARENA(a);
    bool unsure = status == 503 && c->body.size > 0 && !says_not_done(unavailable_text(&a, c));
    c->may_have_done = c->may_have_done || (body && unsure);
    if (status == 200 || status == 202 || (c->rest && status / 100 == 2)) {
        return 0;
    }
    int r = c->rest ? rest_error(c, status, err) : 0;
    return r < 0 ? r : status_error(c, path, !body, status, err);
}

/* Adds which servers were asked, when there are several: the error speaks of the last. What it says
 * is not cut for that: as many are reported as there is room for behind it. */
static int tried_all(const struct cli_client *c, int r, struct err *err)
{
    static const char begins[] = "; tried: ", more[] = ", and more";
    if (!err || c->url_count == 1) {
        return r;
    }
    char tried[sizeof(err->text)] = "";
    size_t used = strlen(err->text) + strlen(begins) + strlen(more), size = 0, i = 0;
    for (; i < c->url_count && used + size + strlen(c->urls[i]) + 2 < sizeof(err->text); i++) {
        size +=
            (size_t)snprintf(tried + size, sizeof(tried) - size, "%s%s", i ? ", " : "", c->urls[i]);
    }
    if (i == 0) {
        return r;
    }
    struct err last = *err;
    return err_set(err, last.code, "%s%s%s%s", last.text, begins, tried,
                   i < c->url_count ? more : "");
}

/* Asks one after the other until one answers or the time is over. */
static int exchange_with_any(struct cli_client *c, const char *path, const struct buf *body,
                             struct err *err)
{
    int64_t begun_ms = cli_now_ms();
    c->may_have_done = false;
    for (c->tried = 0;;) {
        int r = exchange(c, path, body, err);
        if (r == -ERR_TIMEOUT && c->tried + 1 >= c->url_count) {
            return tried_all(c, r, err);
        }
        if (r != -ERR_UNAVAILABLE) {
            return r;
        }
        c->next = (c->next + 1) % c->url_count;
        if (++c->tried % c->url_count == 0) {
            bool patient = cli_now_ms() - begun_ms < CLIENT_PATIENCE_MS;
            if (!patient || time_left(c) <= CLIENT_PAUSE_MS) {
                return tried_all(c, r, err);
            }
            cli_sleep_ms(CLIENT_PAUSE_MS);
        }
        if (cli_interrupted()) {
            return err_set(err, ERR_UNKNOWN, "interrupted");
        }
    }
}

static enum err_code code_of(Models__Error__Type type)
{
    switch (type) {
    case MODELS__ERROR__TYPE__ResourceNotFound:
        return ERR_NOT_FOUND;
    case MODELS__ERROR__TYPE__ResourceExists:
        return ERR_EXISTS;
    case MODELS__ERROR__TYPE__ResourceConflict:
    case MODELS__ERROR__TYPE__InvalidStateTransition:
        return ERR_CONFLICT;
    case MODELS__ERROR__TYPE__InvalidRequest:
        return ERR_INVALID;
    default:
        return ERR_IO;
    }
}

/* The error in field 1, if the answer's type has one. */
static int application_error(const ProtobufCMessage *answer, struct err *err)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field(answer->descriptor, 1);
    if (!f || f->type != PROTOBUF_C_TYPE_MESSAGE || f->descriptor != &models__error__descriptor ||
        f->label == PROTOBUF_C_LABEL_REPEATED) {
        return 0;
    }
    const Models__Error *e = *(Models__Error *const *)((const char *)answer + f->offset);
    return e ? err_set(err, code_of(e->type), "%.200s", e->message) : 0;
}

int cli_client_call(struct cli_client *c, struct arena *a, const char *path,
                    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *answer_type,
                    ProtobufCMessage **ret_answer, struct err *err)
{
    SCOPED_BUF(body);
    if (request) {
        buf_message(&body, request);
    }
    int r = exchange_with_any(c, path, &body, err);
    ProtobufCMessage *answer = NULL;
    r = r < 0 ? r
              : scan_and_unpack_answer(a, answer_type, buf_bytes(&c->body), CLIENT_DECODED_MAX,
                                       &answer, err);
    r = r < 0 ? r : application_error(answer, err);
    if (r == 0) {
        *ret_answer = answer;
    }
    return r;
}

int cli_client_post(struct cli_client *c, struct arena *a, const char *path, struct bytes *ret_body,
                    struct err *err)
{
    SCOPED_BUF(empty);
    int r = exchange_with_any(c, path, &empty, err);
    if (r == 0) {
        *ret_body = (struct bytes){arena_copy(a, c->body.data, c->body.size), c->body.size};
    }
    return r;
}

int cli_client_get(struct cli_client *c, struct arena *a, const char *path, struct bytes *ret_body,
                   struct err *err)
{
    int r = exchange_with_any(c, path, NULL, err);
    if (r == 0) {
        *ret_body = (struct bytes){arena_copy(a, c->body.data, c->body.size), c->body.size};
    }
    return r;
}

int cli_client_rest(struct cli_client *c, struct arena *a, const char *method, const char *path,
                    struct bytes body, struct bytes *ret_body, struct err *err)
{
    SCOPED_BUF(sent);
    buf_append(&sent, body.data, body.size);
    c->rest = method;
    int r = exchange_with_any(c, path, body.size ? &sent : NULL, err);
    c->rest = NULL;
    if (r == 0) {
        *ret_body = (struct bytes){arena_copy(a, c->body.data, c->body.size), c->body.size};
    }
    return r;
}

int cli_client_get_stream(struct cli_client *c, const char *path, int64_t silence_ms,
                          int (*take)(void *owner, struct bytes bytes), void *owner,
                          struct err *err)
{
    c->take = take;
    c->owner = owner;
    c->taken = 0;
    c->silence_ms = silence_ms;
    c->tried = 0;
    int r = exchange(c, path, NULL, err);
    c->take = NULL;
    return c->taken < 0 ? c->taken : r;
}

void cli_client_stay(struct cli_client *c)
{
    c->next = (c->next + c->url_count - 1) % c->url_count;
}

bool cli_client_may_have_done(const struct cli_client *c)
{
    return c->may_have_done;
}

bool cli_client_answered(const struct cli_client *c)
{
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    return status == 200;
}

int cli_client_stream(struct cli_client *c, const char *path, const ProtobufCMessage *request,
                      int64_t silence_ms, int (*take)(void *owner, struct bytes bytes), void *owner,
                      struct err *err)
{
    SCOPED_BUF(body);
    buf_message(&body, request);
    c->take = take;
    c->owner = owner;
    c->taken = 0;
    c->silence_ms = silence_ms;
    c->tried = 0;
    int r = exchange(c, path, &body, err);
    c->take = NULL;
    c->next = (c->next + 1) % c->url_count;
    return c->taken < 0 ? c->taken : r;
}

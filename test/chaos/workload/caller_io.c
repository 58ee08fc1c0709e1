#include "test/chaos/workload/caller_io.h"

#include "common/codec/scan.h"
#include "common/model/not_done.h"
#include "models/error.pb-c.h"
#include "test/chaos/workload/recorder_io.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_BYTES_MAX = 64 << 20, DECODED_BYTES_MAX = 256 << 20 };

struct caller {
    CURL *curl;
    const struct target *target;
    const struct target_identity *identity;
    struct buf answer;
    char detail[CURL_ERROR_SIZE];
    int sendings; /* of this call: how often a connection was there to send it on */
    /* of a stream */
    int (*take)(void *owner, struct bytes bytes);
    void *owner;
    int64_t heard_ns, silence_ns;
    const atomic_bool *stop;
};

struct caller *caller_new(const struct target *target, const struct target_identity *identity)
{
    struct caller *c = calloc(1, sizeof(*c));
    if (!c) {
        abort();
    }
    c->curl = curl_easy_init();
    c->target = target;
    c->identity = identity;
    buf_init(&c->answer);
    return c;
}

void caller_free(struct caller *c)
{
    if (c) {
        curl_easy_cleanup(c->curl);
        buf_done(&c->answer);
        free(c);
    }
}

static size_t on_bytes(char *data, size_t size, size_t count, void *caller)
{
    struct caller *c = caller;
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    c->heard_ns = chaos_now_ns();
    if (c->take && status == 200) {
        struct bytes bytes = {(const uint8_t *)data, size * count};
        return c->take(c->owner, bytes) < 0 ? 0 : size * count;
    }
    if (c->answer.size + size * count > ANSWER_BYTES_MAX) {
        return 0;
    }
    buf_append(&c->answer, data, size * count);
    return size * count;
}

static int on_progress(void *caller, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
    const struct caller *c = caller;
    (void)a, (void)b, (void)d, (void)e;
    return c->take &&
           ((c->stop && atomic_load(c->stop)) || chaos_now_ns() - c->heard_ns > c->silence_ns);
}

/* libcurl repeats a request by itself when a reused connection breaks before the answer. One call
 * would then be done twice, and the history know of one. */
static int before_sending(void *caller, char *peer, char *local, int peer_port, int local_port)
{
    struct caller *c = caller;
    (void)peer, (void)local, (void)peer_port, (void)local_port;
    return ++c->sendings == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static void prepare(struct caller *c, const char *url, const char *path, const struct buf *body)
{
    char whole[2 * TARGET_TEXT];
    snprintf(whole, sizeof(whole), "%s%s", url, path);
    curl_easy_reset(c->curl); /* which keeps the connections */
    curl_easy_setopt(c->curl, CURLOPT_URL, whole);
    curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->target->ca);
    curl_easy_setopt(c->curl, CURLOPT_SSLCERT, c->identity->cert);
    curl_easy_setopt(c->curl, CURLOPT_SSLKEY, c->identity->key);
    curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CALL_CONNECT_MS);
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->detail);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(c->curl, CURLOPT_PREREQFUNCTION, before_sending);
    curl_easy_setopt(c->curl, CURLOPT_PREREQDATA, c);
    curl_easy_setopt(c->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body->size ? (const char *)body->data : "");
    buf_clear(&c->answer);
    c->detail[0] = 0;
    c->sendings = 0;
    c->heard_ns = chaos_now_ns();
}

static CURLcode perform(struct caller *c)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    headers = curl_slist_append(headers, "Content-Type: application/x-protobuf");
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(c->curl);
    curl_slist_free_all(headers);
    return code;
}

static const char *why_not(const struct caller *c, CURLcode code)
{
    return c->detail[0] ? c->detail : curl_easy_strerror(code);
}

/* Of errors in an answer these say that nothing was done; of others it is not known. */
static bool is_refusal(const Models__Error *e)
{
    return e->type != MODELS__ERROR__TYPE__UnknownError && e->type != MODELS__ERROR__TYPE__Timeout;
}

static void decode(struct caller *c, struct arena *a, const ProtobufCMessageDescriptor *type,
                   struct reply *r)
{
    struct err err = {0};
    if (scan_and_unpack_answer(a, type, buf_bytes(&c->answer), DECODED_BYTES_MAX, &r->message,
                               &err) < 0) {
        r->outcome = OUTCOME_UNKNOWN;
        r->why = arena_strdup(a, err.text);
        return;
    }
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(type, 1);
    const Models__Error *e = NULL;
    if (f && f->type == PROTOBUF_C_TYPE_MESSAGE && f->descriptor == &models__error__descriptor) {
        e = *(Models__Error *const *)((const char *)r->message + f->offset);
    }
    r->outcome = !e ? OUTCOME_OK : is_refusal(e) ? OUTCOME_FAILED : OUTCOME_UNKNOWN;
    r->error_type = e ? (int)e->type : -1;
    r->why = e ? e->message : "";
}

static enum outcome outcome_of_status(struct caller *c, long status)
{
    const char *text = buf_string(&c->answer);
    bool not_done = c->answer.size == 0 || strncmp(text, NOT_DONE, strlen(NOT_DONE)) == 0;
    return status == 503 && !not_done      ? OUTCOME_UNKNOWN
           : status >= 400 && status < 504 ? OUTCOME_FAILED
                                           : OUTCOME_UNKNOWN;
}

struct reply caller_post(struct caller *c, struct arena *a, const char *url, const char *path,
                         const ProtobufCMessage *request,
                         const ProtobufCMessageDescriptor *answer_type)
{
    struct reply r = {.error_type = -1, .why = ""};
    SCOPED_BUF(body);
    if (request) {
        buf_message(&body, request);
    }
    c->take = NULL;
    prepare(c, url, path, &body);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)CALL_LIMIT_MS);
    CURLcode code = perform(c);
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) {
        /* One that was never on its way: nothing came of it. */
        r.outcome = c->sendings == 0 ? OUTCOME_FAILED : OUTCOME_UNKNOWN;
        r.why = arena_strdup(a, why_not(c, code));
        return r;
    }
    r.answered = true;
    if (status != 200) {
        r.outcome = outcome_of_status(c, status);
        r.why = arena_printf(a, "%ld %.100s", status, buf_string(&c->answer));
        return r;
    }
    decode(c, a, answer_type, &r);
    return r;
}

const char *caller_stream(struct caller *c, const char *url, const char *path,
                          const ProtobufCMessage *request, int64_t silence_ms,
                          int (*take)(void *owner, struct bytes bytes), void *owner,
                          const atomic_bool *stop)
{
    SCOPED_BUF(body);
    buf_message(&body, request);
    c->take = take;
    c->owner = owner;
    c->stop = stop;
    c->silence_ns = silence_ms * 1000000;
    prepare(c, url, path, &body);
    CURLcode code = perform(c);
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    return code == CURLE_ABORTED_BY_CALLBACK ? "silent"
           : code != CURLE_OK                ? why_not(c, code)
           : status != 200                   ? "not ready"
                                             : "ended";
}

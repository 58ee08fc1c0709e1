#include "common/shell/exchange_io.h"

#include "common/base/memory.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x080e00
#error "libcurl 8.14 or later is needed (Debian 12: from bookworm-backports)"
#endif

enum { LIBCURL_FIT = 0x080e00, TCP_IDLE_S = 1, TCP_PROBE_S = 1 };

int exchange_check_libcurl(unsigned version_number, const char *version, int features,
                           struct err *err)
{
    if (version_number < LIBCURL_FIT) {
        return err_set(err, ERR_UNAVAILABLE,
                       "libcurl %s loses answers over HTTP/2, 8.14 or later is needed "
                       "(Debian 12: apt-get install libcurl4/bookworm-backports)",
                       version);
    }
    if (!(features & CURL_VERSION_HTTP2) || !(features & CURL_VERSION_SSL)) {
        return err_set(err, ERR_UNAVAILABLE, "libcurl %s was built without %s, which etcd needs",
                       version, features & CURL_VERSION_SSL ? "HTTP/2" : "TLS");
    }
    return 0;
}

struct curl_slist *exchange_headers(void)
{
    /* hasleader: a member that lost its leader ends calls and watches instead of letting them hang.
     * Expect: an empty one keeps libcurl from waiting for 100-continue. */
    static const char *const lines[] = {"Content-Type: application/grpc", "TE: trailers",
                                        "hasleader: true", "Expect:"};
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        list = curl_slist_append(list, lines[i]);
        assert(list);
    }
    return list;
}

static size_t give_request(char *out, size_t size, size_t count, void *exchange)
{
    struct exchange *x = exchange;
    size_t left = x->request.size - x->sent;
    if (left == 0) {
        return x->hold_open ? CURL_READFUNC_PAUSE : 0;
    }
    size_t take = size * count < left ? size * count : left;
    memcpy(out, x->request.data + x->sent, take);
    x->sent += take;
    return take;
}

/* libcurl repeats a request by itself when a reused connection breaks before the answer. That could
 * carry out a write twice, so what was given away once may neither open a connection nor be sent on
 * another one. (Refusing to rewind would also do, but makes libcurl 8.14.1 free a connection
 * twice.) */
static curl_socket_t open_socket(void *exchange, curlsocktype purpose, struct curl_sockaddr *to)
{
    (void)purpose;
    const struct exchange *x = exchange;
    return x->sent ? CURL_SOCKET_BAD
                   : socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static int before_sending(void *exchange, char *peer, char *local, int peer_port, int local_port)
{
    (void)peer;
    (void)local;
    (void)peer_port;
    (void)local_port;
    const struct exchange *x = exchange;
    return x->sent ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static size_t take_answer(char *data, size_t size, size_t count, void *exchange)
{
    struct exchange *x = exchange;
    if (x->received.size + size * count > x->options->answer_bytes + GRPC_FRAME_HEADER_BYTES) {
        x->overflowed = true;
        return CURL_WRITEFUNC_ERROR;
    }
    buf_append(&x->received, data, size * count);
    return size * count;
}

static size_t take_header(char *data, size_t size, size_t count, void *exchange)
{
    struct exchange *x = exchange;
    grpc_trailers_line(&x->trailers,
                       (struct bytes){.data = (const uint8_t *)data, .size = size * count});
    return size * count;
}

static int set_socket(void *exchange, curl_socket_t fd, curlsocktype purpose)
{
    (void)purpose;
    const struct exchange *x = exchange;
    unsigned limit_ms = (unsigned)x->options->user_timeout_ms;
    return setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms))
               ? CURL_SOCKOPT_ERROR
               : CURL_SOCKOPT_OK;
}

#define SET(easy, option, value)                                                                   \
    do {                                                                                           \
        CURLcode set_code = curl_easy_setopt(easy, option, value);                                 \
        assert(set_code == CURLE_OK);                                                              \
    } while (0)

static void set_callbacks(struct exchange *x)
{
    SET(x->easy, CURLOPT_PRIVATE, x);
    SET(x->easy, CURLOPT_ERRORBUFFER, x->problem);
    SET(x->easy, CURLOPT_READFUNCTION, give_request);
    SET(x->easy, CURLOPT_READDATA, x);
    SET(x->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(x->easy, CURLOPT_OPENSOCKETDATA, x);
    SET(x->easy, CURLOPT_PREREQFUNCTION, before_sending);
    SET(x->easy, CURLOPT_PREREQDATA, x);
    SET(x->easy, CURLOPT_WRITEFUNCTION, take_answer);
    SET(x->easy, CURLOPT_WRITEDATA, x);
    SET(x->easy, CURLOPT_HEADERFUNCTION, take_header);
    SET(x->easy, CURLOPT_HEADERDATA, x);
    SET(x->easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
    SET(x->easy, CURLOPT_SOCKOPTDATA, x);
}

static void set_connection(struct exchange *x)
{
    const struct exchange_options *o = x->options;
    SET(x->easy, CURLOPT_POST, 1L);
    SET(x->easy, CURLOPT_HTTPHEADER, o->headers);
    SET(x->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(x->easy, CURLOPT_PROXY, ""); /* the environment must not reroute the store */
    SET(x->easy, CURLOPT_NOSIGNAL, 1L);
    SET(x->easy, CURLOPT_QUICK_EXIT, 1L); /* the loop must not wait for a name that is looked up */
    SET(x->easy, CURLOPT_CONNECTTIMEOUT_MS, o->connect_ms);
    SET(x->easy, CURLOPT_TCP_NODELAY, 1L);
    SET(x->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    SET(x->easy, CURLOPT_TCP_KEEPIDLE, (long)TCP_IDLE_S);
    SET(x->easy, CURLOPT_TCP_KEEPINTVL, (long)TCP_PROBE_S);
    SET(x->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->ca) {
        SET(x->easy, CURLOPT_CAINFO, o->ca);
        SET(x->easy, CURLOPT_CAPATH, NULL);
    }
    if (o->cert) {
        SET(x->easy, CURLOPT_SSLCERT, o->cert);
        SET(x->easy, CURLOPT_SSLKEY, o->key);
    }
}

struct exchange *exchange_new(const struct exchange_options *options, void *owner)
{
    struct exchange *x = mem_zeroed(sizeof(*x));
    *x = (struct exchange){.easy = curl_easy_init(), .options = options, .owner = owner};
    assert(x->easy);
    buf_init(&x->request);
    buf_init(&x->received);
    grpc_trailers_init(&x->trailers);
    set_callbacks(x);
    set_connection(x);
    return x;
}

void exchange_free(struct exchange *x)
{
    if (!x) {
        return;
    }
    curl_easy_cleanup(x->easy);
    buf_done(&x->request);
    buf_done(&x->received);
    grpc_trailers_done(&x->trailers);
    free(x);
}

void exchange_fill(struct exchange *x, const ProtobufCMessage *request, bool hold_open)
{
    buf_clear(&x->request);
    buf_clear(&x->received);
    grpc_trailers_clear(&x->trailers);
    grpc_frame_append(&x->request, request);
    x->sent = 0;
    x->overflowed = false;
    x->problem[0] = 0;
    x->hold_open = hold_open;
    SET(x->easy, CURLOPT_POSTFIELDSIZE_LARGE,
        hold_open ? (curl_off_t)-1 : (curl_off_t)x->request.size);
}

void exchange_aim(struct exchange *x, const char *url, long timeout_ms)
{
    bool tls = strncmp(url, "https", 5) == 0;
    SET(x->easy, CURLOPT_URL, url);
    SET(x->easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    SET(x->easy, CURLOPT_HTTP_VERSION,
        tls ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
}

struct exchange *exchange_of(CURL *easy)
{
    char *x = NULL;
    CURLcode code = curl_easy_getinfo(easy, CURLINFO_PRIVATE, &x);
    assert(code == CURLE_OK && x);
    return (struct exchange *)(void *)x;
}

bool exchange_unsent(const struct exchange *x)
{
    return x->sent < x->request.size;
}

void exchange_explain(const struct exchange *x, CURLcode result, struct buf *out)
{
    if (x->overflowed) {
        buf_printf(out, "the answer exceeds %zu bytes", x->options->answer_bytes);
    } else if (x->sent &&
               (result == CURLE_COULDNT_CONNECT || result == CURLE_ABORTED_BY_CALLBACK)) {
        buf_append_string(out, "the connection broke before the answer"); /* see open_socket() */
    } else if (result != CURLE_OK) {
        buf_append_string(out, x->problem[0] ? x->problem : curl_easy_strerror(result));
    } else {
        long status = 0;
        curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
        buf_printf(out, "the answer (HTTP %ld) has no grpc-status", status);
    }
}

#include "rep/courier/http_io.h"

#include <string.h>
#include <unistd.h>

/* libcurl's own texts name hosts and paths in part, so these are ours. */
static const struct failure {
    CURLcode code;
    enum err_code as;
    bool again;
    const char *text;
} failures[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, ERR_DENIED, false,
     "the server redirects to another protocol than http and https"},
    {CURLE_URL_MALFORMAT, ERR_INVALID, false, "the URL is none"},
    {CURLE_COULDNT_RESOLVE_HOST, ERR_UNAVAILABLE, true, "the server's name is unknown"},
    {CURLE_COULDNT_RESOLVE_PROXY, ERR_UNAVAILABLE, true, "the proxy's name is unknown"},
    {CURLE_COULDNT_CONNECT, ERR_UNAVAILABLE, true, "cannot connect to the server"},
    {CURLE_WEIRD_SERVER_REPLY, ERR_INVALID, true, "the server does not speak HTTP"},
    {CURLE_PARTIAL_FILE, ERR_UNAVAILABLE, true, "the connection ended before the content did"},
    {CURLE_GOT_NOTHING, ERR_UNAVAILABLE, true, "the server ended the connection without an answer"},
    {CURLE_SEND_ERROR, ERR_UNAVAILABLE, true, "the connection broke while sending"},
    {CURLE_RECV_ERROR, ERR_UNAVAILABLE, true, "the connection broke while receiving"},
    {CURLE_HTTP2, ERR_UNAVAILABLE, true, "the connection broke"},
    {CURLE_HTTP2_STREAM, ERR_UNAVAILABLE, true, "the connection broke"},
    {CURLE_TOO_MANY_REDIRECTS, ERR_TOO_LARGE, false, "the server redirects too often"},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_DENIED, false, "the server's certificate is not good"},
    {CURLE_SSL_CERTPROBLEM, ERR_IO, false, "the further CAs (--fetch-ca) are none"},
    {CURLE_SSL_CONNECT_ERROR, ERR_UNAVAILABLE, true, "no TLS with the server"},
    {CURLE_OUT_OF_MEMORY, ERR_IO, false, "out of memory"},
};

/* Called at each piece of work, and once a second. */
static int watch(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                 curl_off_t up)
{
    struct http *h = context;
    int64_t now = errand_now_ms();
    (void)down_total;
    (void)up_total;
    if (down + up != h->moved) {
        h->moved = down + up;
        h->moved_ms = now;
    }
    h->idle = now - h->moved_ms >= h->limits.idle_ms;
    return h->idle;
}

int http_init(struct http *h, const char *url, const struct http_limits *limits, struct err *err)
{
    *h = (struct http){.limits = *limits};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(h->easy = curl_easy_init())) {
        return err_set(err, ERR_IO, "cannot begin a transfer: out of memory");
    }
    curl_easy_setopt(h->easy, CURLOPT_URL, url);
    curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h->easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION, (long)(limits->redirects > 0));
    curl_easy_setopt(h->easy, CURLOPT_MAXREDIRS, (long)limits->redirects);
    curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)limits->idle_ms);
    curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h->easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(h->easy, CURLOPT_XFERINFODATA, h);
    curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "rep-courier");
    if (limits->ca.size > 0) { /* beside the directory of the system's */
        struct curl_blob blob = {(void *)(uintptr_t)limits->ca.data, limits->ca.size, 0};
        curl_easy_setopt(h->easy, CURLOPT_CAINFO_BLOB, &blob);
    }
    return 0;
}

void http_done(struct http *h)
{
    curl_easy_cleanup(h->easy);
    h->easy = NULL;
}

/* 1. Its own time without a byte, of which connecting is a part.
 * 2. All the time that it has.
 * 3. What the table says; all else may pass. */
static void explain(const struct http *h, CURLcode code, bool *ret_again, struct err *err)
{
    const struct failure *f = failures, *end = failures + sizeof(failures) / sizeof(failures[0]);
    bool late = code == CURLE_OPERATION_TIMEDOUT, over = errand_now_ms() >= h->limits.end_ms;
    long error = 0, status = 0;
    curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_UNSUPPORTED_PROTOCOL && status == 0) { /* of an answer that is none, too */
        code = CURLE_WEIRD_SERVER_REPLY;
    }
    while (f < end && f->code != code) {
        f++;
    }
    *ret_again = f == end ? !(late && over) : f->again;
    if (h->idle || (late && !over)) { /* 1 */
        *ret_again = true;
        err_set(err, ERR_TIMEOUT, "no byte moved for %.1f s", (double)h->limits.idle_ms / 1000);
    } else if (late) { /* 2 */
        err_set(err, ERR_TIMEOUT, "it took longer than it may");
    } else if (f == end) { /* 3 */
        err_set(err, ERR_UNAVAILABLE, "the transfer failed: %s", curl_easy_strerror(code));
    } else {
        curl_easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &error);
        bool told = code == CURLE_COULDNT_CONNECT && error != 0;
        err_set(err, f->as, "%s%s%s", f->text, told ? ": " : "", told ? strerror((int)error) : "");
    }
}

bool http_attempt(struct http *h, bool *ret_again, struct err *err)
{
    int64_t now = errand_now_ms(), left = h->limits.end_ms - now;
    h->moved_ms = now;
    h->moved = h->unwanted = 0;
    h->idle = h->enough = false;
    curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, (long)(left > 0 ? left : 1));
    CURLcode code = curl_easy_perform(h->easy);
    if (code == CURLE_OK || h->enough) {
        return true;
    }
    explain(h, code, ret_again, err);
    return false;
}

size_t http_no_interest(struct http *h, size_t size)
{
    h->unwanted += (int64_t)size;
    h->enough = h->unwanted > HTTP_NO_INTEREST_BYTES;
    return h->enough ? CURL_WRITEFUNC_ERROR : size;
}

bool http_again(const struct http *h, int number)
{
    int64_t pause_ms = (int64_t)HTTP_PAUSE_MS * number;
    if (number >= h->limits.attempts || errand_now_ms() + pause_ms >= h->limits.end_ms) {
        return false;
    }
    usleep((useconds_t)pause_ms * 1000);
    return true;
}

#include "common/shell/prober_io.h"

#include "common/base/memory.h"
#include "common/shell/curl_loop_io.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EASY_KEPT_MAX = 64 }; /* libcurl's handles, which take longer to make than a probe */

/* Paths and Locations may have blanks, and letters beyond ASCII. */
#define AS_WRITTEN (CURLU_URLENCODE | CURLU_ALLOW_SPACE)

struct attempt {
    LIST_ENTRY(attempt) all;
    struct prober *prober;
    uint64_t id;
    char *guid;
    enum probe_kind kind;
    int64_t began_ms, ends_ms;
    struct probed end;
    char text[CURL_ERROR_SIZE];
    struct event *told; /* of TCP: its socket, or its end; of HTTP: its end */
    /* HTTP */
    CURL *easy;
    bool in_multi;
    bool answered; /* the head is whole */
    char *location; /* of it; NULL = none */
    size_t head_bytes;
    unsigned redirects;
    char *url;
    char error[CURL_ERROR_SIZE];
    int fd; /* TCP; -1 = none */
};

LIST_HEAD(attempts, attempt);

struct prober {
    struct event_base *base;
    struct curl_loop *loop;
    struct curl_slist *headers;
    prober_told *told;
    void *context;
    struct attempts all;
    CURL *kept[EASY_KEPT_MAX];
    size_t kept_count;
    size_t open;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Its place is free from now on. */
static void close_attempt(struct attempt *t)
{
    LIST_REMOVE(t, all);
    t->prober->open--;
}

static void attempt_free(struct attempt *t)
{
    struct prober *p = t->prober;
    if (t->in_multi) {
        curl_multi_remove_handle(curl_loop_multi(p->loop), t->easy);
    }
    if (t->easy && p->kept_count < EASY_KEPT_MAX) {
        curl_easy_reset(t->easy);
        p->kept[p->kept_count++] = t->easy;
    } else {
        curl_easy_cleanup(t->easy);
    }
    if (t->told) {
        event_free(t->told);
    }
    if (t->fd >= 0) {
        close(t->fd);
    }
    free(t->guid);
    free(t->url);
    free(t->location);
    free(t);
}

static void tell(struct attempt *t)
{
    struct prober *p = t->prober;
    struct probed end = t->end;
    end.id = t->id;
    end.guid = t->guid;
    end.text = t->text;
    end.took_ms = now_ms() - t->began_ms;
    close_attempt(t); /* who is told of it may begin the next at once */
    p->told(p->context, &end);
    attempt_free(t);
}

static void end_with(struct attempt *t, enum probe_outcome outcome, const char *text)
{
    t->end.outcome = outcome;
    snprintf(t->text, sizeof(t->text), "%s", text);
    tell(t);
}

/* ---- TCP ------------------------------------------------------------------------------------- */

static void end_by_errno(struct attempt *t, int error)
{
    end_with(t,
             error == 0              ? PROBE_ANSWERED
             : error == ECONNREFUSED ? PROBE_REFUSED
             : error == ETIMEDOUT    ? PROBE_TIMED_OUT
                                     : PROBE_FAILED,
             error ? strerror(error) : "");
}

static void on_socket(evutil_socket_t fd, short what, void *context)
{
    struct attempt *t = context;
    int error = errno;
    socklen_t size = sizeof(error);
    if (what & EV_WRITE) {
        end_by_errno(t, getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error);
    } else {
        end_with(t, PROBE_TIMED_OUT, "");
    }
}

static socklen_t address_of(const struct probe *probe, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
    memset(ret, 0, sizeof(*ret));
    if (inet_pton(AF_INET, probe->address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)probe->port);
        return sizeof(*v4);
    }
    if (inet_pton(AF_INET6, probe->address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)probe->port);
        return sizeof(*v6);
    }
    return 0;
}

/* What came of it before it could wait for anything: told from the loop. */
static void on_early_end(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    tell(context);
}

static void end_soon(struct attempt *t, enum probe_outcome outcome, const char *text)
{
    t->end.outcome = outcome;
    snprintf(t->text, sizeof(t->text), "%s", text);
    t->told = event_new(t->prober->base, -1, 0, on_early_end, t);
    if (!t->told) {
        abort();
    }
    event_active(t->told, EV_TIMEOUT, 0);
}

static void begin_tcp(struct attempt *t, const struct probe *probe)
{
    struct sockaddr_storage address;
    socklen_t size = address_of(probe, &address);
    if (size == 0) {
        end_soon(t, PROBE_FAILED, "the address is none");
        return;
    }
    t->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int failed = t->fd < 0 ? -1 : connect(t->fd, (struct sockaddr *)&address, size);
    if (failed == 0) {
        end_soon(t, PROBE_ANSWERED, "");
        return;
    }
    if (t->fd < 0 || errno != EINPROGRESS) {
        end_soon(t, errno == ECONNREFUSED ? PROBE_REFUSED : PROBE_FAILED, strerror(errno));
        return;
    }
    struct timeval tv = {.tv_sec = probe->timeout_ms / 1000,
                         .tv_usec = probe->timeout_ms % 1000 * 1000};
    t->told = event_new(t->prober->base, t->fd, EV_WRITE, on_socket, t);
    if (!t->told || event_add(t->told, &tv) < 0) {
        abort();
    }
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static void keep_location(struct attempt *t, const char *line, size_t size)
{
    static const char name[] = "location:";
    size_t at = sizeof(name) - 1;
    if (size > at && strncasecmp(line, name, at) == 0) {
        while (at < size && line[at] == ' ') {
            at++;
        }
        while (size > at && strchr("\r\n ", line[size - 1])) {
            size--;
        }
        free(t->location);
        t->location = mem_printf("%.*s", (int)(size - at), line + at);
    }
}

/* Line by line. With its end the status is known, which decides: what follows need not come. */
static size_t take_head(char *data, size_t one, size_t size, void *context)
{
    struct attempt *t = context;
    long status = 0;
    (void)one;
    t->head_bytes += size;
    if (t->head_bytes > PROBE_BYTES_MAX) {
        return 0;
    }
    keep_location(t, data, size);
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->answered = status >= 200 && (data[0] == '\r' || data[0] == '\n');
    return t->answered ? 0 : size;
}

static size_t take_body(char *data, size_t one, size_t size, void *context)
{
    (void)data, (void)one, (void)size, (void)context;
    return 0;
}

/* The instance itself, at its own port: the rep fetches nothing from anybody else for it. */
static bool is_same_place(const char *from, const char *to)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
    CURLU *l = curl_url(), *r = curl_url();
    bool same = l && r && curl_url_set(l, CURLUPART_URL, from, 0) == CURLUE_OK &&
                curl_url_set(r, CURLUPART_URL, to, 0) == CURLUE_OK;
    for (size_t i = 0; same && i < sizeof(parts) / sizeof(parts[0]); i++) {
        char *a = NULL, *b = NULL;
        same = curl_url_get(l, parts[i], &a, CURLU_DEFAULT_PORT) == CURLUE_OK &&
               curl_url_get(r, parts[i], &b, CURLU_DEFAULT_PORT) == CURLUE_OK && strcmp(a, b) == 0;
        curl_free(a);
        curl_free(b);
    }
    curl_url_cleanup(l);
    curl_url_cleanup(r);
    return same;
}

/* False: its time is over. */
static bool request(struct attempt *t)
{
    int64_t left_ms = t->ends_ms - now_ms();
    if (left_ms <= 0) {
        return false;
    }
    t->answered = false;
    t->head_bytes = 0;
    free(t->location);
    t->location = NULL;
    curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    if (curl_multi_add_handle(curl_loop_multi(t->prober->loop), t->easy) != CURLM_OK) {
        abort();
    }
    t->in_multi = true;
    return true;
}

/* Where it is sent to; NULL: that is no URL. */
static char *resolved(const char *from, const char *to)
{
    CURLU *u = curl_url();
    char *whole = NULL;
    bool good = u && curl_url_set(u, CURLUPART_URL, from, 0) == CURLUE_OK &&
                curl_url_set(u, CURLUPART_URL, to, AS_WRITTEN) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK;
    char *copy = good ? mem_text(whole) : NULL;
    curl_free(whole);
    curl_url_cleanup(u);
    return copy;
}

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* True: it goes on there, or has ended for it. */
static bool is_redirected(struct attempt *t, long status)
{
    if (!is_redirect(status) || !t->location) {
        return false;
    }
    char *to = resolved(t->url, t->location);
    if (!to || !is_same_place(t->url, to)) {
        free(to);
        end_with(t, PROBE_FAILED, "redirected to another address, which is not followed");
        return true;
    }
    free(t->url);
    t->url = to;
    if (++t->redirects > PROBE_REDIRECTS_MAX) {
        snprintf(t->text, sizeof(t->text), "stopped after %d redirects", PROBE_REDIRECTS_MAX);
        t->end.outcome = PROBE_FAILED;
        tell(t);
    } else if (!request(t)) {
        end_with(t, PROBE_TIMED_OUT, "");
    }
    return true;
}

static void on_fault(struct attempt *t, CURLcode result)
{
    long error = 0;
    curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &error);
    if (t->head_bytes > PROBE_BYTES_MAX || result == CURLE_OUT_OF_MEMORY ||
        result == CURLE_TOO_LARGE) {
        snprintf(t->text, sizeof(t->text), "the head of the answer is larger than %d bytes",
                 PROBE_BYTES_MAX);
        t->end.outcome = PROBE_FAILED;
        tell(t);
    } else if (result == CURLE_OPERATION_TIMEDOUT) {
        end_with(t, PROBE_TIMED_OUT, "");
    } else if (result == CURLE_COULDNT_CONNECT && error) {
        end_by_errno(t, (int)error);
    } else if (result == CURLE_GOT_NOTHING) {
        end_with(t, PROBE_FAILED, "the connection was closed without an answer");
    } else {
        end_with(t, PROBE_FAILED, t->error[0] ? t->error : curl_easy_strerror(result));
    }
}

static void on_done(void *context, CURL *easy, CURLcode result)
{
    (void)context;
    struct attempt *t = NULL;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    t->in_multi = false;
    if (result != CURLE_OK && !t->answered) {
        on_fault(t, result);
    } else if (!is_redirected(t, status)) {
        t->end.status = (int)status;
        end_with(t, PROBE_ANSWERED, "");
    }
}

static void on_turn(void *context)
{
    (void)context;
}

/* NULL: the path can be part of no URL. */
static char *url_of(const struct probe *probe)
{
    bool six = strchr(probe->address, ':') != NULL;
    char *text = mem_printf(six ? "http://[%s]:%u%s" : "http://%s:%u%s", probe->address,
                            probe->port, probe->path);
    char *whole = NULL;
    CURLU *u = curl_url();
    bool good = u && curl_url_set(u, CURLUPART_URL, text, AS_WRITTEN) == CURLUE_OK &&
                curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK;
    char *copy = good ? mem_text(whole) : NULL;
    curl_free(whole);
    curl_url_cleanup(u);
    free(text);
    return copy;
}

static void set_up(struct attempt *t)
{
    struct prober *p = t->prober;
    CURL *e = p->kept_count > 0 ? p->kept[--p->kept_count] : curl_easy_init();
    if (!e) {
        abort();
    }
    t->easy = e;
    curl_easy_setopt(e, CURLOPT_PRIVATE, t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, "diego-healthcheck");
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
}

static void begin_http(struct attempt *t, const struct probe *probe)
{
    t->url = url_of(probe);
    if (!t->url) {
        end_soon(t, PROBE_FAILED, "the path cannot be part of a URL");
        return;
    }
    set_up(t);
    if (!request(t)) {
        end_soon(t, PROBE_TIMED_OUT, "");
    }
}

/* ---- The prober ------------------------------------------------------------------------------ */

struct prober *prober_new(struct event_base *base, prober_told *told, void *context)
{
    struct prober *p = mem_zeroed(sizeof(*p));
    struct curl_loop_handlers handlers = {.on_done = on_done, .on_turn = on_turn, .context = p};
    p->base = base;
    p->told = told;
    p->context = context;
    p->loop = curl_loop_new(base, &handlers);
    p->headers = curl_slist_append(NULL, "X-Forwarded-Proto: https");
    LIST_INIT(&p->all);
    return p;
}

void prober_free(struct prober *p)
{
    struct attempt *t;
    if (!p) {
        return;
    }
    while ((t = LIST_FIRST(&p->all))) {
        close_attempt(t);
        attempt_free(t);
    }
    while (p->kept_count > 0) {
        curl_easy_cleanup(p->kept[--p->kept_count]);
    }
    curl_loop_free(p->loop);
    curl_slist_free_all(p->headers);
    free(p);
}

void prober_probe(struct prober *p, const struct probe *probe)
{
    assert(p->open < PROBES_MAX && probe->timeout_ms > 0);
    struct attempt *t = mem_zeroed(sizeof(*t));
    t->prober = p;
    t->id = probe->id;
    t->guid = mem_text(probe->guid);
    t->kind = probe->kind;
    t->fd = -1;
    t->began_ms = now_ms();
    t->ends_ms = t->began_ms + probe->timeout_ms;
    LIST_INSERT_HEAD(&p->all, t, all);
    p->open++;
    if (t->kind == PROBE_TCP) {
        begin_tcp(t, probe);
    } else {
        begin_http(t, probe);
    }
}

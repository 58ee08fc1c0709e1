#include "common/shell/etcd_io.h"

#include "common/base/memory.h"
#include "common/contract/moment.h"
#include "common/shell/etcd_parts_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

const char *etcd_url(const struct etcd *e, size_t endpoint, const char *method, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s%s", e->endpoints[endpoint], method);
    return buf_string(out);
}

void etcd_endpoint_failed(struct etcd *e, size_t endpoint)
{
    if (endpoint == e->endpoint) {
        e->endpoint = (endpoint + 1) % e->endpoint_count;
    }
}

static void on_deferred(evutil_socket_t fd, short what, void *etcd)
{
    (void)fd;
    (void)what;
    etcd_calls_deferred(etcd);
    etcd_watches_deferred(etcd);
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
        return err_set(err, ERR_INVALID, "etcd endpoint \"%.*s\" needs a CA file", (int)size, text);
    }
    if (e->endpoint_count == ETCD_ENDPOINTS) {
        return err_set(err, ERR_TOO_LARGE, "more than %d etcd endpoints", ETCD_ENDPOINTS);
    }
    while (text[size - 1] == '/') {
        size--;
    }
    e->endpoints[e->endpoint_count] = strndup(text, size);
    assert(e->endpoints[e->endpoint_count]);
    e->endpoint_count++;
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
        .ca = mem_text(config->ca),
        .cert = mem_text(config->cert),
        .key = mem_text(config->key),
        .connect_ms = ETCD_CONNECT_MS,
        .user_timeout_ms = ETCD_USER_TIMEOUT_MS,
        .answer_bytes = ETCD_ANSWER_BYTES,
        .headers = exchange_headers(),
    };
    return parse_endpoints(e, config->endpoints, err);
}

int etcd_new(const struct etcd_config *config, struct event_base *base,
             const struct etcd_handlers *handlers, struct etcd **ret, struct err *err)
{
    struct etcd *e = calloc(1, sizeof(*e));
    if (!e || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        abort();
    }
    e->base = base;
    e->handlers = *handlers;
    int code = configure(e, config, err);
    if (code) {
        etcd_free(e);
        return code;
    }
    e->deferred = event_new(base, -1, 0, on_deferred, e);
    assert(e->deferred);
    etcd_calls_init(e);
    *ret = e;
    return 0;
}

void etcd_free(struct etcd *e)
{
    if (!e) {
        return;
    }
    if (e->deferred) {
        etcd_watches_free(e);
        etcd_calls_free(e);
        event_free(e->deferred);
    }
    for (size_t i = 0; i < e->endpoint_count; i++) {
        free(e->endpoints[i]);
    }
    free((char *)(size_t)e->options.ca);
    free((char *)(size_t)e->options.cert);
    free((char *)(size_t)e->options.key);
    curl_slist_free_all(e->options.headers);
    free(e);
    curl_global_cleanup();
}

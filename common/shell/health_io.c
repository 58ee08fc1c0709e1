#include "common/shell/health_io.h"

#include "common/shell/listen_io.h"

#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>

enum { TIMEOUT_S = 5, HEAD_BYTES = 8 * 1024, BODY_BYTES = 64 * 1024, ANY_METHOD = 0xffff };

struct health {
    struct evhttp *http;
    int port;
};

static void answer(struct evhttp_request *req, void *context)
{
    (void)context;
    evhttp_add_header(evhttp_request_get_output_headers(req), "Connection", "close");
    evhttp_send_reply(req, 200, NULL, NULL);
}

int health_new(const char *address, struct event_base *base, struct health **ret_health,
               struct err *err)
{
    int fd, port;
    int r = listen_open("health address", address, TIMEOUT_S * 1000, &fd, &port, err);
    if (r < 0) {
        return r;
    }
    struct health *h = calloc(1, sizeof(*h));
    if (!h || !(h->http = evhttp_new(base)) || evhttp_accept_socket(h->http, fd) < 0) {
        abort();
    }
    h->port = port;
    evhttp_set_gencb(h->http, answer, h);
    evhttp_set_timeout(h->http, TIMEOUT_S);
    evhttp_set_max_headers_size(h->http, HEAD_BYTES);
    evhttp_set_max_body_size(h->http, BODY_BYTES);
    evhttp_set_allowed_methods(h->http, ANY_METHOD);
    evhttp_set_default_content_type(h->http, NULL);
    *ret_health = h;
    return 0;
}

void health_free(struct health *h)
{
    if (h) {
        evhttp_free(h->http);
        free(h);
    }
}

int health_port(const struct health *h)
{
    return h->port;
}

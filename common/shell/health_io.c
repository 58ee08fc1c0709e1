#include "common/shell/health_io.h"

#include "common/shell/listen_io.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum { ACCEPT_RETRY_MS = 100 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

struct visit {
    TAILQ_ENTRY(visit) all; /* oldest first */
    struct health *health;
    struct bufferevent *bev;
    struct event *end;
    /* What still comes is thrown away, so that the peer gets the answer, not a reset. */
    bool answered;
    bool no_more;  /* the peer has closed its half */
};

struct health {
    struct event_base *base;
    struct evconnlistener *listener;
    struct event *retry; /* of accepting, after it failed */
    TAILQ_HEAD(, visit) visits;
    unsigned count;
    int port;
};

static struct timeval ms(int ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

static void visit_free(struct visit *v)
{
    TAILQ_REMOVE(&v->health->visits, v, all);
    v->health->count--;
    event_free(v->end);
    bufferevent_free(v->bev);
    free(v);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    visit_free(context);
}

static bool head_is_whole(struct evbuffer *input)
{
    return evbuffer_search(input, "\r\n\r\n", 4, NULL).pos >= 0 ||
           evbuffer_search(input, "\n\n", 2, NULL).pos >= 0;
}

static void on_read(struct bufferevent *bev, void *context)
{
    struct visit *v = context;
    struct evbuffer *input = bufferevent_get_input(bev);
    if (!v->answered && head_is_whole(input)) {
        v->answered = true;
        bufferevent_write(bev, answer, strlen(answer));
    }
    if (v->answered) {
        evbuffer_drain(input, evbuffer_get_length(input));
    } else if (evbuffer_get_length(input) >= HEALTH_HEAD_BYTES) {
        visit_free(v);
    }
}

static void on_written(struct bufferevent *bev, void *context)
{
    struct visit *v = context;
    if (v->no_more) {
        visit_free(v);
    } else if (v->answered) { /* libevent comes here at the beginning, too */
        shutdown(bufferevent_getfd(bev), SHUT_WR);
    }
}

/* The peer's end, or an error. One that has only closed its own half is still answered. */
static void on_event(struct bufferevent *bev, short what, void *context)
{
    struct visit *v = context;
    v->no_more = what & BEV_EVENT_EOF;
    if (!v->no_more || !evbuffer_get_length(bufferevent_get_output(bev))) {
        visit_free(v);
    }
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int size, void *context)
{
    (void)listener, (void)from, (void)size;
    struct health *h = context;
    const struct timeval life = ms(HEALTH_LIFE_MS);
    struct visit *v = calloc(1, sizeof(*v));
    if (!v || !(v->bev = bufferevent_socket_new(h->base, fd, BEV_OPT_CLOSE_ON_FREE)) ||
        !(v->end = evtimer_new(h->base, on_end, v)) || evtimer_add(v->end, &life) < 0) {
        abort();
    }
    v->health = h;
    TAILQ_INSERT_TAIL(&h->visits, v, all);
    if (++h->count > HEALTH_CONNECTIONS_MAX) {
        visit_free(TAILQ_FIRST(&h->visits));
    }
    bufferevent_setwatermark(v->bev, EV_READ, 0, HEALTH_HEAD_BYTES);
    bufferevent_setcb(v->bev, on_read, on_written, on_event, v);
    bufferevent_enable(v->bev, EV_READ | EV_WRITE);
}

/* No descriptor is left: the listening socket stays readable, so pause instead of spinning. */
static void accept_failed(struct evconnlistener *listener, void *context)
{
    struct health *h = context;
    const struct timeval pause = ms(ACCEPT_RETRY_MS);
    evconnlistener_disable(listener);
    evtimer_add(h->retry, &pause);
}

static void retry_accept(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct health *h = context;
    evconnlistener_enable(h->listener);
}

int health_new(const char *address, struct event_base *base, struct health **ret_health,
               struct err *err)
{
    int fd, port;
    int r = listen_open("health address", address, HEALTH_LIFE_MS, &fd, &port, err);
    if (r < 0) {
        return r;
    }
    struct health *h = calloc(1, sizeof(*h));
    if (!h || !(h->retry = evtimer_new(base, retry_accept, h)) ||
        !(h->listener = evconnlistener_new(
              base, on_accept, h, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd))) {
        abort();
    }
    evconnlistener_set_error_cb(h->listener, accept_failed);
    TAILQ_INIT(&h->visits);
    h->base = base;
    h->port = port;
    *ret_health = h;
    return 0;
}

void health_free(struct health *h)
{
    if (!h) {
        return;
    }
    while (!TAILQ_EMPTY(&h->visits)) {
        visit_free(TAILQ_FIRST(&h->visits));
    }
    evconnlistener_free(h->listener);
    event_free(h->retry);
    free(h);
}

int health_port(const struct health *h)
{
    return h->port;
}

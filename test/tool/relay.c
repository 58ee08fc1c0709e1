#include "test/tool/relay.h"

#include <arpa/inet.h>
#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

struct relayed {
    struct relay *relay;
    struct relayed *next, **link;
    struct bufferevent *side[2];
};

struct relay {
    struct event_base *base;
    struct evconnlistener *listener;
    int target;
    int port;
    bool silent;
    struct relayed *list;
};

static void relayed_free(struct relayed *c)
{
    *c->link = c->next;
    if (c->next) {
        c->next->link = c->link;
    }
    bufferevent_free(c->side[0]);
    bufferevent_free(c->side[1]);
    free(c);
}

static void pass_on(struct bufferevent *from, void *relayed)
{
    struct relayed *c = relayed;
    struct bufferevent *to = c->side[from == c->side[0]];
    bufferevent_write_buffer(to, bufferevent_get_input(from));
}

static void ended(struct bufferevent *side, short what, void *relayed)
{
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) {
        relayed_free(relayed);
    }
}

static void set_silent(struct relayed *c, bool silent)
{
    for (int i = 0; i < 2; i++) {
        if (silent) {
            bufferevent_disable(c->side[i], EV_READ | EV_WRITE);
        } else {
            bufferevent_enable(c->side[i], EV_READ | EV_WRITE);
        }
    }
}

static void accepted(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                     int size, void *relay)
{
    struct relay *r = relay;
    struct relayed *c = calloc(1, sizeof(*c));
    assert(c);
    *c = (struct relayed){.relay = r, .next = r->list, .link = &r->list};
    if (c->next) {
        c->next->link = &c->next;
    }
    r->list = c;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)r->target)};
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    c->side[0] = bufferevent_socket_new(r->base, fd, BEV_OPT_CLOSE_ON_FREE);
    c->side[1] = bufferevent_socket_new(r->base, -1, BEV_OPT_CLOSE_ON_FREE);
    for (int i = 0; i < 2; i++) {
        bufferevent_setcb(c->side[i], pass_on, NULL, ended, c);
    }
    if (bufferevent_socket_connect(c->side[1], (struct sockaddr *)&to, sizeof(to)) != 0) {
        relayed_free(c);
        return;
    }
    setsockopt(bufferevent_getfd(c->side[1]), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    for (int i = 0; i < 2; i++) {
        fcntl(bufferevent_getfd(c->side[i]), F_SETFD, FD_CLOEXEC);
    }
    set_silent(c, r->silent);
}

struct relay *relay_new(struct event_base *base, int target)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    struct relay *r = calloc(1, sizeof(*r));
    assert(r);
    r->base = base;
    r->target = target;
    r->listener =
        evconnlistener_new_bind(base, accepted, r, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
                                -1, (struct sockaddr *)&address, sizeof(address));
    if (!r->listener ||
        getsockname(evconnlistener_get_fd(r->listener), (struct sockaddr *)&address, &size) != 0) {
        relay_free(r);
        return NULL;
    }
    r->port = ntohs(address.sin_port);
    return r;
}

void relay_free(struct relay *r)
{
    if (!r) {
        return;
    }
    relay_cut(r);
    if (r->listener) {
        evconnlistener_free(r->listener);
    }
    free(r);
}

int relay_port(const struct relay *r)
{
    return r->port;
}

void relay_cut(struct relay *r)
{
    while (r->list) {
        relayed_free(r->list);
    }
}

void relay_silence(struct relay *r, bool silent)
{
    r->silent = silent;
    for (struct relayed *c = r->list; c; c = c->next) {
        set_silent(c, silent);
    }
}

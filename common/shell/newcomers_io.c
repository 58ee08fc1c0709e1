#include "common/shell/newcomers_io.h"

#include "common/base/memory.h"
#include "common/shell/http_connection_io.h"

#include <arpa/inet.h>
#include <assert.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

TAILQ_HEAD(newcomer_list, newcomer);

struct newcomer_address {
    char text[INET6_ADDRSTRLEN];
    struct newcomer_list list; /* the oldest first */
    unsigned count;
};

/* ---- Who is there ---------------------------------------------------------------------------- */

static void address_text(int fd, char ret[INET6_ADDRSTRLEN])
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer = {0};
    socklen_t size = sizeof(peer);
    ret[0] = '\0'; /* of one that has gone: they share a place */
    if (getpeername(fd, &peer.any, &size) == 0) {
        const void *at = peer.any.sa_family == AF_INET6 ? (const void *)&peer.v6.sin6_addr
                                                        : (const void *)&peer.v4.sin_addr;
        inet_ntop(peer.any.sa_family, at, ret, INET6_ADDRSTRLEN);
    }
}

static struct newcomer_address *address_of(struct newcomers *n, int fd)
{
    char text[INET6_ADDRSTRLEN];
    address_text(fd, text);
    struct newcomer_address *address = map_get(&n->addresses, text);
    if (!address) {
        address = mem_zeroed(sizeof(*address));
        strcpy(address->text, text);
        TAILQ_INIT(&address->list);
        map_put(&n->addresses, text, address);
    }
    return address;
}

void newcomers_add(struct newcomers *n, struct newcomer *c, int fd, const SSL *ssl)
{
    *c = (struct newcomer){
        .address = address_of(n, fd), .since_ns = shell_now_ns(), .ssl = ssl, .fd = fd};
    TAILQ_INSERT_TAIL(&c->address->list, c, link);
    c->address->count++;
}

const char *newcomer_address(const struct newcomer *c)
{
    return c->address ? c->address->text : "";
}

void newcomers_remove(struct newcomers *n, struct newcomer *c)
{
    struct newcomer_address *address = c->address;
    if (!address) {
        return;
    }
    c->address = NULL;
    TAILQ_REMOVE(&address->list, c, link);
    if (--address->count == 0) {
        map_remove(&n->addresses, address->text);
        free(address);
    }
}

/* ---- Who yields ------------------------------------------------------------------------------ */

/* It is the peer's turn, and has been for long. */
static bool silent(const struct newcomer *c, int64_t now_ns)
{
    int unread = 0;
    return now_ns - c->since_ns >= NEWCOMER_YOUNG_MS * MILLISECOND_NS &&
           ioctl(c->fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* Those of an address whose handshake has finished meanwhile leave. Whether one of the others is
 * silent; the address is gone when none is left. */
static bool look(struct newcomers *n, struct newcomer_address *address, int64_t now_ns,
                 unsigned *ret_count)
{
    bool any = false;
    struct newcomer *c, *next;
    *ret_count = address->count;
    for (c = TAILQ_FIRST(&address->list); c; c = next) {
        next = TAILQ_NEXT(c, link);
        if (SSL_is_init_finished(c->ssl)) {
            --*ret_count;
            newcomers_remove(n, c); /* with the last one the address is gone */
        } else {
            any = any || silent(c, now_ns);
        }
    }
    return any;
}

static struct newcomer_address *most_crowded(struct newcomers *n, int64_t now_ns)
{
    struct newcomer_address *most = NULL;
    for (struct map_node *at = map_first(&n->addresses), *next; at; at = next) {
        struct newcomer_address *address = map_value(at);
        unsigned count;
        next = map_next(at);
        if (look(n, address, now_ns, &count) && (!most || count > most->count)) {
            most = address;
        }
    }
    return most;
}

/* Places are taken and yielded again any number of times a second. */
static bool to_be_reported(int64_t *reported_ns, int64_t now_ns)
{
    if (*reported_ns && now_ns - *reported_ns < NEWCOMERS_TELL_MS * MILLISECOND_NS) {
        return false;
    }
    *reported_ns = now_ns;
    return true;
}

static void yield(struct newcomers *n, struct newcomer_address *address, int64_t now_ns)
{
    unsigned left = address->count / NEWCOMERS_SHARE + 1;
    char text[INET6_ADDRSTRLEN];
    strcpy(text, address->text);
    struct newcomer *c, *next;
    for (c = TAILQ_FIRST(&address->list); c && left > 0; c = next) {
        next = TAILQ_NEXT(c, link);
        if (silent(c, now_ns)) {
            n->yielded++;
            left--;
            n->handlers.cut(n->handlers.context, c); /* with the last one the address is gone */
        }
    }
    if (to_be_reported(&n->yielded_reported_ns, now_ns)) {
        log_printf(n->log, LOG_WARN_LEVEL, "connections without a handshake yield their places",
                   "address=%s count=%u", text, n->yielded);
        n->yielded = 0;
    }
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct newcomers *n = context;
    if (!n->handlers.full(n->handlers.context)) {
        return;
    }
    int64_t now_ns = shell_now_ns();
    struct newcomer_address *address = most_crowded(n, now_ns);
    if (address) {
        yield(n, address, now_ns);
    } else if (n->addresses.count > 0) {
        struct timeval tv = {.tv_usec = NEWCOMERS_LOOK_MS * 1000};
        evtimer_add(n->timer, &tv);
    }
}

void newcomers_make_room(struct newcomers *n, unsigned open)
{
    struct timeval now = {0};
    if (to_be_reported(&n->full_reported_ns, shell_now_ns())) {
        log_printf(n->log, LOG_WARN_LEVEL, "no more connections are accepted", "open=%u", open);
    }
    evtimer_add(n->timer, &now);
}

void newcomers_init(struct newcomers *n, struct event_base *base, struct log *log,
                    const struct newcomers_handlers *handlers)
{
    *n = (struct newcomers){
        .handlers = *handlers, .log = log, .timer = evtimer_new(base, on_timer, n)};
    map_init(&n->addresses);
    assert(n->timer);
}

void newcomers_done(struct newcomers *n)
{
    assert(n->addresses.count == 0);
    map_done(&n->addresses, NULL);
    event_free(n->timer);
}

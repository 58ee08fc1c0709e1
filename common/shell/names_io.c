#include "common/shell/names_io.h"

#include "common/base/bytes.h"
#include "common/base/map.h"
#include "common/base/memory.h"

#include <arpa/inet.h>
#include <assert.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

TAILQ_HEAD(lookup_list, name_lookup);
TAILQ_HEAD(wait_list, name_wait);

/* What threads and the loop share; the last of them frees it. */
struct shared {
    pthread_mutex_t lock;
    unsigned users;
    bool closed;             /* the loop has gone */
    int fd;                  /* an eventfd: something is done */
    struct lookup_list done;
};

struct name_lookup {
    TAILQ_ENTRY(name_lookup) link; /* in the queue, or among those that are done */
    struct shared *shared;
    char *host;
    /* The loop's. */
    struct names *names;
    struct wait_list waits;
    bool begun;
    /* The thread's until it is done. */
    struct buf addresses;
    int error; /* of getaddrinfo() */
};

struct names {
    struct event_base *base;
    struct shared *shared;
    struct event *event;
    struct map by_host;       /* all lookups */
    struct lookup_list queue; /* those to come */
    unsigned begun;
};

/* ---- The thread ------------------------------------------------------------------------------ */

static void lookup_free(struct name_lookup *l)
{
    buf_done(&l->addresses);
    free(l->host);
    free(l);
}

/* The lock is held, and free afterwards. */
static void shared_leave(struct shared *s)
{
    bool last = --s->users == 0;
    pthread_mutex_unlock(&s->lock);
    if (last) {
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
}

static void note_address(struct buf *out, const struct addrinfo *at)
{
    char text[INET6_ADDRSTRLEN];
    bool v6 = at->ai_family == AF_INET6;
    const void *address = v6 ? (const void *)&((const struct sockaddr_in6 *)at->ai_addr)->sin6_addr
                             : (const void *)&((const struct sockaddr_in *)at->ai_addr)->sin_addr;
    if ((v6 || at->ai_family == AF_INET) && inet_ntop(at->ai_family, address, text, sizeof(text))) {
        buf_printf(out, v6 ? "%s[%s]" : "%s%s", out->size ? "," : "", text);
    }
}

static void look_up(struct name_lookup *l)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    size_t count = 0;
    l->error = getaddrinfo(l->host, NULL, &hints, &list);
    for (const struct addrinfo *at = list; l->error == 0 && at && count < NAME_ADDRESSES_MAX;
         at = at->ai_next) {
        note_address(&l->addresses, at);
        count++;
    }
    if (list) {
        freeaddrinfo(list);
    }
}

static void give(struct name_lookup *l)
{
    struct shared *s = l->shared;
    uint64_t one = 1;
    pthread_mutex_lock(&s->lock);
    if (s->closed) {
        lookup_free(l);
    } else {
        TAILQ_INSERT_TAIL(&s->done, l, link);
        if (write(s->fd, &one, sizeof(one)) < 0) {
            abort(); /* an eventfd far from its limit */
        }
    }
    shared_leave(s);
}

static void *run(void *context)
{
    look_up(context);
    give(context);
    return NULL;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Signals are the loop's. */
static void begin(struct names *n, struct name_lookup *l)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    l->begun = true;
    n->begun++;
    pthread_mutex_lock(&n->shared->lock);
    n->shared->users++;
    pthread_mutex_unlock(&n->shared->lock);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &detached, run, l) != 0) {
        l->error = EAI_MEMORY;
        give(l);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
}

static void begin_next(struct names *n)
{
    struct name_lookup *l;
    while (n->begun < NAMES_AT_ONCE && (l = TAILQ_FIRST(&n->queue))) {
        TAILQ_REMOVE(&n->queue, l, link);
        begin(n, l);
    }
}

/* One whose turn has not come, and for whom nobody waits. */
static void drop_unwanted(struct name_lookup *l)
{
    if (!l->begun && TAILQ_EMPTY(&l->waits)) {
        TAILQ_REMOVE(&l->names->queue, l, link);
        map_remove(&l->names->by_host, l->host);
        lookup_free(l);
    }
}

static void leave(struct name_wait *w)
{
    TAILQ_REMOVE(&w->lookup->waits, w, link);
    w->lookup = NULL;
    if (w->timer) {
        event_free(w->timer);
        w->timer = NULL;
    }
}

static void tell_all(struct name_lookup *l)
{
    bool found = l->error == 0 && l->addresses.size > 0;
    const char *text = found      ? buf_string(&l->addresses)
                       : l->error ? gai_strerror(l->error)
                                  : "it has no address";
    struct name_wait *w;
    while ((w = TAILQ_FIRST(&l->waits))) {
        leave(w);
        w->done(w->context, found ? NAME_FOUND : NAME_NOT_FOUND, text);
    }
}

static struct name_lookup *take_done(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    struct name_lookup *l = TAILQ_FIRST(&s->done);
    if (l) {
        TAILQ_REMOVE(&s->done, l, link);
    }
    pthread_mutex_unlock(&s->lock);
    return l;
}

static void on_done(evutil_socket_t fd, short what, void *context)
{
    (void)what;
    struct names *n = context;
    struct name_lookup *l;
    uint64_t count;
    if (read((int)fd, &count, sizeof(count)) < 0) {
        return; /* another turn has taken them */
    }
    while ((l = take_done(n->shared))) {
        map_remove(&n->by_host, l->host); /* who asks now wants a newer answer */
        n->begun--;
        tell_all(l);
        lookup_free(l);
    }
    begin_next(n);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct name_wait *w = context;
    names_cancel(w); /* the lookup goes on: the next who asks joins it */
    w->done(w->context, NAME_TIMED_OUT, "the name server does not answer");
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static struct name_lookup *lookup_of(struct names *n, const char *host)
{
    struct name_lookup *l = map_get(&n->by_host, host);
    if (!l) {
        l = mem_zeroed(sizeof(*l));
        l->host = mem_text(host);
        l->shared = n->shared;
        l->names = n;
        TAILQ_INIT(&l->waits);
        buf_init(&l->addresses);
        map_put(&n->by_host, host, l);
        TAILQ_INSERT_TAIL(&n->queue, l, link);
    }
    return l;
}

void names_ask(struct names *n, struct name_wait *wait, const char *host, int timeout_ms,
               name_done *done, void *context)
{
    assert(!wait->lookup);
    *wait = (struct name_wait){.lookup = lookup_of(n, host), .done = done, .context = context};
    TAILQ_INSERT_TAIL(&wait->lookup->waits, wait, link);
    if (timeout_ms) {
        struct timeval tv = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
        wait->timer = evtimer_new(n->base, on_timer, wait);
        assert(wait->timer);
        evtimer_add(wait->timer, &tv);
    }
    begin_next(n);
}

void names_cancel(struct name_wait *wait)
{
    struct name_lookup *l = wait->lookup;
    if (l) {
        leave(wait);
        drop_unwanted(l);
    }
}

struct names *names_new(struct event_base *base)
{
    struct names *n = calloc(1, sizeof(*n));
    struct shared *s = calloc(1, sizeof(*s));
    if (!n || !s || (s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0 ||
        !(n->event = event_new(base, s->fd, EV_READ | EV_PERSIST, on_done, n)) ||
        event_add(n->event, NULL) < 0) {
        abort();
    }
    pthread_mutex_init(&s->lock, NULL);
    s->users = 1;
    TAILQ_INIT(&s->done);
    n->base = base;
    n->shared = s;
    map_init(&n->by_host);
    TAILQ_INIT(&n->queue);
    return n;
}

void names_free(struct names *n)
{
    struct name_lookup *l;
    if (!n) {
        return;
    }
    struct shared *s = n->shared;
    event_free(n->event);
    while ((l = TAILQ_FIRST(&n->queue))) {
        TAILQ_REMOVE(&n->queue, l, link);
        lookup_free(l);
    }
    map_done(&n->by_host, NULL); /* those begun are their threads' */
    while ((l = take_done(s))) {
        lookup_free(l);
    }
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    close(s->fd);
    shared_leave(s);
    free(n);
}

#include "common/shell/transfers_io.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>

struct transfers {
    CURLM *multi;
    struct event_base *base;
    struct event *timer;
    struct transfers_news news;
    struct watched *sockets;
};

/* A socket that libcurl wants to know about. */
struct watched {
    struct transfers *transfers;
    struct watched *next, **link;
    struct event *event;
    int fd;
};

static void take_finished(struct transfers *t)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(t->multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            CURL *easy = message->easy_handle;
            CURLcode result = message->data.result;
            curl_multi_remove_handle(t->multi, easy);
            t->news.on_done(t->news.context, easy, result);
        }
    }
}

static void act(struct transfers *t, curl_socket_t fd, int what)
{
    int running;
    CURLMcode code = curl_multi_socket_action(t->multi, fd, what, &running);
    assert(code == CURLM_OK);
    if (t->news.on_progress) {
        t->news.on_progress(t->news.context);
    }
    take_finished(t);
}

static void on_timer(evutil_socket_t fd, short what, void *transfers)
{
    (void)fd;
    (void)what;
    act(transfers, CURL_SOCKET_TIMEOUT, 0);
}

static void on_socket(evutil_socket_t fd, short what, void *transfers)
{
    act(transfers, fd,
        (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static void watched_free(struct watched *w)
{
    *w->link = w->next;
    if (w->next) {
        w->next->link = w->link;
    }
    event_free(w->event);
    free(w);
}

static struct watched *watched_new(struct transfers *t, int fd)
{
    struct watched *w = calloc(1, sizeof(*w));
    if (!w) {
        abort();
    }
    *w = (struct watched){.transfers = t, .next = t->sockets, .link = &t->sockets, .fd = fd};
    if (w->next) {
        w->next->link = &w->next;
    }
    t->sockets = w;
    curl_multi_assign(t->multi, fd, w);
    return w;
}

static int wish_socket(CURL *easy, curl_socket_t fd, int what, void *transfers, void *socket)
{
    (void)easy;
    struct transfers *t = transfers;
    struct watched *w = socket;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            watched_free(w);
        }
        return 0;
    }
    short kind = (short)((what & CURL_POLL_IN ? EV_READ : 0) |
                         (what & CURL_POLL_OUT ? EV_WRITE : 0) | EV_PERSIST);
    if (!w) {
        w = watched_new(t, fd);
    } else {
        event_free(w->event);
    }
    w->event = event_new(t->base, fd, kind, on_socket, t);
    if (!w->event || event_add(w->event, NULL)) {
        abort();
    }
    return 0;
}

static int wish_timer(CURLM *multi, long timeout_ms, void *transfers)
{
    (void)multi;
    struct transfers *t = transfers;
    if (timeout_ms < 0) {
        event_del(t->timer);
        return 0;
    }
    struct timeval wait = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    return event_add(t->timer, &wait);
}

struct transfers *transfers_new(struct event_base *base, const struct transfers_news *news)
{
    struct transfers *t = calloc(1, sizeof(*t));
    if (!t) {
        abort();
    }
    *t = (struct transfers){.base = base, .news = *news, .multi = curl_multi_init()};
    t->timer = evtimer_new(base, on_timer, t);
    if (!t->multi || !t->timer) {
        abort();
    }
    curl_multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, wish_socket);
    curl_multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
    curl_multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, wish_timer);
    curl_multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
    return t;
}

void transfers_free(struct transfers *t)
{
    if (!t) {
        return;
    }
    CURL **list = curl_multi_get_handles(t->multi);
    for (size_t i = 0; list && list[i]; i++) {
        curl_multi_remove_handle(t->multi, list[i]);
    }
    curl_free(list);
    curl_multi_cleanup(t->multi);
    while (t->sockets) {
        watched_free(t->sockets);
    }
    event_free(t->timer);
    free(t);
}

CURLM *transfers_multi(struct transfers *t)
{
    return t->multi;
}

void transfers_add(struct transfers *t, CURL *easy)
{
    CURLMcode code = curl_multi_add_handle(t->multi, easy);
    assert(code == CURLM_OK);
}

void transfers_remove(struct transfers *t, CURL *easy)
{
    CURLMcode code = curl_multi_remove_handle(t->multi, easy);
    assert(code == CURLM_OK);
}

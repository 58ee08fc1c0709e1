#include "common/shell/curl_loop_io.h"

#include <event2/event.h>
#include <stdlib.h>

struct curl_loop {
    CURLM *multi;
    struct event_base *base;
    struct event *timer;
    struct curl_loop_handlers handlers;
};

CURLM *curl_loop_multi(struct curl_loop *l)
{
    return l->multi;
}

static void after_work(struct curl_loop *l)
{
    int left;
    CURLMsg *m;
    l->handlers.on_turn(l->handlers.context);
    while ((m = curl_multi_info_read(l->multi, &left))) {
        if (m->msg == CURLMSG_DONE) {
            CURL *easy = m->easy_handle;
            CURLcode result = m->data.result;
            curl_multi_remove_handle(l->multi, easy); /* frees m */
            l->handlers.on_done(l->handlers.context, easy, result);
        }
    }
}

static void on_socket(evutil_socket_t fd, short what, void *context)
{
    struct curl_loop *l = context;
    int running;
    int mask = (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
    curl_multi_socket_action(l->multi, fd, mask, &running);
    after_work(l);
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct curl_loop *l = context;
    int running;
    curl_multi_socket_action(l->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    after_work(l);
}

/* libcurl wants to hear of this socket, in another way than before, or no more. */
static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *context, void *socket)
{
    (void)easy;
    struct curl_loop *l = context;
    struct event *e = socket;
    if (e) {
        event_free(e);
    }
    if (what == CURL_POLL_REMOVE) {
        return 0;
    }
    short events = EV_PERSIST;
    events |= what & CURL_POLL_IN ? EV_READ : 0;
    events |= what & CURL_POLL_OUT ? EV_WRITE : 0;
    e = event_new(l->base, fd, events, on_socket, l);
    if (!e || event_add(e, NULL) < 0) {
        abort();
    }
    curl_multi_assign(l->multi, fd, e);
    return 0;
}

static int timer_changed(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    struct curl_loop *l = context;
    if (timeout_ms < 0) {
        evtimer_del(l->timer);
        return 0;
    }
    struct timeval tv = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    evtimer_add(l->timer, &tv);
    return 0;
}

struct curl_loop *curl_loop_new(struct event_base *base, const struct curl_loop_handlers *handlers)
{
    struct curl_loop *l = calloc(1, sizeof(*l));
    if (!l || curl_global_init(CURL_GLOBAL_DEFAULT) || !(l->multi = curl_multi_init()) ||
        !(l->timer = evtimer_new(base, on_timer, l))) {
        abort();
    }
    l->base = base;
    l->handlers = *handlers;
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    return l;
}

void curl_loop_free(struct curl_loop *l)
{
    if (l) {
        curl_multi_cleanup(l->multi);
        event_free(l->timer);
        free(l);
    }
}

#include "common/shell/local_server_io.h"

#include "common/base/memory.h"
#include "common/shell/local_request.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024, RETRY_MS = 100 };

struct local_visit {
    TAILQ_ENTRY(local_visit) all;
    struct local_server *server;
    struct bufferevent *bev;
    struct event *end;
    uid_t user;
    uint64_t id; /* of its request, which the role has; 0 = none, or it is answered */
    bool answered;
};

struct local_server {
    struct event_base *base;
    struct local_server_handlers handlers;
    struct evconnlistener *listener;
    struct event *retry; /* of accepting, after it failed */
    TAILQ_HEAD(, local_visit) visits;
    unsigned count, of_own_max;
    uint64_t last_id;
};

static void visit_free(struct local_visit *v)
{
    TAILQ_REMOVE(&v->server->visits, v, all);
    v->server->count--;
    event_free(v->end);
    bufferevent_free(v->bev);
    free(v);
}

static void visit_gone(struct local_visit *v)
{
    struct local_server *s = v->server;
    uint64_t id = v->id;
    visit_free(v);
    if (id > 0) {
        s->handlers.on_hangup(s->handlers.context, id);
    }
}

/* In time from now, or not at all. */
static void set_life(struct local_visit *v)
{
    const struct timeval life = {.tv_sec = LOCAL_LIFE_MS / 1000};
    event_add(v->end, &life);
}

static void answer(struct local_visit *v, int status, const char *type, struct bytes body)
{
    struct evbuffer *out = bufferevent_get_output(v->bev);
    v->answered = true;
    v->id = 0;
    evbuffer_add_printf(out,
                        "HTTP/1.1 %d -\r\nContent-Type: %s\r\nConnection: close\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        status, *type ? type : "text/plain", body.size);
    evbuffer_add(out, body.data, body.size);
    set_life(v);
}

static void answer_text(struct local_visit *v, int status, const char *text)
{
    answer(v, status, "text/plain", bytes_of(text));
}

static void ask(struct local_visit *v, const struct local_request *asked)
{
    struct local_server *s = v->server;
    event_del(v->end);
    v->id = ++s->last_id;
    const struct request request = {.id = v->id,
                                    .method = "POST",
                                    .path = asked->path,
                                    .query = "",
                                    .trace_id = "",
                                    .accept = "",
                                    .content_type = "",
                                    .if_none_match = "",
                                    .peer = {"", ""},
                                    .tools = true,
                                    .body = asked->body};
    s->handlers.on_request(s->handlers.context, &request);
}

/* What still comes behind a request is thrown away. */
static void on_read(struct bufferevent *bev, void *context)
{
    struct local_visit *v = context;
    struct evbuffer *input = bufferevent_get_input(bev);
    struct local_request asked;
    size_t size = evbuffer_get_length(input);
    if (v->answered || v->id > 0) {
        evbuffer_drain(input, size);
        return;
    }
    const struct bytes read = {evbuffer_pullup(input, -1), size};
    switch (local_request_parse(read, LOCAL_BODY_MAX, &asked)) {
    case LOCAL_WHOLE:
        ask(v, &asked);
        break;
    case LOCAL_MALFORMED:
        answer_text(v, 400, "malformed\n");
        break;
    case LOCAL_TOO_LARGE:
        answer_text(v, 413, "more than 1 MiB\n");
        break;
    case LOCAL_MORE:
        break;
    }
}

static void on_written(struct bufferevent *bev, void *context)
{
    struct local_visit *v = context;
    if (v->answered && evbuffer_get_length(bufferevent_get_output(bev)) == 0) {
        shutdown(bufferevent_getfd(bev), SHUT_WR);
    }
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    (void)bev, (void)what;
    visit_gone(context);
}

static void on_end(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    visit_gone(context);
}

/* ---- Accepting ------------------------------------------------------------------------------- */

/* Whether another one of its user is one too many (1). */
static bool is_full(const struct local_server *s, uid_t user)
{
    unsigned of_user = 0, most = user == geteuid() ? s->of_own_max : LOCAL_CONNECTIONS_OF_USER_MAX;
    const struct local_visit *v;
    TAILQ_FOREACH(v, &s->visits, all)
    {
        of_user += v->user == user && !v->answered;
    }
    return of_user >= most;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int size, void *context)
{
    (void)listener, (void)from, (void)size;
    struct local_server *s = context;
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t peer_size = sizeof(peer);
    if (s->count >= 2 * LOCAL_CONNECTIONS_MAX) { /* not even for a word */
        close(fd);
        return;
    }
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size);
    bool full = s->count >= LOCAL_CONNECTIONS_MAX || is_full(s, peer.uid);
    struct local_visit *v = mem_zeroed(sizeof(*v));
    v->server = s;
    v->user = peer.uid;
    v->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    v->end = evtimer_new(s->base, on_end, v);
    assert(v->bev && v->end);
    TAILQ_INSERT_TAIL(&s->visits, v, all);
    s->count++;
    bufferevent_setwatermark(v->bev, EV_READ, 0, LOCAL_HEAD_BYTES + LOCAL_BODY_MAX + 1);
    bufferevent_setcb(v->bev, on_read, on_written, on_event, v);
    bufferevent_enable(v->bev, EV_READ | EV_WRITE);
    set_life(v);
    if (full) {
        answer_text(v, 503, "too many calls at once\n");
    }
}

/* No descriptor is left: the listening socket stays readable, so pause instead of spinning. */
static void accept_failed(struct evconnlistener *listener, void *context)
{
    struct local_server *s = context;
    const struct timeval pause = {.tv_usec = RETRY_MS * 1000};
    evconnlistener_disable(listener);
    evtimer_add(s->retry, &pause);
}

static void retry_accept(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct local_server *s = context;
    evconnlistener_enable(s->listener);
}

/* ---- Beginning and ending -------------------------------------------------------------------- */

/* By the directory's descriptor: its path may be longer than an address. Anybody may connect, for
 * users of containers are nobody of this machine's. */
static int bind_at(int fd, int dir, const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%.64s", dir, name);
    if (unlinkat(dir, name, 0) < 0 && errno != ENOENT) {
        return -1;
    }
    return bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || chmod(at.sun_path, 0666) < 0
               ? -1
               : listen(fd, BACKLOG);
}

int local_server_new(const struct local_server_config *config, struct event_base *base,
                     const struct local_server_handlers *handlers, struct local_server **ret,
                     struct err *err)
{
    int dir = open(config->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind_at(fd, dir, config->name) < 0) {
        err_set(err, ERR_IO, "cannot listen on %.200s/%.64s: %s", config->dir, config->name,
                strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        if (dir >= 0) {
            close(dir);
        }
        return -ERR_IO;
    }
    close(dir);
    struct local_server *s = mem_zeroed(sizeof(*s));
    s->base = base;
    s->handlers = *handlers;
    s->last_id = config->ids_above;
    s->of_own_max = config->of_own_max ? config->of_own_max : LOCAL_CONNECTIONS_MAX;
    TAILQ_INIT(&s->visits);
    s->listener = evconnlistener_new(base, on_accept, s,
                                     LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
    s->retry = evtimer_new(base, retry_accept, s);
    assert(s->listener && s->retry);
    evconnlistener_set_error_cb(s->listener, accept_failed);
    *ret = s;
    return 0;
}

void local_server_free(struct local_server *s)
{
    if (!s) {
        return;
    }
    while (!TAILQ_EMPTY(&s->visits)) {
        visit_free(TAILQ_FIRST(&s->visits));
    }
    evconnlistener_free(s->listener);
    event_free(s->retry);
    free(s);
}

void local_server_reply(struct local_server *s, const struct reply *reply)
{
    struct local_visit *v;
    assert(!reply->cursor);
    TAILQ_FOREACH(v, &s->visits, all)
    {
        if (v->id == reply->id) {
            answer(v, reply->status, reply->content_type, reply->body);
            return;
        }
    }
}

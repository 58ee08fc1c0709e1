#include "test/bench/sites_io.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/version.h"
#include "common/cli/cli_io.h"
#include "common/shell/event_queue.h"
#include "common/shell/http_client_io.h"
#include "crm/inside.h"
#include "test/bench/site_board.h"

#include <arpa/inet.h>
#include <assert.h>
#include <dirent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

enum { SITES_MAX = 4096, NAME_BYTES = 32, FILE_BYTES = 256, TOLD_MAX = 3, PORTS_MAX = 16 };

/* Of a site's feed, as a bbs sends them. */
#define BOARD_HEARTBEAT_MS 1000

struct site {
    struct sites *all;
    char name[NAME_BYTES], cloudlet[NAME_BYTES];
    char cert[FILE_BYTES], key[FILE_BYTES];
    struct role *role;
    struct http_client *client;
    struct site_board board;
    uint64_t feed_id; /* of the CRM's subscription to that; 0 = none */
    struct arena arena;
    struct event_queue queue;
    struct event *due, *heartbeat;
    int64_t due_ns, heartbeat_ns; /* of the role's timer; of the last heartbeat of its board */
    bool stepping, ready, ended;
};

struct sites {
    struct sites_config config;
    char *centres, *ca;
    struct random random;
    struct site *list[SITES_MAX];
    int count, ready, ended;
    long warnings;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* ---- The site's board ------------------------------------------------------------------------ */

static void push_stream(struct site *s, struct bytes data)
{
    event_queue_push(
        &s->queue,
        &(struct event){.kind = EVENT_STREAM,
                        .stream = {.id = s->feed_id, .status = 200, .data = data, .text = ""}});
}

static void tell_news(struct site *s)
{
    if (s->feed_id && s->board.news.size > 0) {
        SCOPED_BUF(news);
        site_board_news(&s->board, &news);
        push_stream(s, buf_bytes(&news));
    }
}

static void open_feed(struct site *s, uint64_t id)
{
    SCOPED_BUF(snapshot);
    s->feed_id = id;
    push_stream(s, (struct bytes){0});
    site_board_snapshot(&s->board, &snapshot);
    push_stream(s, buf_bytes(&snapshot));
}

/* The path of "https://host:port/path". */
static const char *path_of(const char *url)
{
    const char *path = strchr(url + strlen("https://"), '/');
    assert(path);
    return path;
}

static void ask_board(struct site *s, const struct call *call)
{
    SCOPED_BUF(answer);
    int status = site_board_ask(&s->board, path_of(call->url), call->body, &answer);
    event_queue_push(&s->queue, &(struct event){.kind = EVENT_RESPONSE,
                                                .response = {.id = call->id,
                                                             .outcome = CALL_ANSWERED,
                                                             .status = status,
                                                             .content_type = "",
                                                             .etag = "",
                                                             .body = buf_bytes(&answer),
                                                             .text = ""}});
    tell_news(s);
}

/* ---- Effects --------------------------------------------------------------------------------- */

static void call_out(struct site *s, const struct call *call, bool subscribes)
{
    if (call->identity == IDENTITY_CENTRE) {
        (subscribes ? http_client_subscribe : http_client_call)(s->client, call);
    } else if (subscribes) {
        open_feed(s, call->id);
    } else {
        ask_board(s, call);
    }
}

static void cancel(struct site *s, uint64_t id)
{
    http_client_cancel(s->client, id);
    s->feed_id = s->feed_id == id ? 0 : s->feed_id;
}

static void note(struct site *s, const struct log_line *line)
{
    if (line->level >= LOG_WARN_LEVEL && s->all->warnings++ < TOLD_MAX) {
        fprintf(stderr, "bench: %s: %s: %s\n", s->cloudlet, line->message, line->data);
    }
}

static void end(struct site *s, const char *why)
{
    fprintf(stderr, "bench: %s: the CRM has ended: %s\n", s->cloudlet, why ? why : "");
    s->ended = true;
    s->all->ended++;
    s->all->config.on_change(s->all->config.context);
}

static void carry_out(struct site *s, const struct effect *e)
{
    switch ((int)e->kind) {
    case EFFECT_CALL:
    case EFFECT_SUBSCRIBE:
        call_out(s, &e->call, e->kind == EFFECT_SUBSCRIBE);
        break;
    case EFFECT_CANCEL:
        cancel(s, e->cancel);
        break;
    case EFFECT_LOG:
        note(s, &e->log);
        break;
    case EFFECT_EXIT:
        end(s, e->exit.text);
        break;
    default:
        assert(!"a CRM without a launcher asks for nothing else");
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void set_due(struct site *s, int64_t due_ns)
{
    if (due_ns == s->due_ns) {
        return;
    }
    s->due_ns = due_ns;
    if (due_ns == NEVER_NS) {
        evtimer_del(s->due);
        return;
    }
    int64_t left_us = (due_ns - clock_ns(CLOCK_MONOTONIC) + MICROSECOND_NS - 1) / MICROSECOND_NS;
    left_us = left_us < 0 ? 0 : left_us;
    struct timeval tv = {.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
    evtimer_add(s->due, &tv);
}

static void see_ready(struct site *s)
{
    SCOPED_ARENA(a);
    bool ready = centre_is_ready(&((struct crm *)s->role)->centre, &a);
    if (ready != s->ready) {
        s->ready = ready;
        s->all->ready += ready ? 1 : -1;
        s->all->config.on_change(s->all->config.context);
    }
}

static void step(struct site *s, struct event *ev)
{
    struct effects effects;
    ev->now =
        (struct moment){.mono_ns = clock_ns(CLOCK_MONOTONIC), .wall_ns = clock_ns(CLOCK_REALTIME)};
    ev->entropy[0] = random_next(&s->all->random);
    ev->entropy[1] = random_next(&s->all->random);
    effects_init(&effects, &s->arena);
    s->stepping = true;
    role_step(s->role, ev, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        carry_out(s, &effects.list[i]);
    }
    set_due(s, effects.due_ns);
    arena_reset(&s->arena);
    s->stepping = false;
    bool of_site = ev->kind == EVENT_STREAM && ev->stream.id == s->feed_id;
    if (!of_site) {
        see_ready(s);
    }
}

/* First of all, if it is late: this process may be, and no bbs of a site is for that. */
static void push_heartbeat(struct site *s)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (s->feed_id && now_ns - s->heartbeat_ns >= BOARD_HEARTBEAT_MS * MILLISECOND_NS) {
        SCOPED_BUF(frame);
        s->heartbeat_ns = now_ns;
        site_board_heartbeat(&s->board, &frame);
        push_stream(s, buf_bytes(&frame));
    }
}

static void deliver(struct site *s, const struct event *ev)
{
    struct event *next;
    struct queued_event *q;
    if (!s->stepping) {
        push_heartbeat(s);
    }
    event_queue_push(&s->queue, ev);
    while (!s->stepping && !s->ended && (q = event_queue_pop(&s->queue, &next))) {
        step(s, next);
        queued_free(q);
    }
}

static void on_response(void *context, const struct response *response)
{
    deliver(context, &(struct event){.kind = EVENT_RESPONSE, .response = *response});
}

static void on_stream(void *context, const struct stream_event *event)
{
    deliver(context, &(struct event){.kind = EVENT_STREAM, .stream = *event});
}

static void on_due(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct site *s = context;
    s->due_ns = NEVER_NS;
    deliver(s, &(struct event){.kind = EVENT_TIMER});
}

static void on_heartbeat(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct site *s = context;
    struct timeval tv = {.tv_sec = BOARD_HEARTBEAT_MS / 1000};
    evtimer_add(s->heartbeat, &tv);
    deliver(s, &(struct event){.kind = EVENT_TIMER});
}

/* ---- CRMs ------------------------------------------------------------------------------------ */

static void start(struct site *s)
{
    struct tls_files files = {.ca = s->all->ca, .cert = s->cert, .key = s->key};
    struct http_client_handlers handlers = {on_response, on_stream, s};
    s->client = http_client_new(&files, s->all->config.loop, &handlers);
    s->role = crm_new(&(struct crm_config){.name = s->name,
                                           .cloudlet = s->cloudlet,
                                           .version = CORKBOARD_VERSION,
                                           .boards = "https://site:1",
                                           .centres = s->all->centres,
                                           .url = "https://site:2"});
    event_queue_init(&s->queue);
    s->due_ns = NEVER_NS;
    s->feed_id = 0;
    s->ended = false;
    deliver(s, &(struct event){.kind = EVENT_START});
}

static void stop(struct site *s)
{
    http_client_free(s->client);
    role_free(s->role);
    event_queue_done(&s->queue);
    evtimer_del(s->due);
    s->all->ready -= s->ready;
    s->all->ended -= s->ended;
    s->ready = s->ended = false;
}

void sites_add(struct sites *all, const char *cert, const char *key)
{
    assert(all->count < SITES_MAX);
    struct site *s = mem_zeroed(sizeof(*s));
    s->all = all;
    snprintf(s->name, sizeof(s->name), "crm-%d", all->count);
    snprintf(s->cloudlet, sizeof(s->cloudlet), "acme/s%d", all->count);
    site_board_init(&s->board, s->name);
    arena_init(&s->arena);
    snprintf(s->cert, sizeof(s->cert), "%s", cert);
    snprintf(s->key, sizeof(s->key), "%s", key);
    s->due = evtimer_new(all->config.loop, on_due, s);
    s->heartbeat = evtimer_new(all->config.loop, on_heartbeat, s);
    struct timeval tv = {.tv_usec = (long)random_below(&all->random, BOARD_HEARTBEAT_MS) * 1000};
    evtimer_add(s->heartbeat, &tv);
    all->list[all->count++] = s;
    start(s);
}

void sites_restart(struct sites *all, int number)
{
    for (int i = 0; i < all->count; i++) {
        struct site *s = all->list[i];
        if (number < 0 || number == i) {
            stop(s);
            site_board_leave(&s->board);
            start(s);
        }
    }
    all->config.on_change(all->config.context);
}

static void site_free(struct site *s)
{
    stop(s);
    event_free(s->due);
    event_free(s->heartbeat);
    site_board_done(&s->board);
    arena_done(&s->arena);
    free(s);
}

struct sites *sites_new(const struct sites_config *config)
{
    struct sites *all = mem_zeroed(sizeof(*all));
    uint64_t seed[2];
    if (getrandom(seed, sizeof(seed), 0) != sizeof(seed)) {
        abort();
    }
    random_seed(&all->random, seed);
    all->config = *config;
    all->centres = mem_text(config->centres);
    all->ca = mem_text(config->ca);
    return all;
}

void sites_free(struct sites *all)
{
    if (all) {
        for (int i = 0; i < all->count; i++) {
            site_free(all->list[i]);
        }
        free(all->centres);
        free(all->ca);
        free(all);
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static bool is_of_a_centre(const struct sites *all, int fd)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    char port[16];
    if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 || peer.sin_family != AF_INET) {
        return false;
    }
    snprintf(port, sizeof(port), ":%d", ntohs(peer.sin_port));
    const char *at = strstr(all->centres, port);
    return at && (at[strlen(port)] == 0 || at[strlen(port)] == ',');
}

int sites_break(struct sites *all)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    int broken = 0;
    while (d && (e = readdir(d))) {
        int fd = atoi(e->d_name);
        broken += is_of_a_centre(all, fd) && shutdown(fd, SHUT_RDWR) == 0;
    }
    if (d) {
        closedir(d);
    }
    return broken;
}

int sites_count(const struct sites *all)
{
    return all->count;
}

int sites_ready(const struct sites *all)
{
    return all->ready;
}

int sites_ended(const struct sites *all)
{
    return all->ended;
}

long sites_warnings(const struct sites *all)
{
    return all->warnings;
}

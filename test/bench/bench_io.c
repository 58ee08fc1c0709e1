#include "test/bench/bench_io.h"

#include <assert.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/bytes.h"
#include "common/contract/effect.h"
#include "common/shell/http_client_io.h"
#include "models/desired_lrp_requests.pb-c.h"

/* A client has a bounded number of connections to one peer, so that wide loads need several. */
enum { CLIENTS = 4, URLS = 8, URL_BYTES = 80, FEED_ID = 1 };

struct load {
    bench_request *request;
    void *context;
    int next, total, open, failures;
    int steps;
    int64_t *begun_ns, *took_ns;
};

struct bench {
    struct event_base *loop;
    struct http_client *clients[CLIENTS];
    struct http_client *feed_client;
    char urls[URLS][URL_BYTES];
    int url_count;
    struct load load;
    bench_look *look;
    void *look_context;
    struct bench_counts *counts; /* filled in from the next answer; NULL = nobody asks */
    bench_frame *on_frame;
    void *frame_context;
    struct buf partial; /* of the feed, not yet a whole frame */
    bool done;
    bool late;
};

int64_t bench_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

const char *bench_needed(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value) {
        fprintf(stderr, "bench: set %s (test/bench/test_cluster does)\n", name);
        exit(2);
    }
    return value;
}

double bench_processor_us(int pid)
{
    clockid_t clock;
    struct timespec t;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0) {
        fprintf(stderr, "bench: there is no process %d to look at\n", pid);
        exit(2);
    }
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- The loop, never for ever ---- */

static void on_late(evutil_socket_t fd, short what, void *context)
{
    struct bench *b = context;
    b->late = true;
    event_base_loopbreak(b->loop);
}

static bool run_loop(struct bench *b, int64_t limit_ms)
{
    struct timeval limit = {.tv_sec = limit_ms / 1000};
    struct event *timer = evtimer_new(b->loop, on_late, b);
    assert(timer);
    evtimer_add(timer, &limit);
    b->late = false;
    event_base_loop(b->loop, EVLOOP_NO_EXIT_ON_EMPTY);
    event_free(timer);
    return !b->late;
}

/* ---- Closed loops: each of `width` clients has one unit under way ---- */

static void send_call(struct http_client *client, uint64_t id, const char *url, const char *path,
                      const ProtobufCMessage *m)
{
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    effects_call_message(&out, id, arena_printf(&a, "%s%s", url, path), "", m,
                         bench_now_ns() + BENCH_ANSWER_MS * MILLISECOND_NS);
    http_client_call(client, &out.list[0].call);
}

static void send_step(struct bench *b, int unit, int step)
{
    SCOPED_ARENA(a);
    const char *path;
    const ProtobufCMessage *m = b->load.request(b->load.context, &a, unit, step, &path);
    send_call(b->clients[unit % CLIENTS], ((uint64_t)unit + 1) * BENCH_STEPS + (uint64_t)step,
              b->urls[unit % b->url_count], path, m);
}

static void begin_unit(struct bench *b)
{
    struct load *l = &b->load;
    if (l->next < l->total) {
        int unit = l->next++;
        l->open++;
        l->begun_ns[unit] = bench_now_ns();
        send_step(b, unit, 0);
    }
}

/* Every answer has its error in field 1, like that of a desire. */
static bool went_well(const struct response *r, bool tell)
{
    if (r->outcome != CALL_ANSWERED || r->status != 200) {
        if (tell) {
            fprintf(stderr, "bench: status %d %s\n", r->status, r->text);
        }
        return false;
    }
    Models__DesiredLRPLifecycleResponse *m =
        models__desired_lrplifecycle_response__unpack(NULL, r->body.size, r->body.data);
    bool well = m && !m->error;
    if (!well && tell) {
        fprintf(stderr, "bench: %s\n", m ? m->error->message : "malformed answer");
    }
    if (m) {
        models__desired_lrplifecycle_response__free_unpacked(m, NULL);
    }
    return well;
}

static bool read_counts(const struct response *r, struct bench_counts *ret)
{
    Board__BoardState *m = board__board_state__unpack(NULL, r->body.size, r->body.data);
    if (!m) {
        return false;
    }
    *ret = (struct bench_counts){(double)m->ops, (double)m->transactions, (double)m->conflicts};
    board__board_state__free_unpacked(m, NULL);
    return true;
}

static void on_response(void *context, const struct response *r)
{
    struct bench *b = context;
    struct load *l = &b->load;
    int unit = (int)(r->id / BENCH_STEPS) - 1, step = (int)(r->id % BENCH_STEPS);
    if (!went_well(r, l->failures == 0) || (b->counts && !read_counts(r, b->counts)) ||
        (b->look && !b->counts && !b->look(b->look_context, r->body))) {
        l->failures++;
    } else if (step + 1 < l->steps) {
        send_step(b, unit, step + 1);
        return;
    }
    l->took_ns[unit] = bench_now_ns() - l->begun_ns[unit];
    l->open--;
    begin_unit(b);
    if (l->open == 0) {
        event_base_loopbreak(b->loop);
    }
}

static void no_stream(void *context, const struct stream_event *event)
{
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

struct bench_result bench_load(struct bench *b, int width, int units, int steps,
                               bench_request *request, void *context)
{
    assert(units > 0 && steps <= BENCH_STEPS);
    struct load *l = &b->load;
    *l = (struct load){.request = request, .context = context, .total = units, .steps = steps};
    l->begun_ns = calloc((size_t)units, sizeof(int64_t));
    l->took_ns = calloc((size_t)units, sizeof(int64_t));
    assert(l->begun_ns && l->took_ns);
    int64_t at = bench_now_ns();
    for (int i = 0; i < width; i++) {
        begin_unit(b);
    }
    while (l->open > 0) { /* the feed's events may end the loop earlier */
        if (!run_loop(b, BENCH_LOAD_MS)) {
            fprintf(stderr, "bench: a load did not end\n");
            exit(1);
        }
    }
    int64_t took = bench_now_ns() - at;
    qsort(l->took_ns, (size_t)units, sizeof(int64_t), by_value);
    struct bench_result r = {
        .per_second = (double)units * 1e9 / (double)took,
        .p50_ms = (double)l->took_ns[units / 2] / 1e6,
        .p99_ms = (double)l->took_ns[units * 99 / 100] / 1e6,
        .failures = l->failures,
    };
    free(l->begun_ns);
    free(l->took_ns);
    return r;
}

void bench_look_at_answers(struct bench *b, bench_look *look, void *context)
{
    b->look = look;
    b->look_context = context;
}

struct one_call {
    const char *path;
    const ProtobufCMessage *message;
};

static const ProtobufCMessage *the_call(void *context, struct arena *a, int unit, int step,
                                        const char **ret_path)
{
    const struct one_call *call = context;
    *ret_path = call->path;
    return call->message;
}

void bench_call(struct bench *b, const char *path, const ProtobufCMessage *m)
{
    struct one_call call = {path, m};
    if (bench_load(b, 1, 1, 1, the_call, &call).failures) {
        fprintf(stderr, "bench: %s failed\n", path);
        exit(1);
    }
}

struct bench_counts bench_count(struct bench *b)
{
    static const Board__BoardState nothing = BOARD__BOARD_STATE__INIT;
    struct bench_counts counts;
    b->counts = &counts;
    bench_call(b, "/v1/board/state", &nothing.base);
    b->counts = NULL;
    return counts;
}

/* ---- The feed ---- */

static void on_feed(void *context, const struct stream_event *event)
{
    struct bench *b = context;
    uint64_t body;
    int head;
    if (event->closed) {
        fprintf(stderr, "bench: the feed ended: status %d %s\n", event->status, event->text);
        exit(1);
    }
    buf_append(&b->partial, event->data.data, event->data.size);
    while ((head = bytes_varint(buf_bytes(&b->partial), &body)) > 0 &&
           (size_t)head + body <= b->partial.size) {
        Board__FeedFrame *frame = board__feed_frame__unpack(NULL, body, b->partial.data + head);
        assert(frame);
        b->on_frame(b->frame_context, frame);
        board__feed_frame__free_unpacked(frame, NULL);
        buf_consume(&b->partial, (size_t)head + body);
    }
}

void bench_follow(struct bench *b, const char *kinds, bench_frame *on_frame, void *context)
{
    enum { KINDS_MAX = 8 };
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    b->on_frame = on_frame;
    b->frame_context = context;
    Board__Selector *selectors[KINDS_MAX];
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    char *state = NULL;
    for (char *kind = strtok_r(arena_strdup(&a, kinds), " ", &state); kind;
         kind = strtok_r(NULL, " ", &state)) {
        assert(request.n_selectors < KINDS_MAX);
        selectors[request.n_selectors] = arena_message(&a, &board__selector__descriptor);
        selectors[request.n_selectors++]->type = kind;
    }
    request.selectors = selectors;
    effects_call_message(&out, FEED_ID, arena_printf(&a, "%s/v1/board/feed", b->urls[0]), "",
                         &request.base, NEVER_NS);
    http_client_subscribe(b->feed_client, &out.list[0].call);
}

bool bench_wait(struct bench *b)
{
    while (!b->done) {
        if (!run_loop(b, BENCH_ANSWER_MS)) {
            return false;
        }
    }
    b->done = false;
    return true;
}

void bench_done(struct bench *b)
{
    b->done = true;
    event_base_loopbreak(b->loop);
}

/* ---- Set-up ---- */

struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert(b);
    signal(SIGPIPE, SIG_IGN);
    b->loop = event_base_new();
    buf_init(&b->partial);
    struct tls_files files = {bench_needed("CA_CERT_FILE"), bench_needed("CLIENT_CERT_FILE"),
                              bench_needed("CLIENT_KEY_FILE")};
    char urls[URLS * URL_BYTES], *state = NULL;
    snprintf(urls, sizeof(urls), "%s", bench_needed("BENCH_BBS_URLS"));
    for (char *u = strtok_r(urls, ",", &state); u && b->url_count < URLS;
         u = strtok_r(NULL, ",", &state)) {
        snprintf(b->urls[b->url_count++], URL_BYTES, "%s", u);
    }
    struct http_client_handlers handlers = {on_response, no_stream, b};
    for (int i = 0; i < CLIENTS; i++) {
        b->clients[i] = http_client_new(&files, b->loop, &handlers);
        assert(b->clients[i]);
    }
    struct http_client_handlers feed_handlers = {on_response, on_feed, b};
    b->feed_client = http_client_new(&files, b->loop, &feed_handlers);
    assert(b->feed_client);
    return b;
}

void bench_free(struct bench *b)
{
    for (int i = 0; i < CLIENTS; i++) {
        http_client_free(b->clients[i]);
    }
    http_client_free(b->feed_client);
    event_base_free(b->loop);
    buf_done(&b->partial);
    free(b);
}

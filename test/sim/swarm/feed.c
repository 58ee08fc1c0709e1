/* S9, and S6 as far as the feed shows it: a process of no role follows the feed of one bbs after
 * the other and compares what it is told with the history. Revisions rise; a gap is announced by a
 * reset with a snapshot; where the feed says that it is complete, what it told is the board at that
 * revision. Another board generation is announced by a reset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/codec/scan.h"
#include "test/sim/swarm/inside.h"

#define SILENCE_NS (4 * SECOND_NS)
/* A heartbeat passed the barrier, which waits for 1 s at most; the rest is for its way. */
#define HEARTBEAT_AGE_NS (2 * SECOND_NS)
#define LINGER_NS (7 * SECOND_NS) /* what was delayed has arrived by then */

enum { FRAME_MAX = 4 * 1024 * 1024, BOARD_GENERATION_BYTES = 64 };

static const char *const types[] = {"actual", "brake", "cell", "desired", "domain", "job", "lead"};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

struct watcher {
    struct role role;
    struct swarm *swarm;
    uint64_t call_id; /* 0 = not subscribed */
    unsigned next_bbs;
    bool snapshot;    /* between RESET and CURRENT */
    bool lacking;     /* since the last RESET some of it is of a bbs whose watch may have slipped */
    bool first;       /* the next frame is the first of a subscription */
    unsigned restores; /* of etcd that it knows of */
    bool bygone; /* what it holds is of before one: until another board generation is announced */
    char board_generation[BOARD_GENERATION_BYTES];
    int64_t revision; /* all changes up to it were told; 0 = none */
    int64_t told;     /* of the last change; more of the same may follow */
    struct map seen;  /* key -> its mod-revision, allocated */
    struct buf partial;
    int64_t heard_ns, retry_ns;
};

static void report(struct watcher *w, const char *what, const Board__FeedFrame *f)
{
    if (w->lacking) {
        return; /* it holds, at whatever bbs, what was left out there (design.md 2, Watches) */
    }
    checkers_report(&w->swarm->checkers, "S9",
                    "the feed of %s: %s (%s at revision %lld, position %lld)",
                    node_name(w->swarm->cluster->bbs[w->next_bbs]), what, f->key,
                    (long long)f->revision, (long long)w->revision);
}

/* ---- What it was told, against what was so ---- */

struct comparison {
    struct watcher *watcher;
    const Board__FeedFrame *frame;
    size_t stood;
};

static void compare_key(struct comparison *c, const char *key)
{
    const struct past *p = history_at(&c->watcher->swarm->checkers.history, key,
                                      c->frame->revision);
    const int64_t *told = map_get(&c->watcher->seen, key);
    bool stands = p && p->message;
    c->stood += stands;
    if (stands != (told != NULL) || (stands && *told != p->revision)) {
        Board__FeedFrame at = *c->frame;
        at.key = (char *)(size_t)key;
        report(c->watcher, "it says that all was told, and a record is not as it was then", &at);
    }
}

static void compare(struct watcher *w, const Board__FeedFrame *f)
{
    struct comparison c = {w, f, 0};
    const struct history *h = &w->swarm->checkers.history;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        size_t size = strlen(types[i]);
        for (struct map_node *n = map_from(&h->now, types[i]);
             n && strncmp(map_key(n), types[i], size) == 0; n = map_next(n)) {
            if (map_key(n)[size] == '/') {
                compare_key(&c, map_key(n));
            }
        }
    }
    if (c.stood != w->seen.count) {
        report(w, "it told of records that never were", f);
    }
    w->revision = w->told = f->revision;
}

static void see(struct watcher *w, const Board__FeedFrame *f)
{
    int64_t *told = map_get(&w->seen, f->key);
    if (!told) {
        told = malloc(sizeof(*told));
        map_put(&w->seen, f->key, told);
    }
    *told = f->mod_revision;
}

/* It carries what was committed before its barrier began, or more. */
static void check_age(struct watcher *w, const Board__FeedFrame *f)
{
    struct swarm *s = w->swarm;
    int64_t now = world_now(s->world);
    if (now - s->feed_hindered_ns > LINGER_NS &&
        f->revision < history_revision_at(&s->checkers.history, now - HEARTBEAT_AGE_NS)) {
        report(w, "a heartbeat of long ago", f);
    }
}

/* ---- Frames ---- */

static void on_change(struct watcher *w, const Board__FeedFrame *f)
{
    if (w->snapshot) {
        report(w, "a change within a snapshot", f);
    } else if (f->revision < w->told || f->revision <= w->revision) {
        report(w, "its revisions fall", f);
    }
    const struct past *p =
        history_at(&w->swarm->checkers.history, f->key, f->revision);
    bool put = f->kind == BOARD__FEED_FRAME__KIND__PUT;
    if (!p || p->revision != f->revision || (p->message != NULL) != put) {
        report(w, "a change that never was", f);
    }
    if (f->revision > w->told && w->told > w->revision) {
        w->revision = w->told; /* all of the earlier one were told */
    }
    w->told = f->revision;
    if (put) {
        see(w, f);
    } else {
        free(map_remove(&w->seen, f->key));
    }
}

/* What comes now is of the old board generation, and was on its way. */
static void look_back(struct watcher *w)
{
    unsigned restores = w->swarm->checkers.history.restores;
    w->bygone = w->bygone || w->restores != restores;
    w->restores = restores;
}

static void on_frame(struct watcher *w, const Board__FeedFrame *f)
{
    bool reset = f->kind == BOARD__FEED_FRAME__KIND__RESET;
    w->lacking = (w->lacking && !reset) ||
                checkers_slipped_at(&w->swarm->checkers, w->swarm->cluster->bbs[w->next_bbs]);
    look_back(w);
    w->bygone = w->bygone && !(reset && strcmp(f->board_generation, w->board_generation) != 0);
    if (w->bygone) {
        return;
    }
    switch (f->kind) {
    case BOARD__FEED_FRAME__KIND__RESET:
        map_done(&w->seen, free);
        w->snapshot = true;
        w->revision = w->told = 0;
        snprintf(w->board_generation, sizeof(w->board_generation), "%s", f->board_generation);
        break;
    case BOARD__FEED_FRAME__KIND__RECORD:
        if (!w->snapshot) {
            report(w, "a record outside of a snapshot", f);
        }
        see(w, f);
        break;
    case BOARD__FEED_FRAME__KIND__CURRENT:
    case BOARD__FEED_FRAME__KIND__HEARTBEAT:
        if (w->first && f->kind == BOARD__FEED_FRAME__KIND__HEARTBEAT && !w->revision) {
            report(w, "it begins without a snapshot", f);
        } else if (f->revision < w->told) {
            report(w, "its revisions fall", f);
        } else {
            w->snapshot = false;
            compare(w, f);
            if (f->kind == BOARD__FEED_FRAME__KIND__HEARTBEAT) {
                check_age(w, f);
            }
        }
        break;
    case BOARD__FEED_FRAME__KIND__PUT:
    case BOARD__FEED_FRAME__KIND__DELETE:
        on_change(w, f);
        break;
    default:
        report(w, "a frame of no kind", f);
        break;
    }
    w->first = false;
}

/* The length of the next frame and of what says it; false while it has not all come. */
static bool frame_size(const struct buf *b, size_t *ret_head, size_t *ret_size)
{
    *ret_size = 0;
    for (*ret_head = 0; *ret_head < b->size && *ret_head < 5;) {
        uint8_t byte = b->data[*ret_head];
        *ret_size |= (size_t)(byte & 0x7f) << (7 * *ret_head);
        ++*ret_head;
        if (!(byte & 0x80)) {
            return *ret_head + *ret_size <= b->size;
        }
    }
    return false;
}

static void take(struct watcher *w, struct bytes data)
{
    SCOPED_ARENA(a);
    size_t head, size, at = 0;
    buf_append(&w->partial, data.data, data.size);
    struct buf rest = w->partial;
    while (frame_size(&rest, &head, &size)) {
        ProtobufCMessage *m = NULL;
        struct bytes body = {.data = rest.data + head, .size = size};
        if (scan_and_unpack(&a, &board__feed_frame__descriptor, body, FRAME_MAX, &m, NULL) != 0) {
            checkers_report(&w->swarm->checkers, "S9", "a frame of the feed is malformed");
            break;
        }
        on_frame(w, (const Board__FeedFrame *)m);
        at += head + size;
        rest.data += head + size;
        rest.size -= head + size;
    }
    struct buf left;
    buf_init(&left);
    buf_append(&left, w->partial.data + at, w->partial.size - at);
    buf_done(&w->partial);
    w->partial = left;
}

/* ---- The subscription ---- */

static void subscribe(struct watcher *w, const struct event *ev, struct effects *out)
{
    Board__Selector selectors[TYPE_COUNT];
    Board__Selector *list[TYPE_COUNT];
    Board__FeedRequest request = BOARD__FEED_REQUEST__INIT;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        board__selector__init(&selectors[i]);
        selectors[i].type = (char *)(size_t)types[i];
        list[i] = &selectors[i];
    }
    request.selectors = list;
    request.n_selectors = TYPE_COUNT;
    request.board_generation = w->board_generation;
    request.revision = w->revision;
    w->told = w->revision;
    w->first = true;
    w->call_id++;
    w->heard_ns = ev->now.mono_ns;
    w->next_bbs = (w->next_bbs + 1) % w->swarm->cluster->options.bbs;
    size_t size = board__feed_request__get_packed_size(&request);
    uint8_t *body = arena_alloc(out->arena, size);
    board__feed_request__pack(&request, body);
    effects_add(out, EFFECT_SUBSCRIBE)->call = (struct call){
        .id = w->call_id,
        .method = "POST",
        .url = arena_printf(out->arena, "%s/v1/board/feed",
                            node_url(w->swarm->cluster->bbs[w->next_bbs])),
        .content_type = "application/x-protobuf",
        .accept = "application/x-protobuf-stream",
        .if_none_match = "",
        .trace_id = "",
        .body = {.data = body, .size = size},
        .deadline_ns = NEVER_NS,
    };
}

/* Half a snapshot cannot be resumed, nor can half a revision. */
static void closed(struct watcher *w, const struct event *ev)
{
    w->retry_ns = ev->now.mono_ns + 200 * MILLISECOND_NS;
    if (w->snapshot) {
        w->revision = 0;
        w->snapshot = false;
    }
    buf_clear(&w->partial);
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct watcher *w = (struct watcher *)role;
    bool ours = ev->kind == EVENT_STREAM && ev->stream.id == w->call_id && !w->retry_ns;
    if (ours && ev->stream.status == 200) {
        w->heard_ns = ev->now.mono_ns;
        take(w, ev->stream.data);
    }
    if (ours && ev->stream.closed) {
        closed(w, ev);
    } else if (!w->retry_ns && ev->now.mono_ns - w->heard_ns > SILENCE_NS) {
        effects_add(out, EFFECT_CANCEL)->cancel = w->call_id;
        closed(w, ev);
    }
    if (w->retry_ns && ev->now.mono_ns >= w->retry_ns) {
        w->retry_ns = 0;
        subscribe(w, ev, out);
    }
    effects_due(out, w->retry_ns ? w->retry_ns : ev->now.mono_ns + SECOND_NS);
}

static void free_watcher(struct role *role)
{
    struct watcher *w = (struct watcher *)role;
    map_done(&w->seen, free);
    buf_done(&w->partial);
    free(w);
}

static size_t body_limit(const struct role *role, const char *path)
{
    return 0;
}

static struct role *make(void *context, unsigned start_count)
{
    static const struct role_ops ops = {
        .name = "watcher", .step = step, .body_limit = body_limit, .free = free_watcher};
    struct watcher *w = mem_zeroed(sizeof(*w));
    w->role.ops = &ops;
    w->swarm = context;
    w->retry_ns = 1; /* at once */
    map_init(&w->seen);
    buf_init(&w->partial);
    return &w->role;
}

/* A restore, if there was one, has been announced to it. */
static void rest(struct workload *work, struct buf *ret_why)
{
    struct watcher *w = (struct watcher *)node_role(work->own);
    look_back(w);
    if (w->bygone) {
        buf_append_string(ret_why, "the feed has announced no other board generation (S9); ");
    }
}

static void begin(struct workload *w)
{
    struct node *n = w->own =
        world_add(w->swarm->world, &(struct node_config){.name = "watcher",
                                                         .unit = "client",
                                                         .certificate_name = "watcher",
                                                         .url = "https://watcher:1",
                                                         .make = make,
                                                         .context = w->swarm});
    world_start(w->swarm->world, n);
}

const struct workload_ops feed_workload = {.begin = begin, .rest = rest};

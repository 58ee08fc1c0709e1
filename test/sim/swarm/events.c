/* Diego's clients: each follows one of the six event streams of one bbs after the other, some of
 * them one cell's events alone. What they hear is compared with the board's history
 * (checkers/events.h). */
#include <stdlib.h>

#include "common/base/memory.h"
#include "models/events.pb-c.h"
#include "test/sim/checkers/event_frames.h"
#include "test/sim/swarm/inside.h"

#define AGAIN_NS (1 * SECOND_NS)       /* as Diego's client after a stream that ended */
#define UNANSWERED_NS (10 * SECOND_NS) /* so long it waits for the head of an answer */
#define STAYS_NS (40 * SECOND_NS)      /* at most; then it goes elsewhere */

static const struct {
    const char *path;
    enum api_stream kind;
} streams[] = {
    {"/v1/events.r1", EVENTS_GROUPS},
    {"/v1/events", EVENTS_GROUPS},
    {"/v1/events/lrp_instances.r1", EVENTS_INSTANCES},
    {"/v1/events/lrp_instances", EVENTS_INSTANCES},
    {"/v1/events/tasks.r1", EVENTS_TASKS},
    {"/v1/events/tasks", EVENTS_TASKS},
};
enum { STREAM_COUNT = sizeof(streams) / sizeof(streams[0]) };

enum { EVENT_CLIENTS_MAX = 4 };

struct event_clients;

/* Somebody who follows an event stream. */
struct event_client {
    struct swarm *swarm;
    struct event_clients *all;
    struct node *node;
    struct event_reader reader;
    const struct node *bbs; /* that it follows, or asks to */
    uint64_t call_id;
};

struct event_clients {
    struct random *random;
    struct event_client list[EVENT_CLIENTS_MAX];
    unsigned count;
    bool stay; /* none leaves its stream by itself any more */
};

/* The process of a event_client. */
struct client {
    struct role role;
    struct event_client *event_client;
    long heard;       /* events of this subscription */
    struct buf text;  /* of the stream, not yet taken */
    int64_t again_ns; /* when it subscribes; NEVER_NS: it has */
    int64_t asked_ns, leaves_ns;
};

static unsigned draw(const struct event_clients *f, unsigned count)
{
    return (unsigned)random_below(f->random, count);
}

static bool take_event(struct client *c)
{
    struct swarm *s = c->event_client->swarm;
    struct event_reader *reader = &c->event_client->reader;
    SCOPED_ARENA(a);
    struct bytes payload;
    char name[EVENT_NAME_BYTES];
    enum event_frame_state state = event_frame_take(&c->text, &c->heard, &a, name, &payload);
    const char *text = state == EVENT_FRAME_TAKEN ? event_text(&a, name, payload) : NULL;
    if (text) {
        s->result->done[DONE_EVENTS]++;
        const char *wrong = reader_hears(&s->checkers, reader, text);
        if (wrong && !checkers_slipped_at(&s->checkers, c->event_client->bbs)) {
            checkers_report(&s->checkers, "S9", "%s %s", reader->name, wrong);
        }
    } else if (state != EVENT_FRAME_NONE) {
        checkers_report(&s->checkers, "S9", "%s: this is no event, or not the next one: %s %.*s",
                        reader->name, name, (int)payload.size, (const char *)payload.data);
    }
    return state != EVENT_FRAME_NONE;
}

/* As Diego's client does: the LRPs' filter travels in the body, of a GET as well. */
static void subscribe(struct client *c, const struct event *ev, struct effects *out)
{
    struct event_client *f = c->event_client;
    struct swarm *s = f->swarm;
    unsigned stream = draw(f->all, STREAM_COUNT), bbs = draw(f->all, s->cluster->options.bbs);
    unsigned cell = draw(f->all, s->cluster->options.cells);
    bool filters = streams[stream].kind != EVENTS_TASKS && draw(f->all, 100) < 30;
    f->reader.kind = streams[stream].kind;
    f->reader.cell_id = filters ? node_name(s->cluster->cells[cell]) : "";
    Models__EventsByCellId by_cell = MODELS__EVENTS_BY_CELL_ID__INIT;
    by_cell.cell_id = (char *)(size_t)f->reader.cell_id;
    size_t size = models__events_by_cell_id__get_packed_size(&by_cell);
    uint8_t *body = arena_alloc(out->arena, size);
    models__events_by_cell_id__pack(&by_cell, body);
    buf_clear(&c->text);
    c->heard = 0;
    c->again_ns = NEVER_NS;
    c->asked_ns = ev->now.mono_ns;
    c->leaves_ns =
        c->asked_ns + SECOND_NS + (int64_t)draw(f->all, STAYS_NS / MILLISECOND_NS) * MILLISECOND_NS;
    f->bbs = s->cluster->bbs[bbs];
    reader_asks(&s->checkers, &f->reader);
    effects_add(out, EFFECT_SUBSCRIBE)->call = (struct call){
        .id = ++f->call_id,
        .method = draw(f->all, 2) ? "POST" : "GET",
        .url =
            arena_printf(out->arena, "%s%s", node_url(s->cluster->bbs[bbs]), streams[stream].path),
        .content_type = "application/x-protobuf",
        .accept = "",
        .if_none_match = "",
        .trace_id = "",
        .body = {.data = body, .size = size},
        .deadline_ns = NEVER_NS,
    };
    world_note(s->world, f->reader.name, "follows %s of %s%s%s", streams[stream].path,
               node_name(s->cluster->bbs[bbs]), filters ? ", " : "", f->reader.cell_id);
}

/* Its own word, or nobody's answer. */
static bool goes(const struct client *c, int64_t now_ns)
{
    const struct event_client *f = c->event_client;
    return f->reader.begun ? !f->all->stay && now_ns >= c->leaves_ns
                           : now_ns - c->asked_ns >= UNANSWERED_NS;
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct client *c = (struct client *)role;
    struct event_client *f = c->event_client;
    int64_t now_ns = ev->now.mono_ns;
    bool ours = ev->kind == EVENT_STREAM && ev->stream.id == f->call_id && c->again_ns == NEVER_NS;
    if (ours && ev->stream.status == 200) {
        buf_append(&c->text, ev->stream.data.data, ev->stream.data.size);
        while (take_event(c)) {
        }
    }
    if (ours && ev->stream.closed) {
        c->again_ns = now_ns + AGAIN_NS;
        f->reader.begun = false;
    } else if (c->again_ns == NEVER_NS && goes(c, now_ns)) {
        effects_add(out, EFFECT_CANCEL)->cancel = f->call_id;
        c->again_ns = now_ns + AGAIN_NS;
        f->reader.begun = false;
    } else if (now_ns >= c->again_ns) {
        subscribe(c, ev, out);
    }
    int64_t due_ns = c->again_ns != NEVER_NS ? c->again_ns
                     : f->reader.begun       ? c->leaves_ns
                                             : c->asked_ns + UNANSWERED_NS;
    effects_due(out, f->reader.begun && f->all->stay ? NEVER_NS : due_ns);
}

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role, (void)path;
    return 0;
}

static void free_client(struct role *role)
{
    struct client *c = (struct client *)role;
    buf_done(&c->text);
    free(c);
}

static struct role *make(void *context, unsigned start_count)
{
    static const struct role_ops ops = {
        .name = "event_client", .step = step, .body_limit = body_limit, .free = free_client};
    struct client *c = mem_zeroed(sizeof(*c));
    c->role.ops = &ops;
    c->event_client = context;
    buf_init(&c->text);
    return &c->role;
}

static void begin(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct event_clients *all = w->own = ARENA_NEW(&s->arena, struct event_clients);
    all->random = &w->random;
    all->count = draw(all, EVENT_CLIENTS_MAX + 1);
    for (unsigned i = 0; i < all->count; i++) {
        struct event_client *f = &all->list[i];
        *f = (struct event_client){.swarm = s, .all = all};
        f->reader.name = arena_printf(&s->arena, "events-%u", i + 1);
        f->node = world_add(
            s->world,
            &(struct node_config){.name = f->reader.name,
                                  .unit = "client",
                                  .certificate_name = f->reader.name,
                                  .url = arena_printf(&s->arena, "https://%s:1", f->reader.name),
                                  .make = make,
                                  .context = f});
        world_start(s->world, f->node);
    }
}

static void done(struct workload *w)
{
    struct event_clients *all = w->own;
    for (unsigned i = 0; i < all->count; i++) {
        reader_done(&all->list[i].reader);
    }
}

static void streamed(struct workload *w, struct node *n, uint64_t call_id, int64_t revision)
{
    struct event_clients *all = w->own;
    for (unsigned i = 0; i < all->count; i++) {
        struct event_client *f = &all->list[i];
        if (f->node == n && f->call_id == call_id) {
            w->swarm->result->done[DONE_STREAMS]++;
            reader_begins(&w->swarm->checkers, &f->reader, revision);
        }
    }
}

static void heal(struct workload *w)
{
    ((struct event_clients *)w->own)->stay = true;
}

/* Each follows, and has heard of all that is to be heard. */
static void rest(struct workload *w, struct buf *ret_why)
{
    struct event_clients *all = w->own;
    struct checkers *k = &w->swarm->checkers;
    for (unsigned i = 0; i < all->count; i++) {
        const struct event_reader *r = &all->list[i].reader;
        const char *missed = reader_misses(k, r);
        /* What a bbs was never told, and what has been overwritten since, it tells nobody. */
        if (missed && !checkers_slipped_at(k, all->list[i].bbs)) {
            buf_printf(ret_why, "%s was not told %s (S9); ", r->name, missed);
        }
    }
}

const struct workload_ops events_workload = {.begin = begin,
                                             .heal = heal,
                                             .rest = rest,
                                             .streamed = streamed,
                                             .done = done};

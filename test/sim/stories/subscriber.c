#include "test/sim/stories/subscriber.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "models/events.pb-c.h"
#include "test/sim/checkers/event_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 256, FAULT_BYTES = 512 };

#define AGAIN_NS (1 * SECOND_NS)

struct subscriber {
    struct role role;
    struct world *world;
    char name[32], url[64];
    uint64_t call_id;
    int64_t again_ns; /* 0 = it follows */
    unsigned ends;
    long heard;      /* events of this subscription */
    struct buf text; /* of the stream, not yet taken */
    struct buf lines;
    struct map records; /* "process/index PRESENCE epoch/tag", each by itself */
    char fault[FAULT_BYTES];
};

/* ---- replay ---- */

static void blame(struct subscriber *s, const char *what, const char *record)
{
    if (!s->fault[0]) {
        snprintf(s->fault, sizeof(s->fault), "%s: %s", what, record);
    }
}

static void record_text(char text[RECORD_BYTES], const Models__ActualLRPKey *key, int presence,
                        const Models__ModificationTag *tag)
{
    snprintf(text, RECORD_BYTES, "%s/%d %c %s/%u", key->process_guid, key->index, "OES"[presence],
             tag->epoch, tag->index);
}

static void comes(struct subscriber *s, const Models__ActualLRPKey *key, int presence,
                  const Models__ModificationTag *tag)
{
    static const char there = 1;
    char text[RECORD_BYTES];
    record_text(text, key, presence, tag);
    if (map_put(&s->records, text, (void *)(size_t)&there)) {
        blame(s, "it was there already", text);
    }
}

static void goes(struct subscriber *s, const Models__ActualLRPKey *key, int presence,
                 const Models__ModificationTag *tag)
{
    char text[RECORD_BYTES];
    record_text(text, key, presence, tag);
    if (!map_remove(&s->records, text)) {
        blame(s, "it was never there", text);
    }
}

static void note(struct subscriber *s, const char *name, const Models__ActualLRPKey *key,
                 const char *before, const char *after)
{
    char line[RECORD_BYTES];
    snprintf(line, sizeof(line), "%s %s/%d %s%s%s", name, key->process_guid, key->index, before,
             *before && *after ? " to " : "", after);
    world_note(s->world, s->name, "hears: %s", line);
    buf_printf(&s->lines, "%s\n", line);
}

static const char *state_text(struct arena *a, const char *state, int presence)
{
    return presence ? arena_printf(a, "%s %s", state, presence == 1 ? "EVACUATING" : "SUSPECT")
                    : state;
}

/* Those of one shape; created and removed are of one. */
static void hear(struct subscriber *s, struct arena *a, const char *name, struct bytes payload)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    if (strcmp(name, "actual_lrp_instance_changed") == 0) {
        Models__ActualLRPInstanceChangedEvent *e = models__actual_lrpinstance_changed_event__unpack(
            &allocator, payload.size, payload.data);
        goes(s, e->actual_lrp_key, (int)e->before->presence, e->before->modification_tag);
        comes(s, e->actual_lrp_key, (int)e->after->presence, e->after->modification_tag);
        note(s, "changed", e->actual_lrp_key,
             state_text(a, e->before->state, (int)e->before->presence),
             state_text(a, e->after->state, (int)e->after->presence));
    } else if (strcmp(name, "actual_lrp_crashed") == 0) {
        Models__ActualLRPCrashedEvent *e =
            models__actual_lrpcrashed_event__unpack(&allocator, payload.size, payload.data);
        note(s, "crashed", e->actual_lrp_key, "", e->crash_reason);
    } else if (strncmp(name, "actual_lrp_instance_", 20) == 0) {
        Models__ActualLRPInstanceCreatedEvent *e = models__actual_lrpinstance_created_event__unpack(
            &allocator, payload.size, payload.data);
        const Models__ActualLRP *r = e->actual_lrp;
        bool created = strcmp(name + 20, "created") == 0;
        (created ? comes : goes)(s, r->actual_lrp_key, (int)r->presence, r->modification_tag);
        note(s, name + 20, r->actual_lrp_key, "", state_text(a, r->state, (int)r->presence));
    } else {
        world_note(s->world, s->name, "hears: %s", name);
        buf_printf(&s->lines, "%s\n", name);
    }
}

/* ---- frames ---- */

static bool take_event(struct subscriber *s)
{
    SCOPED_ARENA(a);
    struct bytes payload;
    char name[EVENT_NAME_BYTES];
    enum event_frame_state state = event_frame_take(&s->text, &s->heard, &a, name, &payload);
    if (state == EVENT_FRAME_WRONG) {
        blame(s, "this is no event, or not the next one", (const char *)payload.data);
    } else if (state == EVENT_FRAME_TAKEN) {
        hear(s, &a, name, payload);
    }
    return state != EVENT_FRAME_NONE;
}

/* ---- the subscription ---- */

static void drop(struct subscriber *s)
{
    map_done(&s->records, NULL);
    buf_clear(&s->text);
    buf_clear(&s->lines);
    s->heard = 0;
}

static void subscribe(struct subscriber *s, struct effects *out)
{
    drop(s);
    s->again_ns = 0;
    effects_add(out, EFFECT_SUBSCRIBE)->call = (struct call){
        .id = ++s->call_id,
        .method = "POST",
        .url = arena_printf(out->arena, "%s/v1/events/lrp_instances.r1", s->url),
        .content_type = "",
        .accept = "",
        .if_none_match = "",
        .trace_id = "",
        .deadline_ns = NEVER_NS,
    };
}

static void step(struct role *role, const struct event *ev, struct effects *out)
{
    struct subscriber *s = (struct subscriber *)role;
    bool ours = ev->kind == EVENT_STREAM && ev->stream.id == s->call_id && !s->again_ns;
    if (ev->kind == EVENT_START) {
        subscribe(s, out);
    } else if (ours && ev->stream.status == 200 && ev->stream.data.size) {
        buf_append(&s->text, ev->stream.data.data, ev->stream.data.size);
        while (take_event(s)) {
        }
    }
    if (ours && ev->stream.closed) {
        world_note(s->world, s->name, "its stream ended");
        s->ends++;
        s->again_ns = ev->now.mono_ns + AGAIN_NS;
    } else if (s->again_ns && ev->now.mono_ns >= s->again_ns) {
        subscribe(s, out);
    }
    effects_due(out, s->again_ns ? s->again_ns : NEVER_NS);
}

static size_t body_limit(const struct role *role, const char *path)
{
    (void)role, (void)path;
    return 0;
}

static void free_subscriber(struct role *role)
{
    struct subscriber *s = (struct subscriber *)role;
    drop(s);
    buf_done(&s->text);
    buf_done(&s->lines);
    free(s);
}

struct origin {
    struct cluster *cluster;
    unsigned number;
};

static struct role *make(void *context, unsigned start_count)
{
    static const struct role_ops ops = {
        .name = "subscriber", .step = step, .body_limit = body_limit, .free = free_subscriber};
    const struct origin *o = context;
    struct subscriber *s = mem_zeroed(sizeof(*s));
    s->role.ops = &ops;
    s->world = o->cluster->world;
    snprintf(s->name, sizeof(s->name), "subscriber-%u", o->number);
    snprintf(s->url, sizeof(s->url), "%s", node_url(o->cluster->bbs[o->number - 1]));
    map_init(&s->records);
    buf_init(&s->text);
    buf_init(&s->lines);
    return &s->role;
}

struct node *subscriber_new(struct cluster *c, unsigned number)
{
    struct origin *o = ARENA_NEW(&c->arena, struct origin);
    *o = (struct origin){c, number};
    const char *name = arena_printf(&c->arena, "subscriber-%u", number);
    struct node *n = world_add(
        c->world, &(struct node_config){.name = name,
                                        .unit = "client",
                                        .certificate_name = name,
                                        .url = arena_printf(&c->arena, "https://%s:1", name),
                                        .make = make,
                                        .context = o});
    world_start(c->world, n);
    return n;
}

static struct subscriber *of(struct node *n)
{
    return (struct subscriber *)node_role(n);
}

unsigned subscriber_ends(struct node *n)
{
    return of(n)->ends;
}

const char *subscriber_heard(struct node *n)
{
    return buf_string(&of(n)->lines);
}

const char *subscriber_fault(struct node *n, int records)
{
    struct subscriber *s = of(n);
    if (records >= 0 && (int)s->records.count != records) {
        char text[64];
        snprintf(text, sizeof(text), "%zu records, not %d", s->records.count, records);
        blame(s, "it holds", text);
    }
    return s->fault[0] ? s->fault : NULL;
}

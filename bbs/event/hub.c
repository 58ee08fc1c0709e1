#include "bbs/event/hub.h"

#include "bbs/event/actual_events.h"
#include "bbs/event/definition_events.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_KEPT = 256 }; /* room for so many is kept from one revision to the next */

/* One change of the revision that is being collected. */
struct change_seen {
    enum record_type type;
    struct version *before, *after; /* references */
    const Board__CauseRecord__Change *cause;
    bool reported;
};

struct hub {
    struct board *board;
    struct stream *streams[STREAM_KIND_COUNT];
    int64_t wake_ns[STREAM_KIND_COUNT]; /* not before */
    struct change_seen *changes;
    size_t change_count, change_capacity;
    struct arena arena; /* of one revision */
    struct buf r1, r0;  /* payloads; empty between two events */
    int64_t now_ns;
};

struct hub *hub_new(struct board *board)
{
    struct hub *h = mem_zeroed(sizeof(*h));
    h->board = board;
    for (int k = 0; k < STREAM_KIND_COUNT; k++) {
        h->streams[k] = stream_new();
    }
    arena_init(&h->arena);
    buf_init(&h->r1);
    buf_init(&h->r0);
    return h;
}

static void drop_changes(struct hub *h)
{
    for (size_t i = 0; i < h->change_count; i++) {
        version_unref(h->changes[i].before);
        version_unref(h->changes[i].after);
    }
    h->change_count = 0;
    if (h->change_capacity > CHANGES_KEPT) {
        free(h->changes);
        h->changes = NULL;
        h->change_capacity = 0;
    }
}

void hub_free(struct hub *h)
{
    if (!h) {
        return;
    }
    drop_changes(h);
    for (int k = 0; k < STREAM_KIND_COUNT; k++) {
        stream_free(h->streams[k]);
    }
    arena_done(&h->arena);
    buf_done(&h->r1);
    buf_done(&h->r0);
    free(h->changes);
    free(h);
}

const char *hub_channel(enum stream_kind kind)
{
    static const char *const names[] = {"events/groups", "events/instances", "events/tasks"};
    return names[kind];
}

struct cursor *hub_reader(struct hub *h, enum stream_kind kind, enum stream_version version,
                          const char *cell_id)
{
    return stream_reader(h->streams[kind], version, cell_id);
}

/* ---- who reads ------------------------------------------------------------------------------- */

static bool read(const struct hub *h, enum stream_kind kind)
{
    return stream_readers(h->streams[kind]) > 0;
}

static bool lrps_read(const struct hub *h)
{
    return read(h, STREAM_GROUPS) || read(h, STREAM_INSTANCES);
}

static bool read_as_r0(const struct hub *h, enum stream_kind kind)
{
    return stream_readers_of(h->streams[kind], STREAM_R0) > 0;
}

/* Those who follow are notified at once, however many they are. */
void hub_close(struct hub *h)
{
    for (int k = 0; k < STREAM_KIND_COUNT; k++) {
        stream_close(h->streams[k]);
    }
    memset(h->wake_ns, 0, sizeof(h->wake_ns));
}

/* ---- one event ------------------------------------------------------------------------------- */

/* An event of the payloads that stand in r1 and r0, which become empty. */
static struct wire_event *event_made(struct hub *h, const struct api_event *e)
{
    assert(h->r1.size > 0);
    struct bytes r0 = h->r0.size ? buf_bytes(&h->r0) : (struct bytes){0};
    struct wire_event *w = wire_event_new(e, buf_bytes(&h->r1), r0);
    buf_clear(&h->r1);
    buf_clear(&h->r0);
    return w;
}

static void tell_actual(struct hub *h, enum stream_kind kind, const struct api_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct api_event *e = &events->list[i];
        buf_message(&h->r1, e->message);
        struct wire_event *w = event_made(h, e);
        stream_add(h->streams[kind], w);
        wire_event_unref(w);
    }
}

/* ---- actual LRPs ----------------------------------------------------------------------------- */

static const char *key_of(const struct change_seen *c)
{
    assert(c->after || c->before);
    return version_key(c->after ? c->after : c->before);
}

static bool is_move(const Board__CauseRecord__Change *cause, const char *move)
{
    return cause && strcmp(cause->move, move) == 0;
}

/* Only events of desire, update, remove and retire tell their request (behaviour.md 3). */
static const char *reported_trace_id(const Board__CauseRecord__Change *cause)
{
    bool asked = cause && (strcmp(cause->actor, actor_name(ACTOR_CLIENT)) == 0 ||
                           strcmp(cause->actor, actor_name(ACTOR_BBS)) == 0);
    bool reported = is_move(cause, "create") || is_move(cause, "stop") || is_move(cause, "retire");
    return asked && reported ? cause->trace_id : "";
}

static Models__ActualLRP *decoded(struct hub *h, const struct version *v)
{
    ProtobufCMessage *m;
    if (!v || record_decode(&h->arena, RECORD_ACTUAL, blob_bytes(v->blob), &m, NULL) < 0) {
        return NULL;
    }
    return (Models__ActualLRP *)m;
}

/* The record after its change, with the whole text that the change brought. The board keeps that
 * text cut; clients are sent all of it (behaviour.md 10.1). */
static const Models__ActualLRP *reported_whole(struct hub *h, const struct change_seen *c)
{
    Models__ActualLRP *after = decoded(h, c->after);
    if (!after || !c->cause || !c->cause->text[0]) {
        return after;
    }
    if (is_move(c->cause, "crash") || is_move(c->cause, "evacuate_crashed")) {
        after->crash_reason = c->cause->text;
    } else if (is_move(c->cause, "fail")) {
        after->placement_error = c->cause->text;
    }
    return after;
}

/* Those of the index that did not change stand in the copy, which is at this revision. */
static void unchanged_records(struct hub *h, const char *key, const bool changed[],
                              struct actual_change *ret)
{
    size_t size = key_parent_size(key);
    struct view *v = board_view(h->board, &h->arena);
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        if (!changed[p]) {
            ret->before.records[p] = ret->after.records[p] =
                view_peek_message(v, arena_printf(&h->arena, "%.*s%d", (int)size, key, p));
        }
    }
}

static void changed_record(struct hub *h, struct change_seen *c, bool changed[],
                           struct actual_change *ret)
{
    int p = key_presence(key_of(c));
    assert(!c->reported);
    c->reported = true;
    if (p < 0 || p >= ACTUAL_PRESENCES) { /* of a newer version */
        return;
    }
    changed[p] = true;
    ret->before.records[p] = decoded(h, c->before);
    ret->after.records[p] = reported_whole(h, c);
    if (*reported_trace_id(c->cause)) {
        ret->trace_id = reported_trace_id(c->cause);
    }
    if (p == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY && c->after) {
        ret->crashed = is_move(c->cause, "crash");
        ret->retired = is_move(c->cause, "retire");
    }
}

/* All changes of one index make one set of events. */
static void tell_index(struct hub *h, size_t first)
{
    struct actual_change change = {.trace_id = ""};
    bool changed[ACTUAL_PRESENCES] = {false};
    const char *key = key_of(&h->changes[first]);
    size_t size = key_parent_size(key);
    for (size_t i = first; i < h->change_count; i++) {
        struct change_seen *c = &h->changes[i];
        if (c->type == RECORD_ACTUAL && !c->reported && strncmp(key_of(c), key, size) == 0) {
            changed_record(h, c, changed, &change);
        }
    }
    unchanged_records(h, key, changed, &change);
    struct api_events events;
    if (read(h, STREAM_GROUPS)) {
        actual_group_events(&h->arena, &change, &events);
        tell_actual(h, STREAM_GROUPS, &events);
    }
    if (read(h, STREAM_INSTANCES)) {
        actual_instance_events(&h->arena, &change, &events);
        tell_actual(h, STREAM_INSTANCES, &events);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void tell_task(struct hub *h, const struct change_seen *c)
{
    const struct definition_change change = {
        .before = c->before, .after = c->after, .trace_id = ""};
    task_event_r1(&h->arena, &change, &h->r1);
    if (!h->r1.size) {
        return;
    }
    if (read_as_r0(h, STREAM_TASKS)) {
        task_event_r0(&h->arena, &change, &h->r0);
    }
    struct wire_event *w = event_made(
        h, &(struct api_event){.of_all_cells = true, .name = task_event_name(&change)});
    stream_add(h->streams[STREAM_TASKS], w);
    wire_event_unref(w);
}

/* ---- DesiredLRPs ----------------------------------------------------------------------------- */

/* Of the run part that belongs to this scheduling part; NULL if it cannot be read. */
static const char *run_key_of(struct hub *h, const struct version *v)
{
    ProtobufCMessage *m;
    if (record_decode(&h->arena, RECORD_DESIRED, blob_bytes(v->blob), &m, NULL) < 0) {
        return NULL;
    }
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)m;
    const char *definition_id = d->modification_tag ? d->modification_tag->epoch : "";
    return key_run(&h->arena, d->process_guid, definition_id);
}

/* It stands in the copy, which is at this revision, or went in it; NULL if there is none (a
 * stranger's hand). */
static const struct blob *run_of(struct hub *h, const char *run_key)
{
    for (size_t i = 0; i < h->change_count; i++) {
        const struct version *before = h->changes[i].before;
        if (before && before->type == RECORD_RUN && strcmp(version_key(before), run_key) == 0) {
            return before->blob;
        }
    }
    struct picked run;
    return view_pick_one(board_view(h->board, &h->arena), run_key, &run) ? run.blob : NULL;
}

static void tell_desired(struct hub *h, const struct change_seen *c)
{
    const char *run_key = run_key_of(h, c->after ? c->after : c->before);
    if (!run_key) {
        return; /* of another format version: left alone */
    }
    const struct definition_change change = {.before = c->before,
                                             .after = c->after,
                                             .run = run_of(h, run_key),
                                             .trace_id = c->cause ? c->cause->trace_id : ""};
    desired_event_r1(&change, &h->r1);
    if (read_as_r0(h, STREAM_GROUPS) || read_as_r0(h, STREAM_INSTANCES)) {
        desired_event_r0(&h->arena, &change, &h->r0);
    }
    struct wire_event *w = event_made(h, &(struct api_event){.of_all_cells = true,
                                                             .name = desired_event_name(&change)});
    for (int k = STREAM_GROUPS; k <= STREAM_INSTANCES; k++) {
        if (read(h, (enum stream_kind)k)) {
            stream_add(h->streams[k], w);
        }
    }
    wire_event_unref(w);
}

/* ---- revisions ------------------------------------------------------------------------------- */

static bool is_read(const struct hub *h, enum record_type type)
{
    switch (type) {
    case RECORD_ACTUAL:
    case RECORD_DESIRED:
    case RECORD_RUN:
        return lrps_read(h);
    case RECORD_TASK:
        return read(h, STREAM_TASKS);
    default:
        return false;
    }
}

void hub_change(struct hub *h, const struct board_change *change)
{
    if (!is_read(h, change->type)) {
        return;
    }
    if (h->change_count == h->change_capacity) {
        h->change_capacity = h->change_capacity ? 2 * h->change_capacity : CHANGES_KEPT;
        h->changes = mem_resized(h->changes, h->change_capacity, sizeof(*h->changes));
    }
    h->changes[h->change_count++] = (struct change_seen){
        .type = change->type,
        .before = version_ref(change->before),
        .after = version_ref(change->after),
        .cause = change->cause,
    };
}

void hub_revision(struct hub *h)
{
    h->now_ns = board_now(h->board).mono_ns;
    for (size_t i = 0; i < h->change_count; i++) {
        const struct change_seen *c = &h->changes[i];
        bool record = c->before || c->after;
        if (c->type == RECORD_ACTUAL && record && !c->reported) {
            tell_index(h, i);
        } else if (c->type == RECORD_DESIRED && record) {
            tell_desired(h, c);
        } else if (c->type == RECORD_TASK && record) {
            tell_task(h, c);
        }
    }
    drop_changes(h);
    arena_reset(&h->arena);
}

/* ---- the step's end -------------------------------------------------------------------------- */

static int64_t pace_ns(const struct hub *h, int kind)
{
    int64_t pace = (int64_t)stream_readers(h->streams[kind]) * HUB_WAKE_NS;
    return pace < HUB_WAKE_MAX_NS ? pace : HUB_WAKE_MAX_NS;
}

static void wake(struct hub *h, int kind, struct effects *out)
{
    if (h->wake_ns[kind] > h->now_ns) {
        if (stream_awaits_wake(h->streams[kind])) {
            effects_due(out, h->wake_ns[kind]);
        }
    } else if (stream_take_wake(h->streams[kind])) {
        effects_add(out, EFFECT_WAKE)->wake = hub_channel((enum stream_kind)kind);
        h->wake_ns[kind] = h->now_ns + pace_ns(h, kind);
    }
}

void hub_timer(struct hub *h, struct moment now, struct effects *out)
{
    h->now_ns = now.mono_ns;
    for (int kind = 0; kind < STREAM_KIND_COUNT; kind++) {
        wake(h, kind, out);
    }
}

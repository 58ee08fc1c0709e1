#include "bbs/event/hub.h"

#include "bbs/event/actual_events.h"
#include "bbs/event/definition_events.h"
#include "common/lifecycle/actor.h"
#include "common/model/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum {
    CHANGES_KEPT = 256,    /* room for so many is kept from one revision to the next */
    FETCH_TOGETHER = 32,   /* run parts asked for at once */
};

/* One change of the revision that is being collected. */
struct change_seen {
    enum record_type type;
    struct version *before, *after; /* references */
    char *run_key;                  /* of RECORD_RUN */
    struct blob *run;
    const Board__CauseRecord__Change *cause;
    bool told;
};

/* A DesiredLRP's event that waits for the run part. */
struct waiting {
    TAILQ_ENTRY(waiting) link;
    struct wire_event *event;
    struct version *before, *after;
    char *trace_id;
    char *run_key;
    int64_t revision;  /* at which the run part is to be read */
    int64_t since_ns;
    bool r0;           /* somebody wants it of version 0 */
    bool asked;        /* it is in the fetch under way */
    bool alone;        /* was not found beside others at a later revision: at its own, then */
};

TAILQ_HEAD(waiting_list, waiting);

struct hub {
    struct board *board;
    struct stream *streams[STREAM_KIND_COUNT];
    int64_t wake_ns[STREAM_KIND_COUNT]; /* not before */
    struct change_seen *changes;
    size_t change_count, change_capacity;
    struct arena arena; /* of one revision */
    struct buf r1, r0;  /* payloads; empty between two events */
    struct waiting_list waiting;
    size_t waiting_bytes;
    bool fetching;
    int64_t fetch_ns;   /* not before */
    int64_t now_ns;
};

struct hub *hub_new(struct board *board)
{
    struct hub *h = calloc(1, sizeof(*h));
    if (!h) {
        abort();
    }
    h->board = board;
    for (int k = 0; k < STREAM_KIND_COUNT; k++) {
        h->streams[k] = stream_new();
    }
    arena_init(&h->arena);
    buf_init(&h->r1);
    buf_init(&h->r0);
    TAILQ_INIT(&h->waiting);
    return h;
}

static size_t waiting_bytes(const struct waiting *w)
{
    return sizeof(*w) + blob_bytes(w->before ? w->before->blob : NULL).size +
           blob_bytes(w->after ? w->after->blob : NULL).size;
}

static void waiting_free(struct hub *h, struct waiting *w)
{
    TAILQ_REMOVE(&h->waiting, w, link);
    h->waiting_bytes -= waiting_bytes(w);
    wire_event_unref(w->event);
    version_unref(w->before);
    version_unref(w->after);
    free(w->trace_id);
    free(w->run_key);
    free(w);
}

static void drop_waiting(struct hub *h)
{
    while (!TAILQ_EMPTY(&h->waiting)) {
        waiting_free(h, TAILQ_FIRST(&h->waiting));
    }
}

static void drop_changes(struct hub *h)
{
    for (size_t i = 0; i < h->change_count; i++) {
        version_unref(h->changes[i].before);
        version_unref(h->changes[i].after);
        blob_unref(h->changes[i].run);
        free(h->changes[i].run_key);
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
    drop_waiting(h);
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

static void close_lrps(struct hub *h)
{
    drop_waiting(h);
    stream_close(h->streams[STREAM_GROUPS]);
    stream_close(h->streams[STREAM_INSTANCES]);
}

/* Nobody waits for ever, nor in any number. */
static void bound_waiting(struct hub *h, struct effects *out)
{
    const struct waiting *first = TAILQ_FIRST(&h->waiting);
    if (!first) {
        return;
    }
    size_t groups = stream_held_bytes(h->streams[STREAM_GROUPS]);
    size_t instances = stream_held_bytes(h->streams[STREAM_INSTANCES]);
    size_t held = h->waiting_bytes + (groups > instances ? groups : instances);
    int64_t end_ns = first->since_ns + HUB_FETCH_MAX_NS;
    if (held > HUB_HELD_BYTES_MAX || end_ns <= h->now_ns) {
        effects_log(out, LOG_WARN_LEVEL, "event streams are closed: a definition was not to be had",
                    "held_bytes=%zu waited_ms=%lld", held,
                    (long long)((h->now_ns - first->since_ns) / MILLISECOND_NS));
        close_lrps(h);
    } else {
        effects_due(out, end_ns);
    }
}

/* Those who follow are told at once, however many they are. */
void hub_close(struct hub *h)
{
    close_lrps(h);
    stream_close(h->streams[STREAM_TASKS]);
    memset(h->wake_ns, 0, sizeof(h->wake_ns));
}

/* ---- one event ------------------------------------------------------------------------------- */

/* The payloads that stand in r1 and r0, which become empty. */
static void set_text(struct hub *h, struct wire_event *e, const char *name)
{
    struct bytes r0 = h->r0.size ? buf_bytes(&h->r0) : (struct bytes){0};
    wire_event_set(e, name, buf_bytes(&h->r1), r0);
    buf_clear(&h->r1);
    buf_clear(&h->r0);
}

static void tell_actual(struct hub *h, enum stream_kind kind, const struct api_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct api_event *e = &events->list[i];
        struct wire_event *w = wire_event_new(e);
        buf_message(&h->r1, e->message);
        set_text(h, w, e->name);
        stream_add(h->streams[kind], w);
        wire_event_unref(w);
    }
    stream_settle(h->streams[kind]);
}

/* ---- actual LRPs ----------------------------------------------------------------------------- */

static const char *key_of(const struct change_seen *c)
{
    return version_key(c->after ? c->after : c->before);
}

static bool is_move(const Board__CauseRecord__Change *cause, const char *move)
{
    return cause && strcmp(cause->move, move) == 0;
}

/* Only events of desire, update, remove and retire tell their request (behaviour.md 3). */
static const char *told_trace_id(const Board__CauseRecord__Change *cause)
{
    bool asked = cause && (strcmp(cause->actor, actor_name(ACTOR_CLIENT)) == 0 ||
                           strcmp(cause->actor, actor_name(ACTOR_BBS)) == 0);
    bool told = is_move(cause, "create") || is_move(cause, "stop") || is_move(cause, "retire");
    return asked && told ? cause->trace_id : "";
}

static Models__ActualLRP *decoded(struct hub *h, const struct version *v)
{
    ProtobufCMessage *m;
    if (!v || record_decode(&h->arena, RECORD_ACTUAL, blob_bytes(v->blob), &m, NULL) < 0) {
        return NULL;
    }
    return (Models__ActualLRP *)m;
}

/* The record as its change left it, but for the text that it brought: stored it is cut, told it is
 * whole (behaviour.md 10.1). */
static const Models__ActualLRP *told_whole(struct hub *h, const struct change_seen *c)
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
            const struct seen *seen =
                view_peek(v, arena_printf(&h->arena, "%.*s%d", (int)size, key, p));
            ret->before.records[p] = ret->after.records[p] =
                seen ? (const Models__ActualLRP *)seen->message : NULL;
        }
    }
}

static void changed_record(struct hub *h, struct change_seen *c, bool changed[],
                           struct actual_change *ret)
{
    int p = key_presence(key_of(c));
    c->told = true;
    if (p < 0 || p >= ACTUAL_PRESENCES) { /* of a newer version */
        return;
    }
    changed[p] = true;
    ret->before.records[p] = decoded(h, c->before);
    ret->after.records[p] = told_whole(h, c);
    if (*told_trace_id(c->cause)) {
        ret->trace_id = told_trace_id(c->cause);
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
        if (c->type == RECORD_ACTUAL && !c->told && strncmp(key_of(c), key, size) == 0) {
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
    struct wire_event *w = wire_event_new(&(struct api_event){.of_all_cells = true});
    set_text(h, w, task_event_name(&change));
    stream_add(h->streams[STREAM_TASKS], w);
    stream_settle(h->streams[STREAM_TASKS]);
    wire_event_unref(w);
}

/* ---- DesiredLRPs ----------------------------------------------------------------------------- */

static void settle_lrps(struct hub *h)
{
    stream_settle(h->streams[STREAM_GROUPS]);
    stream_settle(h->streams[STREAM_INSTANCES]);
}

static void set_desired_text(struct hub *h, struct wire_event *w,
                             const struct definition_change *change, bool r0)
{
    desired_event_r1(change, &h->r1);
    if (r0) {
        desired_event_r0(&h->arena, change, &h->r0);
    }
    set_text(h, w, desired_event_name(change));
}

/* Of the run part that belongs to this scheduling part; NULL if it cannot be read. */
static const char *run_key_of(struct hub *h, const struct version *v)
{
    ProtobufCMessage *m;
    if (record_decode(&h->arena, RECORD_DESIRED, blob_bytes(v->blob), &m, NULL) < 0) {
        return NULL;
    }
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)m;
    const char *epoch = d->modification_tag ? d->modification_tag->epoch : "";
    return key_run(&h->arena, d->process_guid, epoch);
}

/* It changed in the same transaction; NULL if the watch has told nothing of it. */
static struct blob *run_told(const struct hub *h, const char *run_key)
{
    for (size_t i = 0; i < h->change_count; i++) {
        const struct change_seen *c = &h->changes[i];
        if (c->type == RECORD_RUN && strcmp(c->run_key, run_key) == 0) {
            return c->run;
        }
    }
    return NULL;
}

static char *copy_string(const char *s)
{
    char *copy = strdup(s);
    if (!copy) {
        abort();
    }
    return copy;
}

static void wait_for_run(struct hub *h, struct wire_event *event, const struct change_seen *c,
                         const char *run_key, int64_t revision)
{
    struct waiting *w = calloc(1, sizeof(*w));
    if (!w) {
        abort();
    }
    w->event = wire_event_ref(event);
    w->before = version_ref(c->before);
    w->after = version_ref(c->after);
    w->trace_id = copy_string(c->cause ? c->cause->trace_id : "");
    w->run_key = copy_string(run_key);
    w->revision = c->after ? revision : revision - 1; /* before it went */
    w->since_ns = h->now_ns;
    w->r0 = read_as_r0(h, STREAM_GROUPS) || read_as_r0(h, STREAM_INSTANCES);
    TAILQ_INSERT_TAIL(&h->waiting, w, link);
    h->waiting_bytes += waiting_bytes(w);
}

static void tell_desired(struct hub *h, const struct change_seen *c, int64_t revision)
{
    const char *run_key = run_key_of(h, c->after ? c->after : c->before);
    if (!run_key) {
        return; /* of another format version: left alone */
    }
    struct blob *run = run_told(h, run_key);
    struct wire_event *w = wire_event_new(&(struct api_event){.of_all_cells = true});
    for (int k = STREAM_GROUPS; k <= STREAM_INSTANCES; k++) {
        if (read(h, (enum stream_kind)k)) {
            stream_add(h->streams[k], w);
        }
    }
    if (run) {
        const struct definition_change change = {.before = c->before,
                                                 .after = c->after,
                                                 .run = run,
                                                 .trace_id = c->cause ? c->cause->trace_id : ""};
        set_desired_text(h, w, &change,
                         read_as_r0(h, STREAM_GROUPS) || read_as_r0(h, STREAM_INSTANCES));
        settle_lrps(h);
    } else {
        wait_for_run(h, w, c, run_key, revision);
    }
    wire_event_unref(w);
}

/* ---- run parts that the watch has not told ---------------------------------------------------- */

static void resolve(struct hub *h, struct waiting *w, const struct blob *run)
{
    const struct definition_change change = {
        .before = w->before, .after = w->after, .run = run, .trace_id = w->trace_id};
    set_desired_text(h, w->event, &change, w->r0);
    waiting_free(h, w);
}

static const struct outside *found_of(const struct outside *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].key, key) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static void fetch_failed(struct hub *h)
{
    struct waiting *w;
    TAILQ_FOREACH (w, &h->waiting, link) {
        w->asked = false;
    }
    h->fetch_ns = h->now_ns + HUB_FETCH_RETRY_NS;
}

/* A run part is written once, so any revision at which it stands will do. One that is not there any
 * more at that of the youngest of those asked together is asked for alone, at its own. */
static void fetched(void *context, const struct outside *list, size_t count, const char *text,
                    struct effects *out)
{
    (void)out;
    struct hub *h = context;
    struct waiting *w, *next;
    h->fetching = false;
    h->now_ns = board_now(h->board).mono_ns;
    if (text) {
        fetch_failed(h);
        return;
    }
    for (w = TAILQ_FIRST(&h->waiting); w; w = next) {
        next = TAILQ_NEXT(w, link);
        const struct outside *run = w->asked ? found_of(list, count, w->run_key) : NULL;
        if (run || (w->asked && w->alone)) { /* alone and not there: a stranger's hand */
            resolve(h, w, run ? run->blob : NULL);
        } else if (w->asked) {
            w->asked = false;
            w->alone = true;
        }
    }
    settle_lrps(h);
    arena_reset(&h->arena);
}

static void fetch_runs(struct hub *h, struct effects *out)
{
    struct waiting *w = TAILQ_FIRST(&h->waiting);
    if (!w || h->fetching) {
        return;
    }
    if (h->fetch_ns > h->now_ns) {
        effects_due(out, h->fetch_ns);
        return;
    }
    struct arena *a = board_arena();
    const char **keys = ARENA_ARRAY(a, FETCH_TOGETHER, const char *);
    size_t count = 0;
    int64_t revision = 0;
    bool alone = w->alone;
    for (; w && count < FETCH_TOGETHER && w->alone == alone; w = TAILQ_NEXT(w, link)) {
        keys[count++] = arena_strdup(a, w->run_key);
        w->asked = true;
        revision = w->revision;
        if (alone) {
            break;
        }
    }
    h->fetching = true;
    board_fetch(h->board, a, keys, count, revision, fetched, h, out);
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
        h->changes = realloc(h->changes, h->change_capacity * sizeof(*h->changes));
        if (!h->changes) {
            abort();
        }
    }
    h->changes[h->change_count++] = (struct change_seen){
        .type = change->type,
        .before = version_ref(change->before),
        .after = version_ref(change->after),
        .run_key = change->type == RECORD_RUN ? copy_string(change->key) : NULL,
        .run = blob_ref(change->run),
        .cause = change->cause,
    };
}

void hub_revision(struct hub *h, int64_t revision)
{
    h->now_ns = board_now(h->board).mono_ns;
    for (size_t i = 0; i < h->change_count; i++) {
        const struct change_seen *c = &h->changes[i];
        bool record = c->before || c->after;
        if (c->type == RECORD_ACTUAL && record && !c->told) {
            tell_index(h, i);
        } else if (c->type == RECORD_DESIRED && record) {
            tell_desired(h, c, revision);
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
    bound_waiting(h, out);
    fetch_runs(h, out);
    for (int kind = 0; kind < STREAM_KIND_COUNT; kind++) {
        wake(h, kind, out);
    }
}

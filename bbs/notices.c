#include "bbs/inside.h"
#include "bbs/lrp/actual.h"
#include "common/base/memory.h"
#include "common/base/query.h"
#include "common/model/routing.h"

#include "cell.pb-c.h"

#include <stdlib.h>
#include <string.h>

struct start_notice {
    TAILQ_ENTRY(start_notice) link;
    int32_t first_index, end_index; /* of an LRP */
    char *trace_id;
    char guid[]; /* of the process or the task */
};

void notices_init(struct notices *n)
{
    *n = (struct notices){0};
    TAILQ_INIT(&n->starts.list);
    TAILQ_INIT(&n->tasks.list);
}

static void drop_first(struct start_notices *waiting)
{
    struct start_notice *s = TAILQ_FIRST(&waiting->list);
    TAILQ_REMOVE(&waiting->list, s, link);
    waiting->count--;
    free(s->trace_id);
    free(s);
}

static void drop_all(struct start_notices *waiting)
{
    while (!TAILQ_EMPTY(&waiting->list)) {
        drop_first(waiting);
    }
}

void notices_done(struct notices *n)
{
    drop_all(&n->starts);
    drop_all(&n->tasks);
}

/* The entries of a kind stand together. */
enum {
    TASK_CALLS_FROM = START_CALLS_MAX,
    STOP_CALLS_FROM = TASK_CALLS_FROM + START_CALLS_MAX,
    CANCEL_CALLS_FROM = STOP_CALLS_FROM + STOP_CALLS_MAX,
    REFRESH_CALLS_FROM = CANCEL_CALLS_FROM + CANCEL_CALLS_MAX,
};

static const struct {
    const char *name;
    size_t from, end;
} kinds[] = {
    [NOTICE_START] = {"start", 0, TASK_CALLS_FROM},
    [NOTICE_TASK] = {"task", TASK_CALLS_FROM, STOP_CALLS_FROM},
    [NOTICE_STOP] = {"stop", STOP_CALLS_FROM, CANCEL_CALLS_FROM},
    [NOTICE_CANCEL] = {"cancel", CANCEL_CALLS_FROM, REFRESH_CALLS_FROM},
    [NOTICE_REFRESH] = {"refresh", REFRESH_CALLS_FROM, NOTICE_CALLS_MAX},
};

static void on_answer(void *context, const struct response *r, struct effects *out)
{
    struct notice_call *call = context;
    call->id = 0;
    if (r->outcome != CALL_ANSWERED || r->status / 100 != 2) {
        effects_log(out, LOG_INFO_LEVEL, "a notice did not arrive; the feed repeats it",
                    "kind=%s status=%d why=\"%s\"", kinds[call->kind].name, r->status, r->text);
    }
}

/* A free entry; NULL if all of this kind are in use. */
static struct notice_call *free_call(struct notices *n, enum notice_kind kind)
{
    for (size_t i = kinds[kind].from; i < kinds[kind].end; i++) {
        if (n->calls[i].id == 0) {
            return &n->calls[i];
        }
    }
    return NULL;
}

/* The entry is in use until the call is answered. */
static void open_call(struct bbs *b, struct notice_call *call, enum notice_kind kind)
{
    *call = (struct notice_call){.id = board_next_id(b->board), .kind = kind};
    askers_add(&b->askers, call->id, on_answer, call);
}

/* ---- Reps: rep_url/v1/lrps/PROCESS_GUID/instances/INSTANCE_GUID ------------------------------ */

/* Guids that came by a start may hold anything. */
static const char *instance_url(struct arena *a, const char *rep_url, const char *process_guid,
                                const char *instance_guid, const char *what)
{
    return arena_printf(a, "%s/v1/lrps/%s/instances/%s%s", rep_url,
                        percent_encoded(a, process_guid), percent_encoded(a, instance_guid), what);
}

/* A cell that is not there is skipped; its rep will see the mark when it comes back. */
static const char *rep_url(struct bbs *b, const char *cell_id, struct arena *a)
{
    const Board__CellRecord *cell =
        view_peek_message(board_view(b->board, a), key_cell(a, cell_id));
    if (!cell || cell->state != BOARD__CELL_RECORD__STATE__PRESENT || !cell->presence ||
        !cell->presence->rep_url[0]) {
        return NULL;
    }
    return cell->presence->rep_url;
}

static const char *cancel_url(struct arena *a, const char *rep_url, const struct notice *notice)
{
    return arena_printf(a, "%s/v1/tasks/%s/cancel%s%s", rep_url,
                        percent_encoded(a, notice->task_guid),
                        notice->attempt[0] ? "?attempt=" : "", percent_encoded(a, notice->attempt));
}

/* POST .../stop of an instance, .../cancel of a task; without a body. */
static void send_end(struct bbs *b, const struct notice *notice, const char *trace_id,
                     struct effects *out)
{
    const char *url = rep_url(b, notice->cell_id, out->arena);
    struct notice_call *call = free_call(&b->notices, notice->kind);
    if (!url || !call) {
        effects_log(out, LOG_DEBUG_LEVEL, "a notice is left to the feed",
                    "kind=%s cell_id=%s why=\"%s\"", kinds[notice->kind].name, notice->cell_id,
                    url ? "too many at once" : "cell not present");
        return;
    }
    open_call(b, call, notice->kind);
    effects_add(out, EFFECT_CALL)->call = (struct call){
        .id = call->id,
        .method = "POST",
        .url = notice->kind == NOTICE_CANCEL
                   ? cancel_url(out->arena, url, notice)
                   : instance_url(out->arena, url, notice->process_guid, notice->instance_guid,
                                  "/stop"),
        .content_type = "application/json",
        .accept = "",
        .if_none_match = "",
        .trace_id = arena_strdup(out->arena, trace_id),
        .deadline_ns = board_now(b->board).mono_ns + NOTICE_TIMEOUT_NS,
    };
}

static Cell__LRPUpdate *update_message(struct arena *a, const Models__DesiredLRP *desired,
                                       const Models__ActualLRP *record)
{
    Cell__LRPUpdate *m = ARENA_NEW(a, Cell__LRPUpdate);
    struct routing routing;
    cell__lrpupdate__init(m);
    m->instance_guid = record->actual_lrp_instance_key->instance_guid;
    m->process_guid = record->actual_lrp_key->process_guid;
    m->index = record->actual_lrp_key->index;
    m->domain = record->actual_lrp_key->domain;
    m->replaces = true;
    routing_desired(a, desired, m->index, m->instance_guid, &routing);
    m->routed = routing.routed;
    m->internal_routes = ARENA_ARRAY(a, routing.hostname_count, Models__ActualLRPInternalRoute *);
    for (; m->n_internal_routes < routing.hostname_count; m->n_internal_routes++) {
        Models__ActualLRPInternalRoute *route = ARENA_NEW(a, Models__ActualLRPInternalRoute);
        models__actual_lrpinternal_route__init(route);
        route->hostname = (char *)(uintptr_t)routing.hostnames[m->n_internal_routes];
        m->internal_routes[m->n_internal_routes] = route;
    }
    m->metric_tags = ARENA_ARRAY(a, routing.tag_count, Cell__LRPUpdate__MetricTagsEntry *);
    for (; m->n_metric_tags < routing.tag_count; m->n_metric_tags++) {
        Cell__LRPUpdate__MetricTagsEntry *tag = ARENA_NEW(a, Cell__LRPUpdate__MetricTagsEntry);
        cell__lrpupdate__metric_tags_entry__init(tag);
        tag->key = (char *)(uintptr_t)routing.tags[m->n_metric_tags].key;
        tag->value = (char *)(uintptr_t)routing.tags[m->n_metric_tags].value;
        m->metric_tags[m->n_metric_tags] = tag;
    }
    return m;
}

/* PUT, for one record. False when no more can be sent now. */
static bool send_update(struct bbs *b, const Models__DesiredLRP *desired,
                        const Models__ActualLRP *record, const char *trace_id, struct effects *out)
{
    struct notice_call *call = free_call(&b->notices, NOTICE_REFRESH);
    if (!call) {
        effects_log(out, LOG_DEBUG_LEVEL, "refreshes are left to the converger", "process_guid=%s",
                    desired->process_guid);
        return false;
    }
    const Models__ActualLRPInstanceKey *instance = record->actual_lrp_instance_key;
    const char *url = rep_url(b, instance->cell_id, out->arena);
    if (!url) {
        return true; /* it comes with the converger's next look at this instance */
    }
    open_call(b, call, NOTICE_REFRESH);
    effects_call_message(
        out, call->id,
        instance_url(out->arena, url, desired->process_guid, instance->instance_guid, ""), trace_id,
        &update_message(out->arena, desired, record)->base,
        board_now(b->board).mono_ns + NOTICE_TIMEOUT_NS);
    out->list[out->count - 1].call.method = "PUT";
    return true;
}

/* By the copy as it is now: a notice says which instances, not what. */
static void send_refresh(struct bbs *b, const struct notice *notice, const char *trace_id,
                         struct effects *out)
{
    struct arena *a = out->arena;
    struct view *v = board_view(b->board, a);
    const Models__DesiredLRP *desired =
        view_peek_message(v, key_desired(a, notice->process_guid));
    int64_t end = (int64_t)notice->first_index + REFRESH_INDICES_MAX;
    end = notice->end_index < end ? notice->end_index : end;
    bool room = desired != NULL;
    for (int32_t index = notice->first_index; room && index < end; index++) {
        const Models__ActualLRP *record =
            view_peek_message(v, key_actual(a, notice->process_guid, index, 0));
        if (record && actual_has_instance(record)) {
            room = send_update(b, desired, record, trace_id, out);
        }
    }
}

/* ---- Starts: POST lead/auctioneer's url/v1/lrps or /v1/tasks --------------------------------- */

static void keep_start(struct start_notices *waiting, const struct notice *notice,
                       const char *trace_id)
{
    if (waiting->count >= STARTS_WAITING_MAX) {
        return;
    }
    const char *guid = notice->kind == NOTICE_TASK ? notice->task_guid : notice->process_guid;
    size_t size = strlen(guid) + 1;
    struct start_notice *s = mem_zeroed(sizeof(*s) + size);
    s->trace_id = mem_text(trace_id);
    memcpy(s->guid, guid, size);
    s->first_index = notice->first_index;
    s->end_index = notice->end_index;
    TAILQ_INSERT_TAIL(&waiting->list, s, link);
    waiting->count++;
}

void notices_add(struct bbs *b, const struct notice *notice, const char *trace_id,
                 struct effects *out)
{
    switch (notice->kind) {
    case NOTICE_STOP:
    case NOTICE_CANCEL:
        send_end(b, notice, trace_id, out);
        break;
    case NOTICE_REFRESH:
        send_refresh(b, notice, trace_id, out);
        break;
    case NOTICE_START:
        keep_start(&b->notices.starts, notice, trace_id);
        break;
    case NOTICE_TASK:
        keep_start(&b->notices.tasks, notice, trace_id);
        break;
    case NOTICE_CALLBACK:
        callbacks_add(b, notice->task_guid, trace_id, out);
        break;
    }
}

static const char *auctioneer_url(struct bbs *b, struct arena *a)
{
    const Board__LeaderLockRecord *leader =
        view_peek_message(board_view(b->board, a), key_lead(a, "auctioneer"));
    return leader && leader->url[0] ? leader->url : NULL;
}

/* Those of its instances that await a cell, with the revisions of their records. */
static void add_unclaimed(struct view *v, struct arena *a, const struct start_notice *s,
                          Cell__LRPStart *m)
{
    size_t max = (size_t)(s->end_index - s->first_index);
    m->indices = ARENA_ARRAY(a, max, int32_t);
    m->revisions = ARENA_ARRAY(a, max, int64_t);
    for (int32_t index = s->first_index; index < s->end_index; index++) {
        const struct seen *seen = view_peek(v, key_actual(a, s->guid, index, 0));
        const Models__ActualLRP *record = seen ? (const Models__ActualLRP *)seen->message : NULL;
        if (record && strcmp(record->state, "UNCLAIMED") == 0) {
            m->indices[m->n_indices++] = index;
            m->revisions[m->n_revisions++] = seen->mod_revision;
        }
    }
}

/* What the auctioneer must know of the LRP; NULL when it is not desired any more, or none awaits a
 * cell. */
static ProtobufCMessage *start_message(struct bbs *b, struct arena *a,
                                       const struct start_notice *s)
{
    struct view *v = board_view(b->board, a);
    const Models__DesiredLRP *d = view_peek_message(v, key_desired(a, s->guid));
    if (!d) {
        return NULL;
    }
    Cell__LRPStart *m = arena_message(a, &cell__lrpstart__descriptor);
    m->process_guid = d->process_guid;
    m->domain = d->domain;
    add_unclaimed(v, a, s, m);
    m->n_placementtags = d->n_placementtags;
    m->placementtags = d->placementtags;
    m->volumedrivers = ARENA_ARRAY(a, d->n_volume_mounts, char *);
    for (size_t i = 0; i < d->n_volume_mounts; i++) {
        m->volumedrivers[m->n_volumedrivers++] = d->volume_mounts[i]->driver;
    }
    m->rootfs = d->root_fs;
    m->memorymb = d->memory_mb;
    m->diskmb = d->disk_mb;
    m->maxpids = d->max_pids;
    return m->n_indices ? &m->base : NULL;
}

/* The same of the task; NULL when it awaits no cell any more. */
static ProtobufCMessage *task_message(struct bbs *b, struct arena *a, const struct start_notice *s)
{
    const struct seen *seen = view_peek(board_view(b->board, a), key_task(a, s->guid));
    const Models__Task *task = seen ? (const Models__Task *)seen->message : NULL;
    if (!task || task->state != MODELS__TASK__STATE__Pending || !task->task_definition) {
        return NULL;
    }
    const Models__TaskDefinition *d = task->task_definition;
    Cell__Task *m = arena_message(a, &cell__task__descriptor);
    m->taskguid = task->task_guid;
    m->domain = task->domain;
    m->created_at = task->created_at;
    m->rejections = task->rejection_count;
    m->revision = seen->mod_revision;
    m->n_placementtags = d->n_placement_tags;
    m->placementtags = d->placement_tags;
    m->volumedrivers = ARENA_ARRAY(a, d->n_volume_mounts, char *);
    for (size_t i = 0; i < d->n_volume_mounts; i++) {
        m->volumedrivers[m->n_volumedrivers++] = d->volume_mounts[i]->driver;
    }
    m->rootfs = d->root_fs;
    m->memorymb = d->memory_mb;
    m->diskmb = d->disk_mb;
    m->maxpids = d->max_pids;
    return &m->base;
}

static const ProtobufCMessage *all_lrps(struct arena *a, ProtobufCMessage **list, size_t count)
{
    Cell__LRPStarts *m = arena_message(a, &cell__lrpstarts__descriptor);
    m->starts = (Cell__LRPStart **)list;
    m->n_starts = count;
    return &m->base;
}

static const ProtobufCMessage *all_tasks(struct arena *a, ProtobufCMessage **list, size_t count)
{
    Cell__TaskStarts *m = arena_message(a, &cell__task_starts__descriptor);
    m->starts = (Cell__Task **)list;
    m->n_starts = count;
    return &m->base;
}

/* What the auctioneer is notified of, and how. */
static const struct start_kind {
    enum notice_kind kind;
    const char *path;
    ProtobufCMessage *(*one)(struct bbs *b, struct arena *a, const struct start_notice *s);
    const ProtobufCMessage *(*all)(struct arena *a, ProtobufCMessage **list, size_t count);
} start_kinds[] = {
    {NOTICE_START, "/v1/lrps", start_message, all_lrps},
    {NOTICE_TASK, "/v1/tasks", task_message, all_tasks},
};

/* Takes the first and all that follow of the same trace. NULL: none of them is to be reported. */
static const ProtobufCMessage *take_starts(struct bbs *b, struct arena *a,
                                           const struct start_kind *kind,
                                           struct start_notices *waiting, const char *trace_id)
{
    ProtobufCMessage **list = ARENA_ARRAY(a, waiting->count, ProtobufCMessage *);
    size_t count = 0;
    struct start_notice *s;
    while ((s = TAILQ_FIRST(&waiting->list)) && strcmp(s->trace_id, trace_id) == 0) {
        list[count] = kind->one(b, a, s);
        count += list[count] != NULL;
        drop_first(waiting);
    }
    return count ? kind->all(a, list, count) : NULL;
}

static void send_starts(struct bbs *b, const struct start_kind *kind,
                        struct start_notices *waiting, struct effects *out)
{
    struct notice_call *call;
    while (!TAILQ_EMPTY(&waiting->list) && (call = free_call(&b->notices, kind->kind))) {
        const char *url = auctioneer_url(b, out->arena);
        const char *trace_id = arena_strdup(out->arena, TAILQ_FIRST(&waiting->list)->trace_id);
        const ProtobufCMessage *m = take_starts(b, out->arena, kind, waiting, trace_id);
        if (!url || !m) {
            continue; /* no leader yet: the next one learns it from the feed */
        }
        open_call(b, call, kind->kind);
        effects_call_message(out, call->id, arena_printf(out->arena, "%s%s", url, kind->path),
                             trace_id, m, board_now(b->board).mono_ns + NOTICE_TIMEOUT_NS);
    }
}

void notices_send(struct bbs *b, struct effects *out)
{
    send_starts(b, &start_kinds[0], &b->notices.starts, out);
    send_starts(b, &start_kinds[1], &b->notices.tasks, out);
}

/* A task waits while it is Pending; it says itself what it asks for. It is rejected once a request
 * (docs/tasks.md). */
#include "auctioneer/backlog.h"
#include "common/model/moves.h"

#include <string.h>

/* A hint need not tell; what it offers is held to its attempt alone. */
static bool same_offer(const struct wanted *a, const struct wanted *b)
{
    return a->created_at == 0 || b->created_at == 0 ||
           (a->created_at == b->created_at && a->rejections == b->rejections);
}

/* What was placed as another offer is not placed. */
static void want(struct backlog *p, struct entry *e, struct wanted *w, int64_t now_ns)
{
    if (e->state == ENTRY_PLACED && !same_offer(e->own, w)) {
        backlog_await_again(p, e, now_ns);
    }
    wanted_unref(e->own);
    e->own = w;
}

static bool waits(const ProtobufCMessage *record, const char **ret_guid, int32_t *ret_index)
{
    const Models__Task *task = (const Models__Task *)record;
    *ret_guid = task->task_guid;
    *ret_index = 0;
    return task->state == MODELS__TASK__STATE__Pending;
}

/* The creation is a request, a rejection is none: one that was rejected before waits for somebody
 * to ask. */
static void seen(struct backlog *p, struct entry *e, const ProtobufCMessage *record,
                 int64_t mod_revision, int64_t now_ns)
{
    const Models__Task *task = (const Models__Task *)record;
    want(p, e, wanted_of_task(task), now_ns);
    if (e->revision != mod_revision) {
        /* Whoever rejected it, this leader or the one before: what was asked is answered. Only of a
         * hint that came before any record nobody knows. */
        e->requested = task->rejection_count == 0 || (e->requested && e->revision == 0);
    }
}

/* A request; the same one that comes twice is answered by one rejection. */
static void hinted(struct backlog *p, struct entry *e, const ProtobufCMessage *hint,
                   int64_t revision, int64_t now_ns)
{
    if (e->source == SOURCE_HINT) {
        want(p, e, wanted_of_hint((const Cell__Task *)hint), now_ns);
    }
    e->requested = e->requested || !revision || revision != e->reported_revision;
}

static bool stands(const struct entry *e, const struct wanted *as)
{
    return same_offer(e->own, as);
}

static bool unreported(const struct entry *e)
{
    return e->source == SOURCE_BOARD && e->requested && e->state == ENTRY_REFUSED;
}

/* Of the very record that was decided on: whoever moved it since is not rejected. */
static Board__Move *refusal(struct arena *a, const struct entry *e, const struct wanted *w)
{
    Board__Move *m = move_new_task(a, "reject", e->guid);
    (void)w;
    m->subject->revision = e->revision;
    m->task->error_message = arena_strdup(a, reason_text(e->reason));
    return m;
}

static void reported(struct entry *e)
{
    e->requested = false;
    e->reported_revision = e->revision;
}

static void doubt(struct entry *e)
{
    e->requested = e->requested || e->revision == e->reported_revision;
}

/* The rep draws the attempt itself. */
static size_t offer(struct arena *a, const struct wanted *w, int32_t index, Cell__Work *work)
{
    (void)index;
    Cell__Task *task = work->tasks[work->n_tasks++] = ARENA_NEW(a, Cell__Task);
    cell__task__init(task);
    task->taskguid = (char *)(uintptr_t)w->guid;
    task->domain = (char *)(uintptr_t)w->domain;
    task->n_placementtags = w->tag_count;
    task->placementtags = w->tags;
    task->n_volumedrivers = w->driver_count;
    task->volumedrivers = w->drivers;
    task->rootfs = (char *)(uintptr_t)w->root_fs;
    task->memorymb = w->memory_mb;
    task->diskmb = w->disk_mb;
    task->maxpids = w->max_pids;
    task->created_at = w->created_at;
    task->rejections = w->rejections;
    return cell__task__get_packed_size(task);
}

static bool came_back(const Cell__Work *back, const struct wanted *w, int32_t index)
{
    (void)index;
    for (size_t i = 0; i < back->n_tasks; i++) {
        if (strcmp(back->tasks[i]->taskguid, w->guid) == 0) {
            return true;
        }
    }
    return false;
}

static void name(struct arena *a, const struct entry *e, const struct waiting_name *ret)
{
    *ret->task_guid = arena_strdup(a, e->guid);
}

const struct waiting_kind waiting_task = {
    .record = RECORD_TASK,
    .job = JOB_TASK,
    .reported_when_seen = true,
    .waits = waits,
    .seen = seen,
    .hinted = hinted,
    .stands = stands,
    .unreported = unreported,
    .refusal = refusal,
    .reported = reported,
    .doubt = doubt,
    .offer = offer,
    .came_back = came_back,
    .name = name,
};

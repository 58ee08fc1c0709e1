/* An instance waits while it is UNCLAIMED; what it asks for its process says. */
#include "auctioneer/backlog.h"
#include "common/model/moves.h"

#include <string.h>

static bool waits(const ProtobufCMessage *record, const char **ret_guid, int32_t *ret_index)
{
    const Models__ActualLRP *lrp = (const Models__ActualLRP *)record;
    if (!lrp->actual_lrp_key || strcmp(lrp->state, "UNCLAIMED") != 0 || lrp->stopping ||
        lrp->presence != MODELS__ACTUAL_LRP__PRESENCE__ORDINARY) {
        return false;
    }
    *ret_guid = lrp->actual_lrp_key->process_guid;
    *ret_index = lrp->actual_lrp_key->index;
    return true;
}

/* The feed tells each change: of a record that it reported already and that is in the selection
 * still, only the reason has changed. After a hint, or a gap, another revision may be another need.
 */
static void seen(struct backlog *p, struct entry *e, const ProtobufCMessage *record,
                 int64_t mod_revision, int64_t now_ns)
{
    if (e->source != SOURCE_BOARD && e->revision != 0 && e->revision != mod_revision) {
        backlog_await_again(p, e, now_ns);
    }
    reason_set(&e->reported, ((const Models__ActualLRP *)record)->placement_error);
}

static bool stands(const struct entry *e, const struct wanted *as)
{
    (void)as;
    return !e->awaits_again;
}

/* When the reason changed (design.md 5). */
static bool unreported(const struct entry *e)
{
    return e->source == SOURCE_BOARD && e->reason &&
           strcmp(reason_text(e->reason), reason_text(e->reported)) != 0;
}

static Board__Move *refusal(struct arena *a, const struct entry *e, const struct wanted *w)
{
    Board__Move *m = move_new_instance(a, "fail", e->guid, e->index, 0, w->domain);
    m->instance->error_message = arena_strdup(a, reason_text(e->reason));
    return m;
}

static void reported(struct entry *e)
{
    blob_unref(e->reported);
    e->reported = blob_ref(e->reason);
}

static void doubt(struct entry *e)
{
    reason_set(&e->reported, "");
}

static size_t offer(struct arena *a, const struct wanted *w, int32_t index, Cell__Work *work)
{
    Cell__LRP *lrp = work->lrps[work->n_lrps++] = ARENA_NEW(a, Cell__LRP);
    cell__lrp__init(lrp);
    lrp->process_guid = (char *)(uintptr_t)w->guid;
    lrp->index = index;
    lrp->domain = (char *)(uintptr_t)w->domain;
    lrp->n_placementtags = w->tag_count;
    lrp->placementtags = w->tags;
    lrp->n_volumedrivers = w->driver_count;
    lrp->volumedrivers = w->drivers;
    lrp->rootfs = (char *)(uintptr_t)w->root_fs;
    lrp->memorymb = w->memory_mb;
    lrp->diskmb = w->disk_mb;
    lrp->maxpids = w->max_pids;
    lrp->definition_id = (char *)(uintptr_t)w->definition_id;
    return cell__lrp__get_packed_size(lrp);
}

static bool came_back(const Cell__Work *back, const struct wanted *w, int32_t index)
{
    for (size_t i = 0; i < back->n_lrps; i++) {
        if (back->lrps[i]->index == index &&
            strcmp(back->lrps[i]->process_guid, w->guid) == 0) {
            return true;
        }
    }
    return false;
}

static void name(struct arena *a, const struct entry *e, const struct waiting_name *ret)
{
    *ret->process_guid = arena_strdup(a, e->guid);
    *ret->index = e->index;
}

const struct waiting_kind waiting_instance = {
    .record = RECORD_ACTUAL,
    .job = JOB_LRP,
    .hint_runs_ahead = true,
    .waits = waits,
    .seen = seen,
    .stands = stands,
    .unreported = unreported,
    .refusal = refusal,
    .reported = reported,
    .doubt = doubt,
    .offer = offer,
    .came_back = came_back,
    .name = name,
};

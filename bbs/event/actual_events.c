#include "bbs/event/actual_events.h"

#include "bbs/lrp/actual.h"
#include "bbs/lrp/group.h"
#include "common/base/message.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>
#include <string.h>

enum {
    ORDINARY = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY,
    EVACUATING = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING,
    SUSPECT = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT,
};

/* Priority inside one change (behaviour.md 16.3): a router learns the new place before it forgets
 * the old one. */
enum rank { RANK_CRASHED, RANK_RUNNING, RANK_REST, RANK_COUNT };

/* Events by rank, each rank in the order in which they were found. */
struct ranked {
    struct arena *arena;
    struct api_events ranks[RANK_COUNT];
};

static const char *cell_of(const Models__ActualLRP *record)
{
    return record && record->actual_lrp_instance_key ? record->actual_lrp_instance_key->cell_id
                                                     : "";
}

static enum rank rank_of(const Models__ActualLRP *shown)
{
    return actual_state(shown) == ACTUAL_LRP_RUNNING ? RANK_RUNNING : RANK_REST;
}

static struct api_event *add(struct ranked *r, enum rank rank, const char *name,
                             const ProtobufCMessage *message)
{
    struct api_events *events = &r->ranks[rank];
    assert(events->count < API_EVENTS_MAX);
    struct api_event *e = &events->list[events->count++];
    *e = (struct api_event){.name = name, .message = message};
    return e;
}

static void take(const struct ranked *r, struct api_events *ret)
{
    ret->count = 0;
    for (size_t rank = 0; rank < RANK_COUNT; rank++) {
        for (size_t i = 0; i < r->ranks[rank].count; i++) {
            assert(ret->count < API_EVENTS_MAX);
            ret->list[ret->count++] = r->ranks[rank].list[i];
        }
    }
}

/* ---- what is seen ---------------------------------------------------------------------------- */

#define EMPTY_IF_ABSENT(a, field, type, init)                                                      \
    do {                                                                                           \
        if (!(field)) {                                                                            \
            (field) = ARENA_NEW(a, type);                                                          \
            init(field);                                                                           \
        }                                                                                          \
    } while (0)

Models__ActualLRP *actual_visible(struct arena *a, const Models__ActualLRP *record)
{
    Models__ActualLRP *copy = actual_copy(a, record);
    copy->stopping = false;
    copy->definition_id = (char *)(uintptr_t)protobuf_c_empty_string;
    copy->owner = NULL;
    copy->routable_since = 0;
    copy->optional_routed_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTED__NOT_SET;
    copy->base.n_unknown_fields = 0;
    copy->base.unknown_fields = NULL;
    EMPTY_IF_ABSENT(a, copy->actual_lrp_key, Models__ActualLRPKey, models__actual_lrpkey__init);
    EMPTY_IF_ABSENT(a, copy->actual_lrp_instance_key, Models__ActualLRPInstanceKey,
                    models__actual_lrpinstance_key__init);
    EMPTY_IF_ABSENT(a, copy->actual_lrp_net_info, Models__ActualLRPNetInfo,
                    models__actual_lrpnet_info__init);
    EMPTY_IF_ABSENT(a, copy->modification_tag, Models__ModificationTag,
                    models__modification_tag__init);
    return copy;
}

/* Both made visible. */
static bool same_but_presence(const Models__ActualLRP *a, const Models__ActualLRP *b)
{
    Models__ActualLRP moved = *a;
    moved.presence = b->presence;
    return message_equal(&moved.base, &b->base);
}

static bool same_instance(const Models__ActualLRP *a, const Models__ActualLRP *b)
{
    return actual_has_instance(a) && actual_has_instance(b) &&
           instance_key_equal(a->actual_lrp_instance_key, b->actual_lrp_instance_key);
}

/* One record was deleted and another one made in its place, in one transaction: no change of
 * Diego's does so, and each has an epoch of its own. */
static bool made_again(const Models__ActualLRP *before, const Models__ActualLRP *after)
{
    assert(before->modification_tag && after->modification_tag);
    return before->presence == after->presence &&
           strcmp(before->modification_tag->epoch, after->modification_tag->epoch) != 0;
}

static void index_visible(struct arena *a, const struct actual_index *index,
                          struct actual_index *ret)
{
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        ret->records[p] = index->records[p] ? actual_visible(a, index->records[p]) : NULL;
    }
}

/* The index before and after, as the events tell it. */
static void change_visible(struct arena *a, const struct actual_change *change,
                           struct actual_index *ret_before, struct actual_index *ret_after)
{
    index_visible(a, &change->before, ret_before);
    index_visible(a, &change->after, ret_after);
    if (change->retired) {
        ret_after->records[ORDINARY] = NULL;
    }
}

/* The cell of a SUSPECT instance is back: the record takes the ORDINARY one's place again, and a
 * replacement that stood there goes (behaviour.md 12). */
static const Models__ActualLRP *displaced_replacement(const struct actual_index *before,
                                                      const struct actual_index *after)
{
    const Models__ActualLRP *replacement = before->records[ORDINARY];
    bool back = !after->records[SUSPECT] &&
                same_instance(before->records[SUSPECT], after->records[ORDINARY]);
    return back && !same_instance(replacement, after->records[ORDINARY]) ? replacement : NULL;
}

/* A crash that was counted, or that ended in CRASHED without a restart (evacuate_crashed). */
static void add_crashed(struct ranked *r, bool counted, const Models__ActualLRP *before,
                        const Models__ActualLRP *after)
{
    bool for_good = actual_state(after) == ACTUAL_LRP_CRASHED &&
                    actual_state(before) != ACTUAL_LRP_CRASHED;
    if (!after || (!counted && !for_good)) {
        return;
    }
    const Models__ActualLRP *of = before ? before : after;
    Models__ActualLRPCrashedEvent *e = ARENA_NEW(r->arena, Models__ActualLRPCrashedEvent);
    models__actual_lrpcrashed_event__init(e);
    e->actual_lrp_key = of->actual_lrp_key;
    e->actual_lrp_instance_key = of->actual_lrp_instance_key;
    e->crash_count = after->crash_count;
    e->crash_reason = after->crash_reason;
    e->since = after->since;
    add(r, RANK_CRASHED, "actual_lrp_crashed", &e->base)->cells[0] = cell_of(of);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static const char *state_of(const Models__ActualLRP *record)
{
    return record ? record->state : "";
}

const Models__ActualLRP *group_instance(const struct actual_index *index)
{
    const Models__ActualLRP *ordinary = index->records[ORDINARY];
    const Models__ActualLRP *suspect = index->records[SUSPECT];
    return group_shows_suspect(state_of(ordinary), state_of(suspect)) ? suspect : ordinary;
}

/* An event shows the half of the group that it is about. */
static Models__ActualLRPGroup *half(struct arena *a, const Models__ActualLRP *record)
{
    Models__ActualLRPGroup *group = arena_message(a, &models__actual_lrpgroup__descriptor);
    if (record->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        group->evacuating = (Models__ActualLRP *)(uintptr_t)record;
    } else {
        group->instance = (Models__ActualLRP *)(uintptr_t)record;
    }
    return group;
}

static void group_created(struct ranked *r, const Models__ActualLRP *after)
{
    Models__ActualLRPCreatedEvent *e = ARENA_NEW(r->arena, Models__ActualLRPCreatedEvent);
    models__actual_lrpcreated_event__init(e);
    e->actual_lrp_group = half(r->arena, after);
    add(r, rank_of(after), "actual_lrp_created", &e->base)->cells[0] =
        cell_of(group_resolve(e->actual_lrp_group));
}

static void group_removed(struct ranked *r, const Models__ActualLRP *before)
{
    Models__ActualLRPRemovedEvent *e = ARENA_NEW(r->arena, Models__ActualLRPRemovedEvent);
    models__actual_lrpremoved_event__init(e);
    e->actual_lrp_group = half(r->arena, before);
    add(r, RANK_REST, "actual_lrp_removed", &e->base)->cells[0] =
        cell_of(group_resolve(e->actual_lrp_group));
}

static void group_changed(struct ranked *r, const Models__ActualLRP *before,
                          const Models__ActualLRP *after)
{
    Models__ActualLRPChangedEvent *e = ARENA_NEW(r->arena, Models__ActualLRPChangedEvent);
    models__actual_lrpchanged_event__init(e);
    e->before = half(r->arena, before);
    e->after = half(r->arena, after);
    struct api_event *event = add(r, rank_of(after), "actual_lrp_changed", &e->base);
    event->cells[0] = cell_of(group_resolve(e->before));
    event->cells[1] = cell_of(group_resolve(e->after));
}

/* 1. Only another presence: nothing.
 * 2. Another record in the place of the one that was deleted: removed, created.
 * 3. Another instance in the place of one: created, removed.
 * 4. Otherwise: changed. */
static void half_changed(struct ranked *r, const Models__ActualLRP *before,
                         const Models__ActualLRP *after)
{
    if (!before && !after) {
        return;
    }
    if (!before) {
        group_created(r, after);
    } else if (!after) {
        group_removed(r, before);
    } else if (same_but_presence(before, after)) { /* 1 */
        return;
    } else if (made_again(before, after)) { /* 2 */
        group_removed(r, before);
        group_created(r, after);
    } else if (actual_has_instance(before) && actual_has_instance(after) &&
               !same_instance(before, after)) { /* 3 */
        group_created(r, after);
        group_removed(r, before);
    } else { /* 4 */
        group_changed(r, before, after);
    }
}

void actual_group_events(struct arena *a, const struct actual_change *change,
                         struct api_events *ret)
{
    struct ranked r = {.arena = a};
    struct actual_index before, after;
    change_visible(a, change, &before, &after);
    const Models__ActualLRP *replacement = displaced_replacement(&before, &after);
    if (replacement) {
        group_removed(&r, replacement);
    }
    const Models__ActualLRP *was = group_instance(&before), *is = group_instance(&after);
    /* Behind a SUSPECT one nobody sees it, until that goes and leaves it CRASHED. */
    add_crashed(&r, change->crashed && is == after.records[ORDINARY], was, is);
    half_changed(&r, was, is);
    half_changed(&r, before.records[EVACUATING], after.records[EVACUATING]);
    take(&r, ret);
}

/* ---- instances ------------------------------------------------------------------------------- */

static void instance_created(struct ranked *r, const Models__ActualLRP *after, const char *trace_id)
{
    Models__ActualLRPInstanceCreatedEvent *e =
        arena_message(r->arena, &models__actual_lrpinstance_created_event__descriptor);
    e->actual_lrp = (Models__ActualLRP *)(uintptr_t)after;
    e->trace_id = (char *)(uintptr_t)trace_id;
    add(r, rank_of(after), "actual_lrp_instance_created", &e->base)->cells[0] = cell_of(after);
}

static void instance_removed(struct ranked *r, enum rank rank, const Models__ActualLRP *before,
                             const char *trace_id)
{
    Models__ActualLRPInstanceRemovedEvent *e =
        arena_message(r->arena, &models__actual_lrpinstance_removed_event__descriptor);
    e->actual_lrp = (Models__ActualLRP *)(uintptr_t)before;
    e->trace_id = (char *)(uintptr_t)trace_id;
    add(r, rank, "actual_lrp_instance_removed", &e->base)->cells[0] = cell_of(before);
}

/* Without keys, internal routes and metric tags (behaviour.md 16.3). */
static Models__ActualLRPInfo *info_of(struct arena *a, const Models__ActualLRP *record)
{
    Models__ActualLRPInfo *info = arena_message(a, &models__actual_lrpinfo__descriptor);
    info->actual_lrp_net_info = record->actual_lrp_net_info;
    info->crash_count = record->crash_count;
    info->crash_reason = record->crash_reason;
    info->state = record->state;
    info->placement_error = record->placement_error;
    info->since = record->since;
    info->modification_tag = record->modification_tag;
    info->presence = record->presence;
    if (record->optional_routable_case == MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE) {
        info->optional_routable_case = MODELS__ACTUAL_LRPINFO__OPTIONAL_ROUTABLE_ROUTABLE;
        info->routable = record->routable;
    }
    info->availability_zone = record->availability_zone;
    return info;
}

static void instance_changed(struct ranked *r, const Models__ActualLRP *before,
                             const Models__ActualLRP *after, const char *trace_id)
{
    const Models__ActualLRP *named = actual_has_instance(after) ? after : before;
    Models__ActualLRPInstanceChangedEvent *e =
        arena_message(r->arena, &models__actual_lrpinstance_changed_event__descriptor);
    e->actual_lrp_key = after->actual_lrp_key;
    e->actual_lrp_instance_key = named->actual_lrp_instance_key;
    e->before = info_of(r->arena, before);
    e->after = info_of(r->arena, after);
    e->trace_id = (char *)(uintptr_t)trace_id;
    add(r, rank_of(after), "actual_lrp_instance_changed", &e->base)->cells[0] = cell_of(named);
}

/* An ORDINARY record that stays in its place is one that changes, but for the way back to
 * UNCLAIMED, which is the end of one instance and the wait for another. */
static bool goes_on(const Models__ActualLRP *before, const Models__ActualLRP *after)
{
    bool unclaimed = actual_state(after) == ACTUAL_LRP_UNCLAIMED &&
                     actual_state(before) != ACTUAL_LRP_UNCLAIMED;
    return !unclaimed && !made_again(before, after);
}

/* What became of each record: the same instance, at whatever presence; else the record that goes on
 * in the ORDINARY place. `partner[p]` is the presence after of what was at p, -1 = it is gone. */
static void find_partners(const struct actual_index *before, const struct actual_index *after,
                          int partner[ACTUAL_PRESENCES])
{
    bool taken[ACTUAL_PRESENCES] = {false};
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        partner[p] = same_instance(before->records[p], after->records[p]) ? p : -1;
        taken[p] = partner[p] == p;
    }
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        for (int q = 0; q < ACTUAL_PRESENCES && partner[p] < 0; q++) {
            if (!taken[q] && same_instance(before->records[p], after->records[q])) {
                partner[p] = q;
                taken[q] = true;
            }
        }
    }
    const Models__ActualLRP *was = before->records[ORDINARY], *is = after->records[ORDINARY];
    if (was && is && partner[ORDINARY] < 0 && !taken[ORDINARY] && goes_on(was, is)) {
        partner[ORDINARY] = ORDINARY;
    }
}

void actual_instance_events(struct arena *a, const struct actual_change *change,
                            struct api_events *ret)
{
    struct ranked r = {.arena = a};
    struct actual_index before, after;
    int partner[ACTUAL_PRESENCES];
    bool continued[ACTUAL_PRESENCES] = {false};
    change_visible(a, change, &before, &after);
    find_partners(&before, &after, partner);
    const Models__ActualLRP *replacement = displaced_replacement(&before, &after);
    if (replacement) { /* its place is taken: reported before who takes it */
        instance_removed(&r, RANK_RUNNING, replacement, change->trace_id);
    }
    add_crashed(&r, change->crashed, before.records[ORDINARY], after.records[ORDINARY]);
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        if (partner[p] >= 0) {
            const Models__ActualLRP *is = after.records[partner[p]];
            continued[partner[p]] = true;
            if (!message_equal(&before.records[p]->base, &is->base)) {
                instance_changed(&r, before.records[p], is, change->trace_id);
            }
        }
    }
    bool again = before.records[ORDINARY] && after.records[ORDINARY] &&
                partner[ORDINARY] < 0 && !continued[ORDINARY] &&
                made_again(before.records[ORDINARY], after.records[ORDINARY]);
    if (again) { /* the one is deleted, then the other one is made */
        instance_removed(&r, RANK_REST, before.records[ORDINARY], change->trace_id);
    }
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        if (after.records[p] && !continued[p]) {
            instance_created(&r, after.records[p], change->trace_id);
        }
    }
    for (int p = 0; p < ACTUAL_PRESENCES; p++) {
        const Models__ActualLRP *gone = before.records[p];
        if (gone && partner[p] < 0 && gone != replacement && !(again && p == ORDINARY)) {
            instance_removed(&r, RANK_REST, gone, change->trace_id);
        }
    }
    take(&r, ret);
}

/* start: the instance runs (behaviour.md 10.2, 10.3; docs/instances.md, Harmonising). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <stdlib.h>
#include <string.h>

typedef Models__ActualLRP__MetricTagsEntry tag_entry;

static int tag_order(const void *a, const void *b)
{
    const tag_entry *const *left = a, *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

/* Sorted by key, for a map comes in any order on the wire and a repeated call must be seen as
 * one. */
static void set_tags(struct arena *a, const Board__InstanceMove *m, Models__ActualLRP *after)
{
    after->n_metric_tags = m->n_metric_tags;
    after->metric_tags = ARENA_ARRAY(a, m->n_metric_tags, tag_entry *);
    for (size_t i = 0; i < m->n_metric_tags; i++) {
        tag_entry *entry = arena_message(a, &models__actual_lrp__metric_tags_entry__descriptor);
        entry->key = m->metric_tags[i]->key;
        entry->value = m->metric_tags[i]->value;
        after->metric_tags[i] = entry;
    }
    if (m->n_metric_tags > 1) {
        qsort(after->metric_tags, m->n_metric_tags, sizeof(tag_entry *), tag_order);
    }
}

/* The mark was set for the instance that is taken over; it stays while the index is not desired,
 * for then every instance of it is to stop. */
static bool still_stopping(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    return s->ordinary && s->ordinary->stopping &&
           (instance_key_equal(s->ordinary->actual_lrp_instance_key,
                               turn_says(t)->actual_lrp_instance_key) ||
            !index_desired(s->desired, turn_key(t)->index));
}

/* Since when it is routable, by the record before this news: that of another instance, or of one
 * that was not, tells nothing. */
static int64_t routable_since(const struct move_turn *t, const Models__ActualLRP *before,
                              bool routable)
{
    bool was = before->routable && instance_key_equal(before->actual_lrp_instance_key,
                                                      turn_says(t)->actual_lrp_instance_key);
    return !routable ? 0 : was ? before->routable_since : t->in->now.wall_ns;
}

void actual_set_running(const struct move_turn *t, Models__ActualLRP *after)
{
    const Board__InstanceMove *m = turn_says(t);
    bool routable = m->optional_routable_case == 0 || m->routable; /* absent means true */
    after->routable_since = routable_since(t, after, routable);
    after->actual_lrp_instance_key = m->actual_lrp_instance_key;
    after->actual_lrp_net_info = m->actual_lrp_net_info;
    after->n_actual_lrp_internal_routes = m->n_actual_lrp_internal_routes;
    after->actual_lrp_internal_routes = m->actual_lrp_internal_routes;
    set_tags(t->plan->arena, m, after);
    actual_set_routable(after, routable);
    bool told = m->optional_routed_case == BOARD__INSTANCE_MOVE__OPTIONAL_ROUTED_ROUTED;
    after->optional_routed_case = told ? MODELS__ACTUAL_LRP__OPTIONAL_ROUTED_ROUTED
                                       : MODELS__ACTUAL_LRP__OPTIONAL_ROUTED__NOT_SET;
    after->routed = told && m->routed;
    after->availability_zone = m->availability_zone;
    after->placement_error = (char *)(uintptr_t)protobuf_c_empty_string;
    after->definition_id = m->definition_id;
}

static Models__ActualLRP *started(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRPKey *key = turn_key(t);
    Models__ActualLRP *after;
    if (s->ordinary) {
        after = actual_change(t->plan->arena, s->ordinary, t->in->now);
    } else {
        const Models__Owner *owner = s->desired ? s->desired->owner : NULL;
        after = actual_new(t->plan->arena, key->process_guid, key->index, key->domain, owner,
                           t->in->now, t->in->random);
    }
    actual_set_state(after, t->to);
    actual_set_running(t, after);
    after->stopping = still_stopping(t);
    return after;
}

/* What no client sees: since and tag stay, and so its time of being ready. */
static void keep_unseen(const Models__ActualLRP *before, Models__ActualLRP *after)
{
    Models__ActualLRP seen = *before;
    seen.optional_routed_case = after->optional_routed_case;
    seen.routed = after->routed;
    if (actual_same_content(&seen, after)) {
        after->since = before->since;
        after->modification_tag = before->modification_tag;
    }
}

/* Those of a state of a newer version are left alone. */
static void replace(const struct move_turn *t, const Models__ActualLRP *record)
{
    if (record && lifecycle_transition(&actual_lrp_lifecycle, actual_state(record), t->in->actor,
                                       ACTUAL_LRP_TRIGGER_REPLACE,
                                       ACTUAL_LRP_IF_DISPLACED) == ACTUAL_LRP_NONE) {
        const Models__ActualLRPKey *key = record->actual_lrp_key;
        move_delete(t,
                    key_actual(t->plan->arena, key->process_guid, key->index,
                               (int)record->presence),
                    actual_state(record), "replace");
    }
}

/* 1. The record's domain is another: ActualLRPCannotBeStarted, as where the lifecycle forbids it
 * (another instance RUNNING, CRASHED for an ordinary client, an old definition, or one whose
 * removal was asked).
 * 2. RUNNING with all that is given: nothing. Reps repeat this call every 30 s.
 * 3. RUNNING as given, since now, unless only what its rep knows of routes differs. Without a
 *    record it is created, desired or not, so that an emptied board learns what runs (seed).
 * 4. In both cases the EVACUATING and the SUSPECT record of the index have been replaced. */
void start_decide(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    if (s->ordinary &&
        strcmp(s->ordinary->actual_lrp_key->domain, turn_key(t)->domain) != 0) { /* 1 */
        t->row->refuse(t);
        return;
    }
    Models__ActualLRP *after = started(t);
    if (!s->ordinary || !actual_same_content(s->ordinary, after)) { /* 2 */
        if (s->ordinary) {
            keep_unseen(s->ordinary, after);
        }
        actual_put(t, after, t->to); /* 3 */
    }
    replace(t, s->evacuating); /* 4 */
    replace(t, s->suspect);
}

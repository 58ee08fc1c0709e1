/* start: the instance runs (behaviour.md 10.2, 10.3; seed: CAS to, or CREATE, RUNNING on A). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
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
static void set_tags(struct arena *a, const Board__Move *m, Models__ActualLRP *after)
{
    after->n_metric_tags = m->n_metric_tags;
    after->metric_tags = ARENA_ARRAY(a, m->n_metric_tags, tag_entry *);
    for (size_t i = 0; i < m->n_metric_tags; i++) {
        tag_entry *entry = ARENA_NEW(a, tag_entry);
        models__actual_lrp__metric_tags_entry__init(entry);
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
static bool still_stopping(const struct move_snapshot *s, const Board__Move *m)
{
    return s->ordinary && s->ordinary->stopping &&
           (instance_key_equal(s->ordinary->actual_lrp_instance_key,
                               m->actual_lrp_instance_key) ||
            !index_desired(s->desired, m->actual_lrp_key->index));
}

void move_set_running(struct arena *a, const struct op_input *in, Models__ActualLRP *after)
{
    const Board__Move *m = (const Board__Move *)in->request;
    actual_set_state(after, ACTUAL_LRP_RUNNING);
    after->actual_lrp_instance_key = m->actual_lrp_instance_key;
    after->actual_lrp_net_info = m->actual_lrp_net_info;
    after->n_actual_lrp_internal_routes = m->n_actual_lrp_internal_routes;
    after->actual_lrp_internal_routes = m->actual_lrp_internal_routes;
    set_tags(a, m, after);
    /* Routable absent means true. */
    actual_set_routable(after, m->optional_routable_case == 0 || m->routable);
    after->availability_zone = m->availability_zone;
    after->placement_error = (char *)(uintptr_t)protobuf_c_empty_string;
    after->definition = m->definition;
}

static const Models__ActualLRP *started(struct arena *a, const struct move_snapshot *s,
                                        const struct op_input *in)
{
    const Board__Move *m = (const Board__Move *)in->request;
    const Models__ActualLRPKey *key = m->actual_lrp_key;
    Models__ActualLRP *after;
    if (s->ordinary) {
        after = actual_change(a, s->ordinary, in->now);
    } else {
        const Models__Owner *owner = s->desired ? s->desired->owner : NULL;
        after = actual_new(a, key->process_guid, key->index, key->domain, owner, in->now,
                           in->random);
    }
    move_set_running(a, in, after);
    after->stopping = still_stopping(s, m);
    return after;
}

static void replace(struct plan *p, const struct op_input *in, const Models__ActualLRP *record)
{
    if (record && lifecycle_move(&actual_lrp_lifecycle, actual_state(record), in->actor,
                                 ACTUAL_LRP_NEWS_REPLACE,
                                 ACTUAL_LRP_IF_DISPLACED) == ACTUAL_LRP_NONE) {
        move_delete(p, in, record, "replace");
    }
}

static bool other_domain(const Models__ActualLRP *record, const Models__ActualLRPKey *key)
{
    return record && strcmp(record->actual_lrp_key->domain, key->domain) != 0;
}

/* 1. The instance is the SUSPECT one: nothing.
 * 2. The record's domain is another, or the lifecycle forbids it (another instance RUNNING, CRASHED
 *    for an ordinary client, an old definition, or one whose removal was asked):
 *    ActualLRPCannotBeStarted.
 * 3. RUNNING with all that is given: nothing. Reps repeat this call every 30 s.
 * 4. RUNNING as given; without a record it is created, desired or not, so that an emptied board
 *    learns what runs (seed).
 * 5. In both cases the EVACUATING and the SUSPECT record of the index have been replaced; those of a
 *    state of a newer version are left alone. */
void start_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (move_of_suspect(s, m)) { /* 1 */
        p->record = &s->suspect->base;
        return;
    }
    p->record = s->ordinary ? &s->ordinary->base : NULL;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_START, move_guards(s, m));
    if (to < 0 || other_domain(s->ordinary, m->actual_lrp_key)) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeStarted);
        return;
    }
    const Models__ActualLRP *after = started(p->arena, s, in);
    if (!s->ordinary || !actual_same_content(s->ordinary, after)) { /* 3 */
        move_put(p, in, after, "start");                            /* 4 */
    }
    replace(p, in, s->evacuating); /* 5 */
    replace(p, in, s->suspect);
}

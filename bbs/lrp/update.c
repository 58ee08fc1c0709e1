/* update: instances, routes, annotation, metric tags (behaviour.md 8.3), and our policies. */
#include "bbs/lrp/desired.h"
#include "bbs/board/errors.h"
#include "common/lifecycle/desired_lrp.h"
#include "common/model/routing.h"

#include <assert.h>

static const Models__UpdateDesiredLRPRequest *asked(const struct op_input *in)
{
    return (const Models__UpdateDesiredLRPRequest *)in->request;
}

static const char *update_target(struct arena *a, const struct op_input *in)
{
    return key_desired(a, asked(in)->process_guid);
}

static bool sets_instances(const Models__DesiredLRPUpdate *u)
{
    return u &&
           u->optional_instances_case == MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
}

static void update_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct desired_snapshot *s = snapshot;
    const Models__DesiredLRPUpdate *u = asked(in)->update;
    desired_gather(v, asked(in)->process_guid, s);
    desired_gather_owned(v, in, s);
    if (!s->desired || s->owned || !sets_instances(u) || u->instances == s->desired->instances) {
        return;
    }
    int32_t from = s->desired->instances, end = u->instances;
    if (from > end) {
        desired_gather_removal(v, s);
        from = u->instances;
        end = s->desired->instances;
    }
    desired_gather_instances(v, asked(in)->process_guid, u->instances,
                             s->desired->modification_tag->epoch, from, end, s);
}

static void replace_tags(struct arena *a, const Models__DesiredLRPUpdate *u,
                         Models__DesiredLRP *after)
{
    typedef Models__DesiredLRP__MetricTagsEntry entry_type;
    after->n_metric_tags = u->n_metric_tags;
    after->metric_tags = ARENA_ARRAY(a, u->n_metric_tags, entry_type *);
    for (size_t i = 0; i < u->n_metric_tags; i++) {
        entry_type *entry = arena_message(a, &models__desired_lrp__metric_tags_entry__descriptor);
        entry->key = u->metric_tags[i]->key;
        entry->value = u->metric_tags[i]->value;
        after->metric_tags[i] = entry;
    }
}

static Models__DesiredLRP *updated(struct arena *a, const Models__DesiredLRP *before,
                                   const Models__DesiredLRPUpdate *u)
{
    Models__DesiredLRP *after = arena_copy(a, before, sizeof(*before));
    after->modification_tag =
        arena_copy(a, before->modification_tag, sizeof(*before->modification_tag));
    after->modification_tag->index++;
    if (!u) {
        return after;
    }
    if (sets_instances(u)) {
        after->instances = u->instances;
    }
    if (u->optional_annotation_case == MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION) {
        after->annotation = u->annotation;
    }
    if (u->routes) {
        after->routes = u->routes;
    }
    if (u->optional_on_cell_loss_case ==
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_CELL_LOSS_ON_CELL_LOSS) {
        after->on_cell_loss = u->on_cell_loss;
    }
    if (u->optional_on_evacuate_case ==
        MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE) {
        after->on_evacuate = u->on_evacuate;
    }
    if (u->n_metric_tags) { /* they can be replaced, never emptied */
        replace_tags(a, u, after);
    }
    return after;
}

static bool shows_otherwise(struct arena *a, const Models__DesiredLRP *before,
                            const Models__DesiredLRP *after)
{
    struct routing was, is;
    routing_desired(a, before, -1, ROUTING_OWN_GUID, &was); /* of no instance in particular */
    routing_desired(a, after, -1, ROUTING_OWN_GUID, &is);
    return !routing_equal(&was, &is);
}

/* 1. Unknown: ResourceNotFound; a service's, or in a slice that the caller may not change or that
 *    has no room for it: ResourceConflict.
 * 2. Larger than a transaction takes: InvalidRequest.
 * 3. What the update carries is replaced as a whole; the tag's index goes up by one even when
 *    nothing changes; the epoch stays.
 * 4. More instances: the missing ones are created. Fewer: the surplus is deleted or marked
 *    stopping, and that it was asked is kept, for cells that are away. What goes beyond one portion
 * is a job's, which replaces an older one.
 * 5. Other internal routes or metric tags, the first route or none any more: the reps of its
 *    instances are notified. */
void update_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct desired_snapshot *s = snapshot;
    if (!s->desired) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    if (desired_refuses(s, in, asked(in)->term, p)) { /* 1 */
        return;
    }
    int to = lifecycle_transition(&desired_lrp_lifecycle, DESIRED_LRP_DESIRED, in->actor,
                                  DESIRED_LRP_TRIGGER_UPDATE, 0);
    assert(to == DESIRED_LRP_DESIRED);
    Models__DesiredLRP *after = updated(p->arena, s->desired, asked(in)->update);
    if (!slice_use_fits(&s->use, after, p)) { /* 1 */
        return;
    }
    if (models__desired_lrp__get_packed_size(after) > DESIRED_BYTES_MAX) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__InvalidRequest);
        return;
    }
    const char *guid = after->process_guid;
    plan_put(p, key_desired(p->arena, guid), "update", in->actor, &after->base); /* 3 */
    slice_use_put(&s->use, in, guid, after, p);                                  /* 1 */
    if (shows_otherwise(p->arena, s->desired, after)) {                          /* 5 */
        plan_notice_refresh(p, guid, 0, after->instances);
    }
    if (after->instances < s->desired->instances) { /* 4 */
        desired_put_removal(p, s, after->instances, "update", in->actor);
    }
    if (s->instances.list) { /* 4 */
        instances_settle(&s->instances, guid, after, in, p);
        instances_job(&s->instances, guid, after, s->job, in, p);
    }
}

const struct op_row update_row = {
    .name = "update",
    .target = update_target,
    .gather = update_gather,
    .decide = update_decide,
    .snapshot_size = sizeof(struct desired_snapshot),
};

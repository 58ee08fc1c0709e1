/* One step of a roll: surge, shrink, adjust, retire. The work is that of bbs/lrp, over the same
 * snapshot; the service's record says what stands after it. */
#include "bbs/service/desired_ops.h"
#include "bbs/service/moves.h"
#include "common/lifecycle/service.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

/* The revision that the move is about: the one that it names, else the target. */
static const Board__Revision *revision_of(const Board__ServiceRecord *service,
                                          const Board__ServiceMove *m)
{
    return m->revision[0] ? service_revision(service, m->revision) : service_target(service);
}

static bool is_target(const Board__ServiceRecord *service, const Board__Revision *r)
{
    return strcmp(r->hash, service->target) == 0;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void add_op(struct service_snapshot *s, struct nested_op op)
{
    assert(s->op_count < NESTED_OPS_MAX);
    s->ops[s->op_count++] = op;
}

/* Desired of the revision are so many: a DesiredLRP is made, if it may, changed, or goes. */
static void gather_count(struct arena *a, const Board__Revision *r, int32_t instances,
                         bool may_make, struct service_snapshot *s)
{
    const Board__ServiceRecord *service = s->service;
    bool ends = instances == 0 &&
                (!is_target(service, r) || service_state(service) == SERVICE_DELETING);
    if (s->desired && ends) {
        add_op(s, service_remove_op(a, r->process_guid));
    } else if (s->desired && s->desired->instances != instances) {
        Models__DesiredLRPUpdate *u = arena_message(a, &models__desired_lrpupdate__descriptor);
        u->optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        u->instances = instances;
        add_op(s, service_update_op(a, r->process_guid, u));
    } else if (!s->desired && may_make && s->run) {
        add_op(s, service_desire_op(a, s->run, instances, service->uid, service->path));
    }
}

static void gather_adjustment(struct arena *a, const Board__Revision *r,
                              struct service_snapshot *s)
{
    Models__DesiredLRPUpdate *u =
        s->desired && s->run ? service_update(a, s->desired, s->run) : NULL;
    if (u) {
        add_op(s, service_update_op(a, r->process_guid, u));
    }
}

/* Of an index that is desired: whatever runs there is another definition's. */
static void gather_retirement(struct view *v, const Board__Revision *r, int32_t index,
                              struct service_snapshot *s)
{
    if (s->desired && index < s->desired->instances) {
        instances_gather(v, r->process_guid, s->desired->instances, "", index, index + 1,
                         &s->retired);
    }
}

void roll_gather(struct view *v, const struct op_input *in, struct service_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__Move *move = in->request;
    const Board__ServiceMove *m = move_service(move);
    const Board__Revision *r = revision_of(s->service, m);
    if (!r) {
        return;
    }
    const Board__ServiceRecord *service = s->service;
    s->run = view_message(v, key_revision(a, service->uid, service->path, r->hash));
    s->desired = view_message(v, key_desired(a, r->process_guid));
    s->stranger = s->desired && !service_owns(a, service->uid, service->path, s->desired);
    if (s->stranger) {
        return;
    }
    if (strcmp(move->move, "adjust") == 0) {
        gather_adjustment(a, r, s);
    } else if (strcmp(move->move, "retire") == 0) {
        gather_retirement(v, r, m->index, s);
    } else {
        gather_count(a, r, m->instances, strcmp(move->move, "surge") == 0, s);
    }
    nested_gather(v, in, s->ops, s->op_count);
}

/* ---- What is decided ------------------------------------------------------------------------- */

#define CONFLICT(...) plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, __VA_ARGS__)

/* Refuses, and gives NULL, where no step can be done: nothing may roll, there is no such revision,
 * or its process_guid is another's. */
static const Board__Revision *about(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const Board__Revision *r = revision_of(s->service, service_says(t));
    if (!service_may_roll(t)) {
        return NULL;
    }
    if (!r) {
        CONFLICT("the service has no revision %s", service_says(t)->revision);
    } else if (s->stranger) {
        CONFLICT("%s is the process_guid of a process that somebody else made", r->process_guid);
        r = NULL;
    }
    return r;
}

/* As it stands when so many are desired of the revision. */
static Board__ServiceRecord *counted(const struct move_turn *t, const Board__Revision *of,
                                     int32_t instances)
{
    assert(instances >= 0);
    Board__ServiceRecord *after = service_copy(t->plan->arena, service_before(t));
    service_revision(after, of->hash)->instances = instances;
    after->progress_at = t->in->now.wall_ns;
    return after;
}

/* 1. Nothing may roll, no such revision, or its process is another's: ResourceConflict.
 * 2. Not the target's, or more than are wanted: ResourceConflict.
 * 3. As many already, or more, with a DesiredLRP: nothing.
 * 4. What it runs is not on the board: ResourceConflict.
 * 5. Its DesiredLRP is made, or has so many from now on, and the service's record says it. */
void surge_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    int32_t instances = service_says(t)->instances;
    const Board__Revision *r = about(t);
    if (!r) { /* 1 */
        return;
    }
    if (!is_target(s->service, r) || instances > s->service->instances) { /* 2 */
        CONFLICT("instances are added to the target alone, and no more than are wanted");
    } else if (s->desired && s->desired->instances >= instances) { /* 3 */
        return;
    } else if (!s->desired && !s->run) { /* 4 */
        CONFLICT("what revision %s runs is not on the board", r->hash);
    } else {
        service_put_with(t, counted(t, r, instances)); /* 5 */
    }
}

/* 1. Nothing may roll, no such revision, or its process is another's: ResourceConflict.
 * 2. Of what is being removed before its routes went: ResourceConflict.
 * 3. Below what is wanted of the target: ResourceConflict.
 * 4. As few already: nothing.
 * 5. Its DesiredLRP has so many from now on, or goes, and the service's record says it. */
void shrink_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    int32_t instances = service_says(t)->instances;
    const Board__Revision *r = about(t);
    if (!r) { /* 1 */
        return;
    }
    bool deleting = t->from == SERVICE_DELETING;
    if (deleting && !s->service->unrouted_at) { /* 2 */
        CONFLICT("its routes go before its instances");
    } else if (!deleting && is_target(s->service, r) && instances < s->service->instances) { /* 3 */
        CONFLICT("%d instances of the target are wanted", (int)s->service->instances);
    } else if (s->op_count == 0 && r->instances <= instances) { /* 4 */
        return;
    } else if (!s->desired || s->desired->instances >= instances) {
        service_put_with(t, counted(t, r, instances)); /* 5 */
    }
}

/* 1. Nothing may roll, or its process is another's: ResourceConflict.
 * 2. It has them: nothing.
 * 3. The routes, annotation, metric tags and policies of the definition. */
void adjust_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const Board__Revision *r = about(t);
    if (r && s->op_count > 0) { /* 1, 2 */
        service_put_with(t, counted(t, r, r->instances)); /* 3 */
    }
}

/* 1. Nothing may roll, or its process is another's: ResourceConflict.
 * 2. No restart is under way, or nothing that could be ended is there: ResourceConflict.
 * 3. The instance is ended; the record is another then, so no second one goes by the same look. */
void retire_service_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const Board__Revision *r = about(t);
    if (!r) { /* 1 */
        return;
    }
    if (!s->service->restarting[0] || s->retired.count == 0) { /* 2 */
        CONFLICT("no restart of index %d is under way, or nothing runs there",
                 (int)service_says(t)->index);
        return;
    }
    assert(s->desired && s->op_count == 0);
    struct op_input in = *t->in;
    in.actor = ACTOR_BBS; /* it is the converger's word, and the bbs's work */
    instances_settle(&s->retired, r->process_guid, s->desired, &in, t->plan);
    service_put_with(t, counted(t, r, r->instances)); /* 3 */
}

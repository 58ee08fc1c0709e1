/* The end of a service: delete, unroute, remove. Routes go first, so
 * that nobody is sent to an instance that is gone; then instances, by shrink; then the record. */
#include "bbs/service/desired_ops.h"
#include "bbs/service/moves.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/service.h"
#include "common/lifecycle/system.h"
#include "common/model/hold.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

/* ---- What is read ---------------------------------------------------------------------------- */

static bool has_routes(const Models__DesiredLRP *desired)
{
    return desired->routes && desired->routes->n_routes > 0;
}

/* Of the DesiredLRPs that have routes, as many as one transaction changes. */
void unroute_gather(struct view *v, const struct op_input *in, struct service_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__ServiceRecord *service = s->service;
    for (size_t i = 0; i < service->n_revisions && s->op_count < NESTED_OPS_MAX; i++) {
        const char *guid = service->revisions[i]->process_guid;
        const Models__DesiredLRP *desired = view_message(v, key_desired(a, guid));
        if (desired && service_owns(a, service->uid, service->path, desired) &&
            has_routes(desired)) {
            Models__DesiredLRPUpdate *u = arena_message(a, &models__desired_lrpupdate__descriptor);
            u->routes = arena_message(a, &models__proto_routes__descriptor);
            s->ops[s->op_count++] = service_update_op(a, guid, u);
        }
    }
    nested_gather(v, in, s->ops, s->op_count);
}

/* An instance that has a record may run. */
static bool has_instances(struct view *v, const char *process_guid)
{
    const struct seen *list;
    return view_range(v, key_actual_process(view_arena(v), process_guid), 2, &list) != 0;
}

void left_gather(struct view *v, struct service_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__ServiceRecord *service = s->service;
    s->kept = ARENA_ARRAY(a, service->n_revisions, const char *);
    for (size_t i = 0; i < service->n_revisions && !s->left; i++) {
        const char *guid = service->revisions[i]->process_guid;
        const Models__DesiredLRP *desired = view_message(v, key_desired(a, guid));
        if (desired && service_owns(a, service->uid, service->path, desired)) {
            s->left = arena_printf(a, "%s is desired", guid);
        } else if (!desired && has_instances(v, guid)) {
            s->left = arena_printf(a, "%s has instances", guid);
        }
        const char *key =
            key_revision(a, service->uid, service->path, service->revisions[i]->hash);
        s->kept[s->kept_count] = key;
        s->kept_count += view_message(v, key) ? 1 : 0;
    }
    const char *own = arena_printf(a, "%s:", service->path);
    const Board__PoolRecord *pool =
        service_is_app(service) ? NULL : view_message(v, key_pool(a, service->uid, own));
    if (pool && !s->left && lifecycle_state(&pool_lifecycle, pool->state) == POOL_DELETING) {
        s->left = "its node pool is there"; /* one that is to stay waits for the next service */
    }
}

/* ---- What is decided ------------------------------------------------------------------------- */

static bool is_gone(const struct move_turn *t)
{
    const Board__SystemRecord *system = ((const struct service_snapshot *)t->snapshot)->system;
    return !service_is_app(service_before(t)) &&
           (!system || lifecycle_state(&system_lifecycle, system->state) == SYSTEM_DELETING);
}

uint32_t delete_service_guards(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const char *path = s->service->path;
    bool held = s->hold && hold_covers(s->hold, service_says(t)->holder, path) && !s->wanted;
    return (held ? SERVICE_IF_HELD : 0) | (is_gone(t) ? SERVICE_IF_GONE : 0);
}

/* It is to go: its record says so from now on. */
void delete_service_decide(const struct move_turn *t)
{
    Board__ServiceRecord *after = service_copy(t->plan->arena, service_before(t));
    service_set_state(after, t->to, t->in->now);
    after->message = arena_strdup(t->plan->arena, "its routes go first");
    after->deploy = service_says(t)->holder;
    after->generation++;
    service_put_with(t, after);
}

/* 1. Nobody confirmed it in this board generation: ResourceConflict.
 * 2. Its routes went already: nothing.
 * 3. The routes of its DesiredLRPs go; when there were more than one transaction changes, again. */
void unroute_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    if (!service_may_roll(t) || (s->service->unrouted_at && s->op_count == 0)) { /* 1, 2 */
        return;
    }
    Board__ServiceRecord *after = service_copy(t->plan->arena, s->service);
    assert(t->to == SERVICE_DELETING);
    if (s->op_count < NESTED_OPS_MAX) {
        after->unrouted_at = t->in->now.wall_ns;
    }
    after->progress_at = t->in->now.wall_ns;
    service_put_with(t, after); /* 3 */
}

uint32_t remove_service_guards(const struct move_turn *t)
{
    return ((const struct service_snapshot *)t->snapshot)->left ? 0 : SERVICE_IF_NOTHING_LEFT;
}

/* 1. Nobody confirmed it in this board generation: ResourceConflict.
 * 2. The record goes, and what its revisions run. */
void remove_service_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    if (!service_may_roll(t)) { /* 1 */
        return;
    }
    assert(t->to == SERVICE_NONE);
    move_delete_subject(t); /* 2 */
    for (size_t i = 0; i < s->kept_count; i++) {
        plan_delete(t->plan, s->kept[i], "remove", t->in->actor);
    }
}

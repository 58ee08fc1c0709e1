/* target: a deploy that holds the path of a service says what it is to run. */
#include "bbs/service/desired_ops.h"
#include "bbs/service/moves.h"
#include "bbs/service/service.h"
#include "common/base/message.h"
#include "common/definition/compile.h"
#include "common/lifecycle/service.h"
#include "common/lifecycle/system.h"
#include "common/model/head.h"
#include "common/model/hold.h"
#include "common/model/sealed_values.h"

#include <assert.h>
#include <string.h>

/* ---- What is read ---------------------------------------------------------------------------- */

/* The secrets of a system, for the values of a definition. */
struct secret_source {
    struct view *v;
    const char *uid;
};

static const Models__Sealed *secret_of(void *context, const char *name)
{
    const struct secret_source *from = context;
    const Board__SecretRecord *r =
        view_message(from->v, key_secret(view_arena(from->v), from->uid, name));
    return r ? r->sealed : NULL;
}

static bool is_service(const Board__ComponentRecord *c)
{
    return c && strcmp(c->kind, "service") == 0 && c->run;
}

void target_gather(struct view *v, const struct op_input *in, struct service_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__Move *move = in->request;
    const char *uid = move_name(a, move), *path = move_part(a, move);
    s->component = view_message(v, key_tree(a, move_service(move)->tree, path));
    if (!s->system || !is_service(s->component)) {
        return;
    }
    struct secret_source from = {v, uid};
    Models__DesiredLRP *lrp = component_lrp(a, s->component, s->system->id, uid);
    s->unset = sealed_values_fill_lrp(a, lrp, secret_of, &from);
    s->place = pool_place_gather(v, uid, s->head, pool_of_component(a, s->component));
    if (s->place.tag) {
        lrp->placementtags = pool_place_tags(a, &s->place, lrp->placementtags,
                                             lrp->n_placementtags, &lrp->n_placementtags);
    }
    lrp->owner = NULL; /* as it is kept: what belongs to no one DesiredLRP of it */
    lrp->instances = 0;
    lrp->process_guid = arena_strdup(a, component_guid(a, s->system->id, path, lrp));
    s->wanted_lrp = lrp;
    const char *hash = service_hash(lrp->process_guid);
    s->run = view_message(v, key_revision(a, uid, path, hash));
    s->desired = view_message(v, key_desired(a, lrp->process_guid));
    s->stranger = s->desired && !service_owns(a, uid, path, s->desired);
    if (s->service) {
        s->oldest = service_superfluous(s->service);
        s->oldest_kept = s->oldest && view_message(v, key_revision(a, uid, path, s->oldest));
    }
}

/* ---- What is decided ------------------------------------------------------------------------- */

static bool is_open(const Board__SystemRecord *system)
{
    int state = system ? lifecycle_state(&system_lifecycle, system->state) : SYSTEM_NONE;
    return state > SYSTEM_PENDING && state != SYSTEM_FAILED && state != SYSTEM_DELETING;
}

#define CONFLICT(...) plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, __VA_ARGS__)

static const char *hash_of(const struct service_snapshot *s)
{
    return service_hash(s->wanted_lrp->process_guid);
}

/* By this deploy, which may revert to what it told first. */
static bool told(const struct move_turn *t, const Board__ServiceRecord *before)
{
    const struct service_snapshot *s = t->snapshot;
    return strcmp(before->deploy, service_says(t)->holder) == 0 &&
           strcmp(before->component, s->component->hash) == 0 &&
           strcmp(before->target, hash_of(s)) == 0 &&
           strcmp(service_target(before)->tree, service_says(t)->tree) == 0;
}

static Board__ServiceRecord *fresh(const struct move_turn *t)
{
    char id[GUID_BYTES];
    random_guid(t->in->random, id);
    return service_new(t->plan->arena, id, service_turn_uid(t),
                       ((const struct service_snapshot *)t->snapshot)->system->id,
                       service_turn_path(t), t->in->now);
}

static void take_component(const struct move_turn *t, Board__ServiceRecord *after)
{
    const struct service_snapshot *s = t->snapshot;
    assert(s->wanted_lrp && !s->unset);
    const Board__ComponentRecord *c = s->component;
    Board__Revision *r =
        service_aim(t->plan->arena, after, hash_of(s), s->wanted_lrp, t->in->now);
    r->tree = service_says(t)->tree;
    r->deploy = service_says(t)->holder;
    r->pool = after->pool = arena_strdup(t->plan->arena, s->place.name);
    r->pool_epoch = s->place.epoch;
    after->deploy = service_says(t)->holder;
    after->component = c->hash;
    after->instances = c->instances;
    after->rolling = c->rolling;
    after->domain = s->wanted_lrp->domain;
    after->message = (char *)(uintptr_t)protobuf_c_empty_string;
}

/* But for who told it, and of which tree: what was seen to run is what it is told, and so. */
static bool changes_nothing(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const Board__ServiceRecord *before = s->service;
    if (!before || t->from != SERVICE_STABLE || before->observed != before->generation ||
        before->restarting[0] || !s->wanted_lrp || s->unset || s->place.lack ||
        strcmp(before->target, hash_of(s)) != 0) {
        return false;
    }
    Board__ServiceRecord *after = service_copy(t->plan->arena, before);
    take_component(t, after);
    Board__Revision *is = service_revision(after, after->target);
    const Board__Revision *was = service_revision(before, before->target);
    is->tree = was->tree;
    is->deploy = was->deploy;
    after->deploy = before->deploy;
    after->component = before->component;
    after->generation = before->generation;
    after->progress_at = before->progress_at;
    return message_equal(&before->base, &after->base);
}

/* The deploy that says it holds the path, and what stands there is of this tree. */
uint32_t target_service_guards(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const char *path = service_turn_path(t), *holder = service_says(t)->holder;
    const Board__Hold *hold = s->hold ? hold_over(s->hold, path) : NULL;
    bool holds = hold && hold->kind == BOARD__HOLD__KIND__DEPLOY && strcmp(hold->id, holder) == 0;
    bool stands = s->head && head_has(s->head, service_says(t)->tree, path);
    return (is_open(s->system) && holds && stands ? SERVICE_IF_HELD : 0) |
           (changes_nothing(t) ? SERVICE_IF_UNCHANGED : 0);
}

/* Beside the record what the revision runs, unless it is there as it is. */
static void put_target(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    struct arena *a = t->plan->arena;
    Board__ServiceRecord *after = s->service ? service_copy(a, s->service) : fresh(t);
    take_component(t, after);
    service_set_state(after, t->to, t->in->now);
    if (t->to == SERVICE_STABLE) { /* it is not looked at again */
        after->generation = s->service->generation;
        after->progress_at = s->service->progress_at;
    }
    if (!s->run || !service_fits(a, s->run, s->wanted_lrp)) {
        plan_put(t->plan, key_revision(a, after->uid, after->path, after->target), "target",
                 t->in->actor, &s->wanted_lrp->base);
    }
    if (s->oldest && strcmp(s->oldest, after->target) != 0) {
        service_drop(after, s->oldest);
        if (s->oldest_kept) {
            plan_delete(t->plan, key_revision(a, after->uid, after->path, s->oldest), "target",
                        t->in->actor);
        }
    }
    service_put_with(t, after);
}

/* 1. Not a service, or not of the tree any more: ResourceConflict.
 * 2. A secret of it is not set: ResourceConflict, which says how it is.
 * 3. Its node pool has no epoch that it could be in: ResourceConflict, to be tried again.
 * 4. Its process is another's: ResourceConflict.
 * 5. It was told so by this deploy already: nothing.
 * 6. It is to run this from now on, and so it is seen anew unless it does already; of revisions
 *    that do not run ten are kept. */
void target_service_decide(const struct move_turn *t)
{
    const struct service_snapshot *s = t->snapshot;
    const Board__ServiceRecord *before = s->service;
    const char *path = service_turn_path(t);
    if (!is_service(s->component)) { /* 1 */
        CONFLICT("%s is no service of tree %s", path, service_says(t)->tree);
    } else if (s->unset) { /* 2 */
        CONFLICT("%s needs secret %s: bbs secrets set %s %s", path, s->unset, s->system->id,
                 s->unset);
    } else if (s->place.lack) { /* 3 */
        CONFLICT("%s: %s", path, s->place.lack);
    } else if (s->stranger) { /* 4 */
        CONFLICT("%s is the process_guid of a process that somebody else made",
                 s->wanted_lrp->process_guid);
    } else if (!before || !told(t, before)) { /* 5 */
        put_target(t);                        /* 6 */
    }
}

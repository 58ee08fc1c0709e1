/* evacuate_running: the instance runs on a cell that is being emptied. It goes on running, as the
 * EVACUATING one of its index, until another one has taken its place (behaviour.md 11;
 * docs/instances.md, Evacuation). Its rep repeats this every 10 s, and learns by it when to end
 * the container. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* A new record at the EVACUATING key of the index, with nothing reported yet. */
static Models__ActualLRP *evacuating_new(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRPKey *key = s->ordinary ? s->ordinary->actual_lrp_key : turn_key(t);
    const Models__Owner *owner = s->ordinary  ? s->ordinary->owner
                                 : s->desired ? s->desired->owner
                                              : NULL;
    Models__ActualLRP *r = actual_new(t->plan->arena, key->process_guid, key->index, key->domain,
                                      owner, t->in->now, t->in->random);
    r->presence = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    return r;
}

/* What is stored of the target, under a new epoch: it is what everybody has seen of it. Of a
 * CLAIMED one nothing is, so it is what our own rep says. A client of Diego gets an empty one, as
 * Diego gives it (behaviour.md 11), until it asks again. */
static Models__ActualLRP *evacuating_of(const struct move_turn *t, const Models__ActualLRP *target)
{
    Models__ActualLRP *r = evacuating_new(t);
    if (t->from == ACTUAL_LRP_CLAIMED && t->in->actor == ACTOR_REP) {
        actual_set_running(t, r);
        return r;
    }
    r->actual_lrp_instance_key = target->actual_lrp_instance_key;
    r->actual_lrp_net_info = target->actual_lrp_net_info;
    r->n_actual_lrp_internal_routes = target->n_actual_lrp_internal_routes;
    r->actual_lrp_internal_routes = target->actual_lrp_internal_routes;
    r->n_metric_tags = target->n_metric_tags;
    r->metric_tags = target->metric_tags;
    r->availability_zone = target->availability_zone;
    r->definition_id = target->definition_id;
    r->owner = target->owner;
    actual_set_routable(r, target->routable);
    r->routable_since = target->routable_since;
    r->optional_routed_case = target->optional_routed_case;
    r->routed = target->routed;
    return r;
}

/* 3, 4, 6 to 9: the target holds the ORDINARY or the SUSPECT place. */
static void leave_place(const struct move_turn *t, const Models__ActualLRP *target)
{
    const struct move_snapshot *s = t->snapshot;
    if (t->to < 0 || target->stopping) { /* 3, 8 */
        return;
    }
    t->plan->keep_container = true;
    if (t->to == t->from) { /* 4 */
        return;
    }
    int place =
        lifecycle_transition(t->family->lifecycle, actual_state(s->evacuating), t->in->actor,
                             ACTUAL_LRP_TRIGGER_EVACUATE_RUNNING, ACTUAL_LRP_IF_EVACUATING);
    if (place != ACTUAL_LRP_RUNNING) { /* 9 */
        return;
    }
    Models__ActualLRP *evacuating = evacuating_of(t, target); /* 6, 7 */
    actual_put(t, evacuating, place);
    if (t->to == ACTUAL_LRP_NONE) { /* 7 */
        actual_delete(t, target);
    } else { /* 6 */
        actual_put_unclaimed(t, target, t->to);
    }
    t->plan->record = &evacuating->base;
}

/* 5, 9: it has the EVACUATING place, or no record at all. */
static void hold_place(const struct move_turn *t, const Models__ActualLRP *target)
{
    const struct move_snapshot *s = t->snapshot;
    bool current = t->guards & ACTUAL_LRP_IF_DEFINITION_CURRENT;
    bool taken = s->evacuating && !target;
    if (target && t->from < 0) { /* 9 */
        t->plan->keep_container = true;
        return;
    }
    if ((!target && !current) || taken || t->to != ACTUAL_LRP_RUNNING) {
        return;
    }
    Models__ActualLRP *after =
        target ? actual_change(t->plan->arena, target, t->in->now) : evacuating_new(t);
    bool own = turn_says(t)->definition_id[0] || !target;
    actual_set_state(after, t->to);
    actual_set_running(t, after);
    after->definition_id = own ? turn_says(t)->definition_id : target->definition_id;
    t->plan->keep_container = true;
    if (!target || !actual_same_content(target, after)) {
        actual_put(t, after, t->to);
    }
}

/* It is SUSPECT, its rep speaks for it again, and all that its index has in its place is CRASHED.
 */
static bool about_to_return(const struct move_turn *t, const Models__ActualLRP *target)
{
    const Models__ActualLRP *ordinary = ((const struct move_snapshot *)t->snapshot)->ordinary;
    return target && target->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT &&
           !target->stopping && ordinary && actual_state(ordinary) == ACTUAL_LRP_CRASHED;
}

/* 1. No record for the index: nothing; the container goes.
 * 2. No ORDINARY record, or another instance's that is RUNNING or CRASHED: the target's EVACUATING
 *    record goes, and the container. A SUSPECT target's record is left to its own ends, and where
 * the ORDINARY one is CRASHED our own rep keeps the container: resolve is about to put the target
 * in its place, which a bbs may decide in the same moment (S8). (1, 2: for our own reps a record
 * that is missing is no reason while its index is desired, for then it is made again, nor while the
 * domain is not fresh and nobody asked for the stop, for then the board may have been emptied: S8.)
 * 3. The target is marked stopping: nothing; the container goes, which is the stop that was asked.
 * 4. The target is ORDINARY and RUNNING, and is to stay (on_evacuate): nothing; the container is
 *    kept, and nobody replaces it until its cell ends it.
 * 5. The target is EVACUATING or missing: its EVACUATING record is made or updated from the
 * request, and the container kept; with another instance EVACUATING already, or of an old
 * definition or one whose removal was asked, nothing: the container goes.
 * 6. The target is ORDINARY, RUNNING or CLAIMED: an EVACUATING record of what is stored of it, or
 *    of what our own rep says if it was CLAIMED; the ORDINARY one is UNCLAIMED, and the auctioneer
 *    asked. The container is kept.
 * 7. The target is SUSPECT: likewise, and the SUSPECT record goes; another one is on its way
 * already.
 * 8. Otherwise nothing; the container goes.
 * 9. The EVACUATING record, the target's or that of another where 6 or 7 would put one, is of a
 * state of a newer version: it is not ours to write over. Nothing; the container is kept, for a bbs
 * that knows the state to decide about. */
void evacuate_running_decide(const struct move_turn *t)
{
    const Models__ActualLRP *target = turn_record(t);
    t->plan->keep_container = false;
    bool evacuating = target && target->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    if (t->guards & ACTUAL_LRP_IF_REPLACED) { /* 1, 2 */
        t->plan->keep_container = t->in->actor == ACTOR_REP && about_to_return(t, target);
        if (evacuating && t->to == ACTUAL_LRP_NONE) {
            actual_delete(t, target);
        }
    } else if (!target || evacuating) { /* 5 */
        hold_place(t, target);
    } else {
        leave_place(t, target);
    }
}

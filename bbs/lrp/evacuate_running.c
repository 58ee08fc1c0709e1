/* evacuate_running: the instance runs on a cell that is being emptied. It goes on running, as the
 * EVACUATING one of its index, until another one has taken its place (behaviour.md 11; seed,
 * Evacuation). Its rep repeats this every 10 s, and learns by it when to end the container. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/evacuate.h"
#include "common/lifecycle/actual_lrp.h"

static int move_of(const struct move_snapshot *s, const struct op_input *in,
                   const Models__ActualLRP *record)
{
    return lifecycle_move(&actual_lrp_lifecycle, actual_state(record), in->actor,
                          ACTUAL_LRP_NEWS_EVACUATE_RUNNING, evacuate_guards(s, in, record));
}

/* A new record at the EVACUATING key of the index, RUNNING, with nothing told yet. */
static Models__ActualLRP *evacuating_new(struct plan *p, const struct move_snapshot *s,
                                         const struct op_input *in)
{
    const Models__ActualLRPKey *key = s->ordinary
                                          ? s->ordinary->actual_lrp_key
                                          : ((const Board__Move *)in->request)->actual_lrp_key;
    const Models__Owner *owner = s->ordinary  ? s->ordinary->owner
                                 : s->desired ? s->desired->owner
                                              : NULL;
    Models__ActualLRP *r = actual_new(p->arena, key->process_guid, key->index, key->domain, owner,
                                      in->now, in->random);
    r->presence = MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    actual_set_state(r, ACTUAL_LRP_RUNNING);
    return r;
}

/* What is stored of the target, under a new epoch: it is what everybody has seen of it. */
static Models__ActualLRP *evacuating_of(struct plan *p, const struct move_snapshot *s,
                                        const struct op_input *in, const Models__ActualLRP *target)
{
    Models__ActualLRP *r = evacuating_new(p, s, in);
    r->actual_lrp_instance_key = target->actual_lrp_instance_key;
    r->actual_lrp_net_info = target->actual_lrp_net_info;
    r->n_actual_lrp_internal_routes = target->n_actual_lrp_internal_routes;
    r->actual_lrp_internal_routes = target->actual_lrp_internal_routes;
    r->n_metric_tags = target->n_metric_tags;
    r->metric_tags = target->metric_tags;
    r->availability_zone = target->availability_zone;
    r->definition = target->definition;
    r->owner = target->owner;
    actual_set_routable(r, target->routable);
    return r;
}

/* 3, 4, 6 to 9: the target holds the ORDINARY or the SUSPECT place. */
static void leave_place(const struct move_snapshot *s, const struct op_input *in,
                        const Models__ActualLRP *target, struct plan *p)
{
    int to = move_of(s, in, target);
    if (to < 0 || target->stopping) { /* 3, 8 */
        return;
    }
    p->keep_container = true;
    if (to == actual_state(target)) { /* 4 */
        return;
    }
    if (lifecycle_move(&actual_lrp_lifecycle, actual_state(s->evacuating), in->actor,
                       ACTUAL_LRP_NEWS_EVACUATE_RUNNING,
                       ACTUAL_LRP_IF_EVACUATING) != ACTUAL_LRP_RUNNING) { /* 9 */
        return;
    }
    Models__ActualLRP *evacuating = evacuating_of(p, s, in, target); /* 6, 7 */
    move_put(p, in, evacuating, "evacuate_running");
    if (to == ACTUAL_LRP_NONE) { /* 7 */
        move_delete(p, in, target, "evacuate_running");
    } else { /* 6 */
        move_put_unclaimed(p, s, in, target, "evacuate_running");
    }
    p->record = &evacuating->base;
}

/* 5, 9: it has the EVACUATING place, or no record at all. */
static void hold_place(const struct move_snapshot *s, const struct op_input *in,
                       const Models__ActualLRP *target, struct plan *p)
{
    bool current = evacuate_guards(s, in, target) & ACTUAL_LRP_IF_DEFINITION_CURRENT;
    bool taken = s->evacuating && !target;
    if (target && actual_state(target) < 0) { /* 9 */
        p->keep_container = true;
        return;
    }
    if ((!target && !current) || taken || move_of(s, in, target) != ACTUAL_LRP_RUNNING) {
        return;
    }
    const Board__Move *m = (const Board__Move *)in->request;
    Models__ActualLRP *after =
        target ? actual_change(p->arena, target, in->now) : evacuating_new(p, s, in);
    const char *definition = m->definition[0] || !target ? m->definition : target->definition;
    move_set_running(p->arena, in, after);
    after->definition = (char *)definition;
    p->keep_container = true;
    if (!target || !actual_same_content(target, after)) {
        move_put(p, in, after, "evacuate_running");
    }
}

/* 1. No record for the index: nothing; the container goes.
 * 2. No ORDINARY record, or another instance's that is RUNNING or CRASHED: the target's EVACUATING
 *    record goes, and the container. A SUSPECT target's record is left to its own ends.
 *    (1, 2: for our own reps a record that is missing is no reason while its index is desired, for
 *    then it is made again, nor while the domain is not fresh and nobody asked for the stop, for then
 *    the board may have been emptied: S8.)
 * 3. The target is marked stopping: nothing; the container goes, which is the stop that was asked.
 * 4. The target is ORDINARY and RUNNING, and is to stay (on_evacuate): nothing; the container is
 *    kept, and nobody replaces it until its cell ends it.
 * 5. The target is EVACUATING or missing: its EVACUATING record is made or updated from the
 * request, and the container kept; with another instance EVACUATING already, or of an old
 * definition or one whose removal was asked, nothing: the container goes.
 * 6. The target is ORDINARY, RUNNING or CLAIMED: an EVACUATING record of what is stored of it; the
 *    ORDINARY one is UNCLAIMED, and the auctioneer asked. The container is kept.
 * 7. The target is SUSPECT: likewise, and the SUSPECT record goes; another one is on its way
 * already.
 * 8. Otherwise nothing; the container goes.
 * 9. The EVACUATING record, the target's or that of another where 6 or 7 would put one, is of a state
 *    of a newer version: it is not ours to write over. Nothing; the container is kept, for a bbs that
 *    knows the state to decide about. */
void evacuate_running_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    p->keep_container = true;
    if (!move_authorised(s, in, p)) {
        return;
    }
    p->keep_container = false;
    const Models__ActualLRP *target = evacuate_target(s, m);
    p->record = target ? &target->base : NULL;
    if (evacuate_guards(s, in, target) & ACTUAL_LRP_IF_REPLACED) { /* 1, 2 */
        if (target && move_of(s, in, target) == ACTUAL_LRP_NONE &&
            target->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
            evacuate_delete(p, in, target, "evacuate_running");
        }
        return;
    }
    if (!target || target->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) { /* 5 */
        hold_place(s, in, target, p);
    } else {
        leave_place(s, in, target, p);
    }
}

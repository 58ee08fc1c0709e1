/* suspect, resolve: the cell of an instance is lost, and what becomes of it then (behaviour.md
 * 12, 14.1; design.md 5, Lost cell; design.md 6). One decision over all records of the index and
 * the cell, so that its rep's return, the start of its replacement and an explicit stop can not
 * pass each other unseen. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>

/* Presence only: since, tag and all that routes need stay as they are (behaviour.md 10.1). */
static void displace(const struct move_turn *t)
{
    int to = lifecycle_transition(t->family->lifecycle, ACTUAL_LRP_NONE, t->in->actor,
                                  ACTUAL_LRP_TRIGGER_SUSPECT, t->guards);
    assert(to == t->from);
    Models__ActualLRP *suspect = actual_copy(t->plan->arena, turn_record(t));
    suspect->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    actual_put(t, suspect, to);
    actual_put_new(t, t->to);
}

/* 1. Marked stopping: the record goes; if its index is desired (again), a new UNCLAIMED one takes
 *    its place.
 * 2. It is the replacement of a SUSPECT one: UNCLAIMED again, for its instance was never more than
 *    the index's second.
 * 3. Otherwise it becomes SUSPECT and a new UNCLAIMED record takes its place.
 * 4. The auctioneer is asked for what is UNCLAIMED. */
void suspect_decide(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    if (t->to == ACTUAL_LRP_NONE) { /* 1 */
        actual_delete(t, s->ordinary);
    } else if (s->ordinary->stopping) { /* 1 */
        actual_put_new(t, t->to);
    } else if (s->suspect) { /* 2 */
        actual_put_unclaimed(t, s->ordinary, t->to);
    } else { /* 3 */
        displace(t);
    }
}

/* Presence only; what stood at the ORDINARY key goes, and the cell that had reserved it hears. A
 * record of a state that this version does not know is not written over: NULL. */
static const Models__ActualLRP *restore(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const struct instance_facts facts = move_facts(t);
    int to = instance_returns_as(&facts, t->guards);
    if (to != t->from) {
        return NULL;
    }
    if (actual_state(s->ordinary) == ACTUAL_LRP_CLAIMED) {
        notice_stop(t, s->ordinary);
    }
    Models__ActualLRP *ordinary = actual_copy(t->plan->arena, s->suspect);
    ordinary->presence = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    actual_put(t, ordinary, to);
    return ordinary;
}

/* 1. Its cell is there again: it becomes ORDINARY, with its mark if it is to stop, and what stood
 *    there goes. If that can not go, it is needed as it is: ResourceConflict.
 * 2. The ORDINARY one is RUNNING: the SUSPECT one goes, and its cell hears. It does not if both are
 * of one instance: a bbs that had never heard of the SUSPECT record took it back.
 * 3. Marked stopping, or absent from a fresh domain: it goes. */
void resolve_decide(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRP *show = s->ordinary;
    assert(t->to == ACTUAL_LRP_NONE);
    if (instance_returns(t->guards)) {
        show = restore(t); /* 1 */
        if (!show) {
            t->row->refuse(t);
            return;
        }
    } else if (!s->ordinary || !instance_key_equal(s->ordinary->actual_lrp_instance_key,
                                                   s->suspect->actual_lrp_instance_key)) {
        notice_stop(t, s->suspect); /* 2, 3 */
    }
    actual_delete(t, s->suspect);
    t->plan->record = show ? &show->base : NULL;
}

/* The moves that end an instance: remove, unclaim, retire, stop, vacate, and evacuate_claimed,
 * evacuate_stopped, remove_evacuating (behaviour.md 10.3, 11, 14.1; design.md 5, explicit
 * remove). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>

/* remove, evacuate_stopped, remove_evacuating: the record goes. Was it marked stopping and its
 * index is desired (again), a new UNCLAIMED one takes its place, and the auctioneer is asked. */
void end_decide(const struct move_turn *t)
{
    if (t->to == ACTUAL_LRP_NONE) {
        actual_delete(t, turn_record(t));
    } else {
        actual_put_new(t, t->to);
    }
}

/* unclaim, evacuate_claimed: the cell has no container for it, or gives it up before it runs. One
 * that was marked stopping and is desired no more goes, as does an EVACUATING or SUSPECT one. */
void unclaim_decide(const struct move_turn *t)
{
    t->plan->keep_container = false;
    if (t->to == ACTUAL_LRP_NONE) {
        actual_delete(t, turn_record(t));
    } else {
        actual_put_unclaimed(t, turn_record(t), t->to);
    }
}

/* retire, stop.
 * 1. UNCLAIMED, CRASHED, or on a cell that is not there: the record goes, as for remove.
 * 2. CLAIMED and RUNNING: marked stopping (since and tag kept), which no client sees of a stop. A
 * retire is reported to clients at once, and that follows from the write: so what is marked already
 * is written again, as Diego does.
 * 3. The rep is notified; of a record that was marked before, again, whatever its domain. */
void stop_decide(const struct move_turn *t)
{
    const Models__ActualLRP *record = turn_record(t);
    if (t->to != t->from || t->to == ACTUAL_LRP_NONE) { /* 1 */
        end_decide(t);
        return;
    }
    assert(actual_has_instance(record));
    if (!record->stopping || t->in->actor == ACTOR_CLIENT) { /* 2 */
        Models__ActualLRP *after = actual_copy(t->plan->arena, record);
        after->stopping = true;
        actual_put(t, after, t->to);
    }
    notice_stop(t, record); /* 3 */
}

/* The cell of an EVACUATING instance is lost: nobody is left who would end the evacuation. */
void vacate_decide(const struct move_turn *t)
{
    const Models__ActualLRP *ordinary = ((const struct move_snapshot *)t->snapshot)->ordinary;
    assert(turn_record(t)->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING);
    actual_delete(t, turn_record(t));
    t->plan->record = ordinary ? &ordinary->base : NULL;
}

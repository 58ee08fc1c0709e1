/* evacuate_claimed: the instance does not run yet and its cell is being emptied: another cell is to
 * start it (behaviour.md 11; seed, Evacuation). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/evacuate.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No target: ResourceNotFound. The container goes.
 * 2. The target is of a state that can not be unclaimed: ActualLRPCannotBeUnclaimed. It is kept.
 * 3. The target is EVACUATING or SUSPECT: its record goes, and the container.
 * 4. It was marked stopping and its index is not desired: likewise.
 * 5. UNCLAIMED, and the auctioneer is asked; the container goes. */
void evacuate_claimed_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Models__ActualLRP *target = evacuate_begin(s, in, true, p);
    if (!target) { /* 1 */
        return;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(target), in->actor,
                            ACTUAL_LRP_NEWS_EVACUATE_CLAIMED, evacuate_guards(s, in, target));
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed);
        return;
    }
    p->keep_container = false;
    if (to == ACTUAL_LRP_NONE) { /* 3, 4 */
        evacuate_delete(p, in, target, "evacuate_claimed");
        return;
    }
    move_put_unclaimed(p, s, in, target, "evacuate_claimed"); /* 5 */
}

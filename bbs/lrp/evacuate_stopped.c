/* evacuate_stopped: a container that was told to stop has ended, on a cell that is being emptied
 * (behaviour.md 11). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/evacuate.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No target, or of a state that no instance has: ResourceNotFound.
 * 2. The ORDINARY one was marked stopping and its index is desired (again): a new UNCLAIMED record
 *    in its place, and the auctioneer is asked (DESIGN 5), as for remove.
 * 3. Otherwise the target's record goes, whatever its presence.
 * The container goes in every case. */
void evacuate_stopped_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Models__ActualLRP *target = evacuate_begin(s, in, false, p);
    if (!target) { /* 1 */
        return;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(target), in->actor,
                            ACTUAL_LRP_NEWS_EVACUATE_STOPPED, evacuate_guards(s, in, target));
    if (to < 0) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
    } else if (to == ACTUAL_LRP_UNCLAIMED) { /* 2 */
        move_put_new(p, s, in, "evacuate_stopped");
    } else { /* 3 */
        evacuate_delete(p, in, target, "evacuate_stopped");
    }
}

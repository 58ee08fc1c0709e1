/* evacuate_crashed: the process ended unasked on a cell that is being emptied (behaviour.md 11). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/evacuate.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No target: ResourceNotFound.
 * 2. The target is of a state that can not crash: ActualLRPCannotBeCrashed.
 * 3. The target is EVACUATING or SUSPECT: its record goes, nothing is counted.
 * 4. It was marked stopping and its index is not desired: likewise.
 * 5. UNCLAIMED or CRASHED by the crash policy; the auctioneer is not asked: it finds what is
 *    UNCLAIMED by the feed, and the converger's pass asks too.
 * The container goes in every case. */
void evacuate_crashed_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Models__ActualLRP *target = evacuate_begin(s, in, false, p);
    if (!target) { /* 1 */
        return;
    }
    uint32_t guards = evacuate_guards(s, in, target);
    if (move_crash_count(s, in->now) < s->policy->immediate_below) {
        guards |= ACTUAL_LRP_IF_CRASH_IMMEDIATE;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(target), in->actor,
                            ACTUAL_LRP_NEWS_EVACUATE_CRASHED, guards);
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed);
    } else if (to == ACTUAL_LRP_NONE) { /* 3, 4 */
        evacuate_delete(p, in, target, "evacuate_crashed");
    } else { /* 5 */
        move_put(p, in, move_crashed(p, s, in, to), "evacuate_crashed")->text =
            ((const Board__Move *)in->request)->error_message;
    }
}

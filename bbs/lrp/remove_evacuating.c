/* remove_evacuating: the container of an EVACUATING record is not there any more (behaviour.md
 * 11). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/evacuate.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No target, or it is not EVACUATING: ResourceNotFound.
 * 2. The record goes. */
void remove_evacuating_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Models__ActualLRP *target = evacuate_begin(s, in, false, p);
    if (!target) { /* 1 */
        return;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(target), in->actor,
                            ACTUAL_LRP_NEWS_REMOVE_EVACUATING, evacuate_guards(s, in, target));
    if (to < 0) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    evacuate_delete(p, in, target, "remove_evacuating"); /* 2 */
}

/* unclaim: the cell has no container for its record (seed: No Container; DESIGN 5). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No ORDINARY record: ResourceNotFound.
 * 2. Not this instance's, or not CLAIMED or RUNNING: ActualLRPCannotBeUnclaimed.
 * 3. Marked stopping and not desired any more: the record goes.
 * 4. UNCLAIMED; routes, tags, routable, zone, crashes and placement error kept; the auctioneer is
 *    asked if the index is desired. */
void unclaim_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (!s->ordinary) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    p->record = &s->ordinary->base;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_UNCLAIM, move_guards(s, m));
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed);
        return;
    }
    if (to == ACTUAL_LRP_NONE) { /* 3 */
        p->record = NULL;
        move_delete(p, in, s->ordinary, "unclaim");
        return;
    }
    move_put_unclaimed(p, s, in, s->ordinary, "unclaim"); /* 4 */
}

/* remove: the instance was stopped on request (behaviour.md 10.3; seed: CAD ActualLRP). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No such record, or not the instance given: ResourceNotFound. (Our own reps may name a SUSPECT
 *    or EVACUATING record.)
 * 2. The ORDINARY one was marked stopping and its index is desired (again): a new UNCLAIMED record
 *    in its place, and the auctioneer is asked (DESIGN 5).
 * 3. Otherwise the record goes. */
void remove_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    const Models__ActualLRP *record = move_record(s, m);
    p->record = record ? &record->base : NULL;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(record), in->actor,
                            ACTUAL_LRP_NEWS_REMOVE, move_guards(s, m));
    if (to < 0) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    if (to == ACTUAL_LRP_UNCLAIMED) { /* 2 */
        move_put_new(p, s, in, "remove");
        return;
    }
    p->record = NULL; /* 3 */
    move_delete(p, in, record, "remove");
}

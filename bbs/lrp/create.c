/* create and ask: what the converger does for an index that should be placed (behaviour.md 14.1).
 */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. An ORDINARY record is there: nothing.
 * 2. The index is not desired: ResourceNotFound.
 * 3. UNCLAIMED, and the auctioneer is asked. */
void create_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (s->ordinary) { /* 1 */
        p->record = &s->ordinary->base;
        return;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, ACTUAL_LRP_NONE, in->actor,
                            ACTUAL_LRP_NEWS_CREATE, move_guards(s, m));
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    move_put_new(p, s, in, "create"); /* 3 */
}

/* 1. UNCLAIMED and desired: nothing changes, no event; the auctioneer is asked again.
 * 2. Anything else: ResourceConflict, the question is out of date. */
void ask_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    p->record = s->ordinary ? &s->ordinary->base : NULL;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_ASK, move_guards(s, m));
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s/%d awaits no placement",
                    m->actual_lrp_key->process_guid, m->actual_lrp_key->index);
        return;
    }
    const Models__ActualLRPKey *key = m->actual_lrp_key; /* 1 */
    plan_notice_start(p, key->process_guid, key->index, key->index + 1);
}

/* restart: the converger brings a CRASHED instance back when its back-off is over (behaviour.md
 * 10.4, 14.1). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No ORDINARY record: ResourceNotFound.
 * 2. Not CRASHED, not desired, or too early as far as this bbs knows: ActualLRPCannotBeUnclaimed.
 * 3. UNCLAIMED, the crash count stays; the auctioneer is asked. */
void restart_decide(const void *snapshot, const struct op_input *in, struct plan *p)
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
    uint32_t guards = move_guards(s, m);
    int64_t wait_ns = crash_wait_ns(s->policy, s->ordinary->crash_count);
    if (wait_ns != NEVER_NS &&
        stood_left_ns(wait_ns, s->ordinary->since, s->ordinary_seen, in->now) <= 0) {
        guards |= ACTUAL_LRP_IF_CRASH_DUE;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_RESTART, guards);
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeUnclaimed);
        return;
    }
    Models__ActualLRP *after = actual_change(p->arena, s->ordinary, in->now); /* 3 */
    actual_clear_instance(p->arena, after);
    actual_set_state(after, to);
    move_put(p, in, after, "restart");
    const Models__ActualLRPKey *key = after->actual_lrp_key;
    plan_notice_start(p, key->process_guid, key->index, key->index + 1);
}

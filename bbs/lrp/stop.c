/* stop: the converger ends what is desired no more (behaviour.md 14.1; DESIGN 5, freshness,
 * explicit remove). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/freshness.h"

/* 1. No ORDINARY record: nothing.
 * 2. Desired, or absent from a domain that is not fresh: ResourceConflict.
 * 3. UNCLAIMED, CRASHED, or on a cell that is not there: the record goes. If it was marked stopping
 *    and its index is desired again, a new UNCLAIMED one takes its place.
 * 4. CLAIMED and RUNNING: marked stopping, which no client sees (since and tag kept).
 * 5. The rep is told; of a record that was marked before, again, whatever its domain. */
void stop_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (!s->ordinary) { /* 1 */
        return;
    }
    p->record = &s->ordinary->base;
    const Models__ActualLRPKey *key = s->ordinary->actual_lrp_key;
    uint32_t guards = move_guards(s, m);
    if (domain_fresh(s->domain, s->domain_seen, in->now)) {
        guards |= ACTUAL_LRP_IF_DOMAIN_FRESH;
    }
    if (move_cell_absent(s->cell)) {
        guards |= ACTUAL_LRP_IF_CELL_ABSENT;
    }
    int from = actual_state(s->ordinary);
    int to = lifecycle_move(&actual_lrp_lifecycle, from, in->actor, ACTUAL_LRP_NEWS_STOP, guards);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s/%d is desired, or its domain %s is not fresh", key->process_guid,
                    key->index, key->domain);
        return;
    }
    if (to == ACTUAL_LRP_NONE) { /* 3 */
        p->record = NULL;
        move_delete(p, in, s->ordinary, "stop");
        return;
    }
    if (to == ACTUAL_LRP_UNCLAIMED) { /* 3 */
        move_put_new(p, s, in, "stop");
        return;
    }
    if (!s->ordinary->stopping) { /* 4 */
        Models__ActualLRP *after = actual_copy(p->arena, s->ordinary);
        after->stopping = true;
        move_put(p, in, after, "stop");
    }
    move_notice_stop(p, s->ordinary); /* 5 */
}

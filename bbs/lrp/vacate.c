/* vacate: the cell of an EVACUATING instance is lost; nobody is left who would end the evacuation
 * (behaviour.md 11, 14.1). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No EVACUATING record: nothing.
 * 2. Its cell is there: ResourceConflict.
 * 3. The record goes. */
void vacate_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    p->record = s->ordinary ? &s->ordinary->base : NULL;
    if (!s->evacuating) { /* 1 */
        return;
    }
    uint32_t guards = ACTUAL_LRP_IF_EVACUATING;
    guards |= move_cell_absent(s->cell) ? ACTUAL_LRP_IF_CELL_ABSENT : 0;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->evacuating), in->actor,
                            ACTUAL_LRP_NEWS_VACATE, guards);
    if (to < 0) { /* 2 */
        p->record = &s->evacuating->base;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the cell of the EVACUATING instance of %s/%d is present",
                    m->actual_lrp_key->process_guid, m->actual_lrp_key->index);
        return;
    }
    move_delete(p, in, s->evacuating, "vacate"); /* 3 */
}

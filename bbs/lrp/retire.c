/* retire: an explicit request to stop one instance (behaviour.md 10.3, DESIGN 5). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* 1. No ORDINARY record: ResourceNotFound.
 * 2. UNCLAIMED, CRASHED, or on a cell that is not there: the record goes.
 * 3. Otherwise it is marked stopping (since and tag kept), and the rep is told; its remove ends it.
 *    Clients are told `removed` at once, and that follows from the write. So a record that is marked
 *    already, by a scale-down or by an earlier retire, is written again: each retire is told, as
 *    Diego does. */
void retire_decide(const void *snapshot, const struct op_input *in, struct plan *p)
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
    if (move_cell_absent(s->cell)) {
        guards |= ACTUAL_LRP_IF_CELL_ABSENT;
    }
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_RETIRE, guards);
    if (to < 0) { /* a state of a newer version: left alone */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceConflict);
        return;
    }
    if (to == ACTUAL_LRP_NONE) { /* 2 */
        p->record = NULL;
        move_delete(p, in, s->ordinary, "retire");
        return;
    }
    Models__ActualLRP *after = actual_copy(p->arena, s->ordinary); /* 3 */
    after->stopping = true;
    move_put(p, in, after, "retire");
    move_notice_stop(p, s->ordinary);
}

/* suspect: the cell of an instance is lost, another instance is to be started (behaviour.md 12, 14.1;
 * DESIGN 5, lost cell; DESIGN 6). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>

/* Presence only: since, tag and all that routes need stay as they are (behaviour.md 10.1). */
static void displace(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                     uint32_t guards)
{
    int from = actual_state(s->ordinary);
    guards |= from == ACTUAL_LRP_RUNNING ? ACTUAL_LRP_IF_ORDINARY_RUNS : 0;
    int to = lifecycle_move(&actual_lrp_lifecycle, ACTUAL_LRP_NONE, in->actor,
                            ACTUAL_LRP_NEWS_SUSPECT, guards);
    assert(to == from);
    Models__ActualLRP *suspect = actual_copy(p->arena, s->ordinary);
    suspect->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    move_put(p, in, suspect, "suspect");
    move_put_new(p, s, in, "suspect");
}

static uint32_t suspect_guards(const struct move_snapshot *s, const Board__Move *m)
{
    uint32_t guards = move_guards(s, m);
    if (move_cell_absent(s->cell)) {
        guards |= ACTUAL_LRP_IF_CELL_ABSENT;
    }
    if (s->desired && s->desired->on_cell_loss == MODELS__ON_CELL_LOSS__REPLACE) {
        guards |= ACTUAL_LRP_IF_POLICY_REPLACES;
    }
    return guards;
}

/* 1. No ORDINARY record: nothing.
 * 2. Neither CLAIMED nor RUNNING, its cell is there, or its index is not desired, or is to wait for
 *    its cell (on_cell_loss) and was not told to stop: ResourceConflict.
 * 3. Marked stopping: the record goes; if its index is desired (again), a new UNCLAIMED one takes
 *    its place.
 * 4. It is the replacement of a SUSPECT one: UNCLAIMED again, for its instance was never more than
 *    the index's second.
 * 5. Otherwise it becomes SUSPECT and a new UNCLAIMED record takes its place.
 * 6. In 3 to 5 the auctioneer is asked for what is UNCLAIMED. */
void suspect_decide(const void *snapshot, const struct op_input *in, struct plan *p)
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
    uint32_t guards = suspect_guards(s, m);
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_SUSPECT, guards);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s/%d has no instance on an absent cell, is not desired, or waits for its "
                    "cell", m->actual_lrp_key->process_guid, m->actual_lrp_key->index);
    } else if (to == ACTUAL_LRP_NONE) { /* 3 */
        p->record = NULL;
        move_delete(p, in, s->ordinary, "suspect");
    } else if (s->ordinary->stopping) { /* 3 */
        move_put_new(p, s, in, "suspect");
    } else if (s->suspect) { /* 4 */
        move_put_unclaimed(p, s, in, s->ordinary, "suspect");
    } else { /* 5 */
        displace(p, s, in, guards);
    }
}

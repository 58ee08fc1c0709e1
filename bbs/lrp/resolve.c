/* resolve: what becomes of a SUSPECT instance (behaviour.md 12, 14.1; DESIGN 5, lost cell). One
 * decision over all records of the index and the cell, so that its rep's return, the start of its
 * replacement and an explicit stop can not pass each other unseen. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/freshness.h"

#include <assert.h>

static uint32_t resolve_guards(const struct move_snapshot *s, const struct op_input *in)
{
    Board__Move about = *(const Board__Move *)in->request;
    about.presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    uint32_t guards = move_guards(s, &about) | ACTUAL_LRP_IF_SUSPECT;
    guards |= move_cell_absent(s->cell) ? ACTUAL_LRP_IF_CELL_ABSENT : ACTUAL_LRP_IF_CELL_PRESENT;
    if (domain_fresh(s->domain, s->domain_seen, in->now)) {
        guards |= ACTUAL_LRP_IF_DOMAIN_FRESH;
    }
    if (actual_state(s->ordinary) == ACTUAL_LRP_RUNNING) {
        guards |= ACTUAL_LRP_IF_ORDINARY_RUNS;
    }
    if (actual_state(s->suspect) == ACTUAL_LRP_RUNNING) {
        guards |= ACTUAL_LRP_IF_SUSPECT_RUNS;
    }
    return guards;
}

/* Presence only; what stood at the ORDINARY key goes, and the cell that had reserved it hears. A
 * record of a state that this version does not know is not written over. */
static bool restore(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                    uint32_t guards)
{
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_RESOLVE, guards & ~(uint32_t)ACTUAL_LRP_IF_SUSPECT);
    if (to != actual_state(s->suspect)) {
        return false;
    }
    if (actual_state(s->ordinary) == ACTUAL_LRP_CLAIMED) {
        move_notice_stop(p, s->ordinary);
    }
    Models__ActualLRP *ordinary = actual_copy(p->arena, s->suspect);
    ordinary->presence = MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    move_put(p, in, ordinary, "resolve");
    return true;
}

/* 1. No SUSPECT record: nothing.
 * 2. The ORDINARY one is RUNNING: the SUSPECT one goes, and its cell hears. It does not if both are of one
 *    instance: a bbs that had never heard of the SUSPECT record took it back.
 * 3. Its cell is there again: it becomes ORDINARY, with its mark if it is to stop, and what stood
 *    there goes.
 * 4. Marked stopping, or absent from a fresh domain: it goes.
 * 5. Otherwise it is needed as it is: ResourceConflict. */
void resolve_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (!s->suspect) { /* 1 */
        p->record = s->ordinary ? &s->ordinary->base : NULL;
        return;
    }
    p->record = &s->suspect->base;
    uint32_t guards = resolve_guards(s, in);
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->suspect), in->actor,
                            ACTUAL_LRP_NEWS_RESOLVE, guards);
    bool back = (guards & ACTUAL_LRP_IF_CELL_PRESENT) && !(guards & ACTUAL_LRP_IF_ORDINARY_RUNS);
    if (to < 0 || (back && !restore(p, s, in, guards))) { /* 5 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the SUSPECT instance of %s/%d waits for its replacement or its cell",
                    m->actual_lrp_key->process_guid, m->actual_lrp_key->index);
        return;
    }
    assert(to == ACTUAL_LRP_NONE);
    if (!back) { /* 2, 4 */
        p->record = s->ordinary ? &s->ordinary->base : NULL;
        bool same = s->ordinary && instance_key_equal(s->ordinary->actual_lrp_instance_key,
                                                      s->suspect->actual_lrp_instance_key);
        if (!same) {
            move_notice_stop(p, s->suspect);
        }
    }
    move_delete(p, in, s->suspect, "resolve");
}

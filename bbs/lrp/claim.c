/* claim: a cell has reserved the instance (behaviour.md 10.2, 10.3; seed: CAS to CLAIMED by A). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <string.h>

static Models__ActualLRP *claimed(struct arena *a, const Models__ActualLRP *before,
                                  const struct op_input *in)
{
    const Board__Move *m = (const Board__Move *)in->request;
    Models__ActualLRP *after = actual_change(a, before, in->now);
    bool stopping = before->stopping;
    actual_clear_instance(a, after);
    actual_set_state(after, ACTUAL_LRP_CLAIMED);
    after->stopping = stopping;
    after->actual_lrp_instance_key = m->actual_lrp_instance_key;
    after->placement_error = (char *)(uintptr_t)protobuf_c_empty_string;
    after->definition = m->definition;
    return after;
}

/* 1. The instance is the SUSPECT one: nothing; it is neither helped nor hurt (behaviour.md 12).
 * 2. No ORDINARY record: ResourceNotFound.
 * 3. The lifecycle forbids it (another's, CRASHED, an old definition): ActualLRPCannotBeClaimed.
 * 4. It is this instance's already: nothing.
 * 5. CLAIMED by this instance; net info and placement error cleared. */
void claim_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (move_of_suspect(s, m)) { /* 1 */
        p->record = &s->suspect->base;
        return;
    }
    if (!s->ordinary) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    p->record = &s->ordinary->base;
    uint32_t guards = move_guards(s, m);
    int from = actual_state(s->ordinary);
    int to = lifecycle_move(&actual_lrp_lifecycle, from, in->actor, ACTUAL_LRP_NEWS_CLAIM, guards);
    if (to < 0) { /* 3 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed);
        return;
    }
    if (to == from && (guards & ACTUAL_LRP_IF_SAME_INSTANCE)) { /* 4 */
        return;
    }
    move_put(p, in, claimed(p->arena, s->ordinary, in), "claim"); /* 5 */
}

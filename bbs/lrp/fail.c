/* fail: no cell could take the instance (behaviour.md 10.3). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <string.h>

/* 1. No ORDINARY record: well and nothing; the auctioneer relies on it after races.
 * 2. Not UNCLAIMED: ActualLRPCannotBeFailed.
 * 3. Our auctioneer repeats a reason that stands there: nothing, for a board at rest stays at rest.
 * 4. The placement error is set; the state stays UNCLAIMED. */
void fail_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    int from = actual_state(s->ordinary);
    int to = lifecycle_move(&actual_lrp_lifecycle, from, in->actor, ACTUAL_LRP_NEWS_FAIL,
                            move_guards(s, m));
    if (to == ACTUAL_LRP_NONE) { /* 1 */
        return;
    }
    p->record = s->ordinary ? &s->ordinary->base : NULL;
    if (to < 0) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ActualLRPCannotBeFailed);
        return;
    }
    char *text = actual_cut_text(p->arena, m->error_message);
    if (in->actor == ACTOR_AUCTIONEER && strcmp(text, s->ordinary->placement_error) == 0) { /* 3 */
        return;
    }
    Models__ActualLRP *after = actual_change(p->arena, s->ordinary, in->now); /* 4 */
    actual_set_state(after, to);
    after->placement_error = text;
    move_put(p, in, after, "fail")->text = m->error_message;
}

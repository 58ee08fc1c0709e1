/* crash, evacuate_crashed: the process ended unasked (behaviour.md 10.3, 10.4, 11;
 * docs/instances.md, Crashes). */
#include "bbs/board/errors.h"
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* What becomes of the ORDINARY record; without one it is a new record of a desired index. */
static Models__ActualLRP *crashed(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRPKey *key = turn_key(t);
    struct arena *a = t->plan->arena;
    Models__ActualLRP *after = s->ordinary
                                   ? actual_change(a, s->ordinary, t->in->now)
                                   : actual_new(a, key->process_guid, key->index, key->domain,
                                                s->desired->owner, t->in->now, t->in->random);
    actual_clear_instance(a, after);
    after->crash_count = move_crash_count(s, t->in->now);
    after->crash_reason = actual_cut_text(a, turn_says(t)->error_message);
    return after;
}

/* 1. A SUSPECT or EVACUATING instance (nothing is counted, behaviour.md 12), or the end of one that
 * was marked stopping and is desired no more: the record goes.
 * 2. A count below the immediate ones: UNCLAIMED, and the auctioneer is asked; else CRASHED.
 * Without a record only of our own rep while the index is desired (design.md 5).
 * 3. To be restarted but not desired any more: recorded, and an ordinary client is notified
 *    ResourceNotFound.
 * Of an evacuation nobody is asked: the auctioneer finds what is UNCLAIMED by the feed, and the
 * converger's pass asks too. */
void crash_decide(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    if (t->to == ACTUAL_LRP_NONE) { /* 1 */
        actual_delete(t, turn_record(t));
        return;
    }
    actual_put(t, crashed(t), t->to)->text = turn_says(t)->error_message;
    if (t->to != ACTUAL_LRP_UNCLAIMED || t->row->about == ABOUT_TARGET) { /* 2 */
        return;
    }
    if (s->desired) {
        notice_start(t);
    } else if (t->in->actor == ACTOR_CLIENT) { /* 3 */
        plan_answer_error(t->plan, MODELS__ERROR__TYPE__ResourceNotFound);
    }
}

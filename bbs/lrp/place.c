/* create, ask, restart, refresh, fail: what becomes of an index that should be placed, and of what
 * its cell shows of it (behaviour.md 10.3, 10.4, 14.1). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/routing.h"

#include <assert.h>
#include <string.h>

/* A desired index has no record: UNCLAIMED. (One that is there is left as it is: the row's
 * refusal.) */
void create_decide(const struct move_turn *t)
{
    actual_put_new(t, t->to);
}

/* Nothing changes, no event; the auctioneer is asked again. */
void ask_decide(const struct move_turn *t)
{
    notice_start(t);
}

/* The back-off of a CRASHED one is over: UNCLAIMED, the crash count stays; the auctioneer is asked.
 */
void restart_decide(const struct move_turn *t)
{
    assert(t->from == ACTUAL_LRP_CRASHED && t->to == ACTUAL_LRP_UNCLAIMED);
    Models__ActualLRP *after = actual_change(t->plan->arena, turn_record(t), t->in->now);
    actual_clear_instance(t->plan->arena, after);
    actual_put(t, after, t->to);
    notice_start(t);
}

static bool shows_what_is_desired(const struct move_turn *t)
{
    const Models__ActualLRP *record = turn_record(t);
    struct routing desired, actual;
    routing_desired(t->plan->arena, ((const struct move_snapshot *)t->snapshot)->desired,
                    record->actual_lrp_key->index, record->actual_lrp_instance_key->instance_guid,
                    &desired);
    routing_actual(t->plan->arena, record, &actual);
    return routing_equal(&desired, &actual);
}

/* It shows other routes or tags than are desired, or its rep does not know that there are routes,
 * or none any more: its rep is notified, which then starts it with the new ones; the record
 * stays. */
void refresh_decide(const struct move_turn *t)
{
    const Models__ActualLRPKey *key = turn_key(t);
    if (!shows_what_is_desired(t)) {
        plan_notice_refresh(t->plan, key->process_guid, key->index, key->index + 1);
    }
}

/* 1. No record: well and nothing; the auctioneer relies on it after races.
 * 2. Our auctioneer repeats a reason that stands there: nothing, for a board at rest stays at rest.
 * 3. The placement error is set; the state stays UNCLAIMED. */
void fail_decide(const struct move_turn *t)
{
    const Models__ActualLRP *record = turn_record(t);
    char *text = actual_cut_text(t->plan->arena, turn_says(t)->error_message);
    if (!record || (t->in->actor == ACTOR_AUCTIONEER &&
                    strcmp(text, record->placement_error) == 0)) { /* 1, 2 */
        return;
    }
    Models__ActualLRP *after = actual_change(t->plan->arena, record, t->in->now); /* 3 */
    after->placement_error = text;
    actual_put(t, after, t->to)->text = turn_says(t)->error_message;
}

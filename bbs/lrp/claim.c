/* claim: a cell has reserved the instance (behaviour.md 10.2, 10.3; docs/instances.md,
 * Harmonising). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"

static Models__ActualLRP *claimed(const struct move_turn *t)
{
    const Models__ActualLRP *before = turn_record(t);
    Models__ActualLRP *after = actual_change(t->plan->arena, before, t->in->now);
    actual_clear_instance(t->plan->arena, after);
    after->stopping = before->stopping;
    after->actual_lrp_instance_key = turn_says(t)->actual_lrp_instance_key;
    after->placement_error = (char *)(uintptr_t)protobuf_c_empty_string;
    after->definition_id = turn_says(t)->definition_id;
    return after;
}

/* It is this instance's already: nothing. Otherwise CLAIMED by it; net info and placement error are
 * cleared. */
void claim_decide(const struct move_turn *t)
{
    if (t->to != t->from) {
        actual_put(t, claimed(t), t->to);
    }
}

/* DesiredLRPs: desire, update, remove (behaviour.md 8). Their reads: desired_reads.c and infos.c.
 */
#include "bbs/lrp/desired.h"
#include "bbs/route/answer.h"
#include "bbs/route/route.h"

void route_desire(struct ask *ask, struct effects *out)
{
    const Models__DesiredLRP *d = ((const Models__DesireLRPRequest *)ask->in.request)->desired_lrp;
    valid_desire(&ask->faults, d);
    if (ask->in.actor == ACTOR_SITE) {
        valid_unsealed(&ask->faults, d ? &d->base : NULL);
    } else {
        valid_of_client(&ask->faults, d);
    }
    if (d && !desired_owner_is_free(d->owner)) {
        say_field(&ask->faults, "owner");
    }
    if (ask_valid(ask, out)) {
        ask_op_with_job(ask, &desire_row, ask_answer, out);
    }
}

void route_update(struct ask *ask, struct effects *out)
{
    valid_update(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op_with_job(ask, &update_row, ask_answer, out);
    }
}

/* Answers before the instances are gone. */
void route_remove_desired(struct ask *ask, struct effects *out)
{
    valid_remove_desired(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        ask_op(ask, &remove_row, out);
    }
}

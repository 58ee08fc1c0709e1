/* DesiredLRPs: desire, update, remove (behaviour.md 8). Their reads: desired_reads.c and infos.c.
 */
#include "bbs/lrp/desired.h"
#include "bbs/route/answer.h"
#include "bbs/route/route.h"

/* The key of the job that the plan opened, NULL if none. */
static const char *opened_job(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        if (c->message && key_type(c->key) == RECORD_JOB) {
            return c->key;
        }
    }
    return NULL;
}

/* Whether the copy, already past the commit, has no such job any more. */
static bool job_over(struct ask *ask, const char *key, int64_t revision, struct arena *a)
{
    struct view *v = board_view(ask->router->board, a);
    return view_revision(v) >= revision && !view_peek(v, key);
}

/* Answers after the last slice (design.md 2, Jobs). */
static void answer_after_job(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    const char *job = result->end == OP_DECIDED ? opened_job(result->plan) : NULL;
    if (job && !job_over(ask, job, result->revision, out->arena)) {
        waiters_add(&ask->router->waiters, ask->request_id, job, board_now(ask->router->board));
    } else {
        waiters_release(&ask->router->waiters);
        ask_answer(context, result, out);
    }
}

/* Runs an op that may open a job. */
static void op_with_job(struct ask *ask, const struct op_row *row, struct effects *out)
{
    if (waiters_reserve(&ask->router->waiters)) {
        board_op(ask->router->board, row, &ask->in, ask->arena, answer_after_job, ask, out);
    } else {
        answer_unavailable(out, ask->request_id);
        ask_end(ask);
    }
}

void route_desire(struct ask *ask, struct effects *out)
{
    const Models__DesiredLRP *d = ((const Models__DesireLRPRequest *)ask->in.request)->desired_lrp;
    valid_desire(&ask->faults, d);
    valid_unsealed(&ask->faults, d ? &d->base : NULL);
    if (d && !desired_owner_is_free(d->owner)) {
        say_field(&ask->faults, "owner");
    }
    if (ask_valid(ask, out)) {
        op_with_job(ask, &desire_row, out);
    }
}

void route_update(struct ask *ask, struct effects *out)
{
    valid_update(&ask->faults, ask->in.request);
    if (ask_valid(ask, out)) {
        op_with_job(ask, &update_row, out);
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

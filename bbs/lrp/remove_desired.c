/* remove: the DesiredLRP goes, then its instances (behaviour.md 8.4). */
#include "bbs/lrp/desired.h"
#include "bbs/lrp/errors.h"
#include "common/lifecycle/desired_lrp.h"

#include <assert.h>

static const char *asked(const struct op_input *in)
{
    return ((const Models__RemoveDesiredLRPRequest *)in->request)->process_guid;
}

static const char *remove_target(struct arena *a, const struct op_input *in)
{
    return key_desired(a, asked(in));
}

static void remove_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct desired_snapshot *s = snapshot;
    desired_gather(v, asked(in), s);
    if (s->desired) {
        desired_gather_instances(v, asked(in), 0, "", 0, s->desired->instances, s);
    }
}

/* 1. Unknown: ResourceNotFound.
 * 2. Both parts are deleted.
 * 3. Its instances are deleted (UNCLAIMED, CRASHED) or marked stopping (CLAIMED, RUNNING, also
 *    SUSPECT) in the same op (DESIGN 5); EVACUATING ones are left to their protocol; the rest is a job's. */
void remove_desired_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct desired_snapshot *s = snapshot;
    if (!s->desired) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    int to = lifecycle_move(&desired_lrp_lifecycle, DESIRED_LRP_DESIRED, in->actor,
                            DESIRED_LRP_NEWS_REMOVE, 0);
    assert(to == DESIRED_LRP_NONE);
    const char *guid = s->desired->process_guid;
    plan_delete(p, key_desired(p->arena, guid), "remove", in->actor); /* 2 */
    plan_delete(p, key_run(p->arena, guid, s->desired->modification_tag->epoch), "remove",
                in->actor);
    instances_settle(&s->instances, guid, NULL, in, p); /* 3 */
    instances_job(&s->instances, guid, NULL, s->job, in, p);
}

const struct op_row remove_row = {
    .name = "remove desired",
    .target = remove_target,
    .gather = remove_gather,
    .decide = remove_desired_decide,
    .snapshot_size = sizeof(struct desired_snapshot),
};

/* remove: the DesiredLRP goes, then its instances (behaviour.md 8.4). Ours: it may go only while
 * the one that replaces it is there. */
#include "bbs/lrp/desired.h"
#include "bbs/board/errors.h"
#include "common/lifecycle/desired_lrp.h"

#include <assert.h>

static const Models__RemoveDesiredLRPRequest *asked(const struct op_input *in)
{
    return (const Models__RemoveDesiredLRPRequest *)in->request;
}

static const char *remove_target(struct arena *a, const struct op_input *in)
{
    return key_desired(a, asked(in)->process_guid);
}

static void remove_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct desired_snapshot *s = snapshot;
    const char *guid = asked(in)->process_guid, *replaced_by = asked(in)->replaced_by;
    desired_gather(v, guid, s);
    desired_gather_owned(v, in, s);
    s->replacement_missing =
        replaced_by[0] && !view_exists(v, key_desired(view_arena(v), replaced_by));
    if (s->desired && !s->owned && !s->replacement_missing) {
        desired_gather_removal(v, s);
        desired_gather_instances(v, guid, 0, "", 0, s->desired->instances, s);
    }
}

/* 1. Unknown: ResourceNotFound; a service's, or in a slice that the caller may not change:
 *    ResourceConflict. What is in a slice leaves its list of uses.
 * 2. What should replace it is not there: ResourceConflict.
 * 3. Both parts are deleted, and that it was asked is kept, for cells that are away.
 * 4. Its instances are deleted (UNCLAIMED, CRASHED) or marked stopping (CLAIMED, RUNNING, also
 *    SUSPECT and EVACUATING) in the same op (design.md 5); the rest is a job's. */
void remove_desired_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct desired_snapshot *s = snapshot;
    if (!s->desired) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
        return;
    }
    if (desired_refuses(s, in, asked(in)->term, p)) { /* 1 */
        return;
    }
    if (s->replacement_missing) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceConflict);
        return;
    }
    int to = lifecycle_transition(&desired_lrp_lifecycle, DESIRED_LRP_DESIRED, in->actor,
                                  DESIRED_LRP_TRIGGER_REMOVE, 0);
    assert(to == DESIRED_LRP_NONE);
    const char *guid = s->desired->process_guid;
    plan_delete(p, key_desired(p->arena, guid), "remove", in->actor); /* 3 */
    plan_delete(p, key_run(p->arena, guid, s->desired->modification_tag->epoch), "remove",
                in->actor);
    slice_use_put(&s->use, in, guid, NULL, p); /* 1 */
    desired_put_removal(p, s, 0, "remove", in->actor);
    instances_settle(&s->instances, guid, NULL, in, p); /* 4 */
    instances_job(&s->instances, guid, NULL, s->job, in, p);
}

const struct op_row remove_row = {
    .name = "remove desired",
    .target = remove_target,
    .gather = remove_gather,
    .decide = remove_desired_decide,
    .snapshot_size = sizeof(struct desired_snapshot),
};

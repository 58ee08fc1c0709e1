#include "bbs/slice/use.h"

#include "common/lifecycle/slice.h"
#include "common/model/pool_tag.h"
#include "common/model/slice_fit.h"

#include <assert.h>
#include <string.h>

void slice_use_gather(struct view *v, const struct op_input *in, const char *uid,
                      struct slice_use *ret)
{
    *ret = (struct slice_use){.uid = uid};
    if (in->actor == ACTOR_SITE) {
        speaker_gather(v, in, &ret->by);
    }
    if (*uid) {
        ret->slice = view_message(v, key_slice(view_arena(v), uid));
    }
}

static bool is_in_one(const struct slice_use *u)
{
    return u->uid && *u->uid;
}

bool slice_use_permitted(const struct slice_use *u, const struct op_input *in,
                         const Board__Term *term, struct plan *p)
{
    bool site = in->actor == ACTOR_SITE;
    if (site && !speaker_in_term(&u->by, in, term, p)) { /* 1 */
        return false;
    }
    if (site && !is_in_one(u)) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "it is in no slice: the CRM of a site asks for nothing else");
    } else if (!site && is_in_one(u)) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "it is in slice %s, of %s: the centre changes it", u->uid,
                    u->slice && *u->slice->owner ? u->slice->owner : "this site's centre");
    }
    return p->verdict != PLAN_REFUSE;
}

static Board__SliceUse *use_of(struct arena *a, const Models__DesiredLRP *d)
{
    Board__SliceUse *use = arena_message(a, &board__slice_use__descriptor);
    use->process_guid = d->process_guid;
    use->owner = d->owner ? d->owner->uid : d->process_guid;
    use->instances = d->instances;
    use->memory_mb = d->memory_mb;
    use->disk_mb = d->disk_mb;
    return use;
}

/* The slice's uses with this definition in its place, or without it. */
static Board__SliceUse **uses_after(struct arena *a, const Board__SliceRecord *slice,
                                    const char *process_guid, const Models__DesiredLRP *after,
                                    size_t *ret_count)
{
    Board__SliceUse **uses = ARENA_ARRAY(a, slice->n_uses + 1, Board__SliceUse *);
    Board__SliceUse *own = after ? use_of(a, after) : NULL;
    *ret_count = 0;
    for (size_t i = 0; i < slice->n_uses; i++) {
        int order = strcmp(slice->uses[i]->process_guid, process_guid);
        if (own && order >= 0) {
            uses[(*ret_count)++] = own;
            own = NULL;
        }
        if (order != 0) {
            uses[(*ret_count)++] = slice->uses[i];
        }
    }
    if (own) {
        uses[(*ret_count)++] = own;
    }
    return uses;
}

static const char *fault_after(struct arena *a, const Board__SliceRecord *slice,
                               const Models__DesiredLRP *after)
{
    const Board__NodeSize *n = slice->node;
    const struct slice_room node =
        n ? (struct slice_room){n->memory_mb, n->disk_mb, n->containers} : (struct slice_room){0};
    size_t count;
    Board__SliceUse **uses = uses_after(a, slice, after->process_guid, after, &count);
    struct slice_load *loads = ARENA_ARRAY(a, count, struct slice_load);
    for (size_t i = 0; i < count; i++) {
        loads[i] = (struct slice_load){
            uses[i]->owner, uses[i]->instances, {uses[i]->memory_mb, uses[i]->disk_mb, 1}};
    }
    return count > SLICE_USES_MAX
               ? arena_printf(a, "it has %d uses, which is the most", SLICE_USES_MAX)
               : slice_load_fault(a, loads, count, slice->nodes, &node);
}

bool slice_use_fits(const struct slice_use *u, const Models__DesiredLRP *after, struct plan *p)
{
    const char *fault = !is_in_one(u) ? NULL
                        : !u->slice   ? "it is not there"
                                      : fault_after(p->arena, u->slice, after);
    if (fault) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "slice %s: %s", u->uid, fault);
    }
    return !fault;
}

void slice_use_put(const struct slice_use *u, const struct op_input *in, const char *process_guid,
                   const Models__DesiredLRP *after, struct plan *p)
{
    if (!u->slice) {
        return;
    }
    int to = lifecycle_transition(&slice_lifecycle, SLICE_HELD, in->actor, SLICE_TRIGGER_USE,
                                  SLICE_IF_TERM | SLICE_IF_USES_FIT);
    assert(to == SLICE_HELD);
    (void)to;
    Board__SliceRecord *slice = arena_copy(p->arena, u->slice, sizeof(*slice));
    slice->uses = uses_after(p->arena, u->slice, process_guid, after, &slice->n_uses);
    plan_put(p, key_slice(p->arena, u->uid), slice_lifecycle.triggers[SLICE_TRIGGER_USE], in->actor,
             &slice->base);
}

const Models__DesiredLRP *slice_use_tagged(struct arena *a, const struct slice_use *u,
                                           const Models__DesiredLRP *desired)
{
    if (!u->slice || u->slice->n_cells == 0) {
        return desired;
    }
    Models__DesiredLRP *tagged = arena_copy(a, desired, sizeof(*desired));
    tagged->placementtags = ARENA_ARRAY(a, desired->n_placementtags + 1, char *);
    for (size_t i = 0; i < desired->n_placementtags; i++) {
        tagged->placementtags[i] = desired->placementtags[i];
    }
    tagged->placementtags[tagged->n_placementtags++] = (char *)(uintptr_t)slice_tag(a, u->uid);
    return tagged;
}

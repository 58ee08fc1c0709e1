#include "rep/container/call.h"

#include "rep/inside.h"

#include <assert.h>

struct verb_call *container_call(struct rep *r, const struct container *c, enum verb verb,
                                 int64_t timeout_ns, struct effects *out)
{
    struct verb_call *call = &effects_add(out, EFFECT_VERB)->verb;
    *call = (struct verb_call){
        .id = r->next_id++,
        .verb = verb,
        .guid = arena_strdup(out->arena, container_guid(c)),
        .deadline_ns = r->now.mono_ns + timeout_ns,
    };
    assert(call->id != 0);
    return call;
}

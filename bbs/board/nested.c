#include "bbs/board/nested.h"

#include "bbs/board/gather.h"

#include <assert.h>
#include <string.h>

/* The caller was asked for its own work; this is the bbs's. */
static struct op_input input_of(const struct op_input *in, const struct nested_op *op)
{
    struct op_input nested = *in;
    nested.actor = ACTOR_BBS;
    nested.request = op->request;
    return nested;
}

void nested_gather(struct view *v, const struct op_input *in, struct nested_op *list, size_t count)
{
    assert(count <= NESTED_OPS_MAX);
    v->nested = (unsigned)count;
    for (size_t i = 0; i < count; i++) {
        const struct op_input nested = input_of(in, &list[i]);
        void *snapshot = arena_alloc(v->arena, list[i].row->snapshot_size);
        list[i].row->gather(v, &nested, snapshot);
        list[i].snapshot = snapshot;
    }
    v->nested = 0;
}

/* What is changed twice; NULL if nothing is. */
static const struct change *changed_again(const struct plan *p)
{
    for (const struct change *c = p->changes; c; c = c->next) {
        for (const struct change *later = c->next; later; later = later->next) {
            if (strcmp(c->key, later->key) == 0) {
                return c;
            }
        }
    }
    return NULL;
}

bool nested_decide(const struct nested_op *list, size_t count, const struct op_input *in,
                   struct plan *p)
{
    for (size_t i = 0; i < count && p->verdict != PLAN_REFUSE; i++) {
        const struct op_input nested = input_of(in, &list[i]);
        list[i].row->decide(list[i].snapshot, &nested, p);
    }
    const struct change *again = changed_again(p);
    if (again) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "two of its ops change %s",
                    again->key);
    }
    return p->verdict != PLAN_REFUSE;
}

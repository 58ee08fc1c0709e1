#include "bbs/edge/uses.h"

#include <assert.h>
#include <string.h>

void uses_gather(struct view *v, const char *key, struct uses *ret)
{
    struct arena *a = view_arena(v);
    const char *range = key_uses(a, key), *from = NULL;
    *ret = (struct uses){0};
    if (view_range_empty(v, range)) {
        return;
    }
    ret->count = view_peek_count(v, range);
    assert(ret->count > 0);
    for (size_t i = 0; i < USES_TOLD_MAX && i < ret->count; i++) {
        const char *use = view_peek_key(v, range, from);
        const char *referring = use ? key_component(a, use, 2) : NULL;
        ret->names[i] = referring ? key_edge_name(a, referring) : "";
        from = use ? arena_printf(a, "%s!", use) : from;
    }
}

bool uses_refuse(const struct uses *u, const char *name, struct plan *p)
{
    const char *all = "";
    for (size_t i = 0; i < USES_TOLD_MAX && i < u->count; i++) {
        all = arena_printf(p->arena, "%s%s%s", all, i ? ", " : "", u->names[i]);
    }
    if (u->count > USES_TOLD_MAX) {
        all = arena_printf(p->arena, "%s and %zu more", all, u->count - USES_TOLD_MAX);
    }
    if (u->count) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s is used by %s", name, all);
    }
    return u->count > 0;
}

#include "rep/reconcile.h"

#include "rep/inside.h"
#include "rep/removal.h"
#include "rep/room.h"

static void look_at(struct rep *r, struct container *c, struct effects *out)
{
    room_give_memory(r, c);
    starts_judge(r, c);
    if (c->op != OP_NONE) {
        return; /* its end brings it here again */
    }
    bool here = c->deleting || c->kind->look_at(r, c, out);
    if (here && c->deleting && c->op == OP_NONE) {
        removal_continue(r, c, out);
    }
}

static void pass(struct rep *r, struct effects *out)
{
    /* As the feed became current, and as the session was opened, a pass was called for. */
    bool late = !r->pass.called && !r->drain.on && r->follower.current && r->session.open;
    r->pass.wanted = r->pass.called = false;
    r->pass.due_ns = r->now.mono_ns + drain_interval_ns(r);
    knowledge_trim(&r->knowledge);
    moves_trim_strays(r);
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        if (!c->queued) {
            container_touch(c);
            c->late = late;
        }
    }
    r->pass.late = late;
    MAP_EACH(&r->follower.records, n)
    {
        moves_look_at_stray(r, map_key(n), out);
    }
    r->pass.late = false;
}

void reconcile(struct rep *r, struct effects *out)
{
    if (r->pass.wanted || r->now.mono_ns >= r->pass.due_ns) {
        pass(r, out);
    }
    int64_t due_ns = containers_wake(&r->containers, r->now.mono_ns);
    size_t before = out->arena->used;
    for (int i = 0;
         i < RECONCILE_A_STEP_MAX && out->arena->used - before < RECONCILE_BYTES_ENOUGH; i++) {
        struct container *c = containers_next(&r->containers);
        if (!c) {
            break;
        }
        look_at(r, c, out);
    }
    moves_flush(r, out);
    containers_tell_rest(&r->containers, out);
    due_ns = earlier_ns(due_ns, containers_wake(&r->containers, r->now.mono_ns));
    effects_due(out, earlier_ns(due_ns, r->pass.due_ns));
    if (!TAILQ_EMPTY(&r->containers.queue) || r->pass.wanted) {
        effects_due(out, r->now.mono_ns);
    }
}

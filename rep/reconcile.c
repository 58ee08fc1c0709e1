#include "rep/reconcile.h"

#include "common/model/record.h"
#include "rep/container/operation.h"
#include "rep/container/room.h"
#include "rep/container/steps.h"
#include "rep/inside.h"

#include <assert.h>

/* ---- One container --------------------------------------------------------------------------- */

/* Frees what it still had set aside and drops it. Its record may still be ours: the rows without a
 * container. */
static void end(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    assert(c->op == OP_NONE);
    room_give(r, c);
    r->listing.removed_id = r->next_id;
    const char *key = c->kind->record_key(r, c, out->arena);
    container_transition(c, PHASE_TRIGGER_DELETED, why, out);
    if (key) {
        moves_look_at_stray(r, key, out);
    }
}

static void remove_it(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->deleting && c->op == OP_NONE);
    if (!c->made) {
        end(r, c, "nothing is left to delete", out);
    } else if (!operation_must_wait(r, c)) {
        struct verb_call *call = operation_verb(r, c, OP_REMOVE, out);
        call->label = c->kind->label(c, out->arena);
        call->keep_note = c->keep_note;
    }
}

void reconcile_removed(struct rep *r, struct container *c, const struct verb_answer *answer,
                       struct effects *out)
{
    if (answer->outcome == VERB_DONE) {
        if (c->keep_note) {
            c->kind->kept(r, c);
        }
        end(r, c, "deleted", out);
        return;
    }
    effects_log(out, LOG_WARN_LEVEL, "container not deleted", "%s why=\"%s\"",
                c->kind->words(c, out->arena), answer->text);
    operation_retry_later(r, c);
}

static void look_at(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->deleting) {
        steps_look(r, c, out);
        checks_look(r, c, out);
    }
    room_give_memory(r, c);
    starts_judge(r, c);
    if (c->op != OP_NONE) {
        return; /* its end brings it here again */
    }
    const char *why = c->deleting ? NULL : c->kind->look_at(r, c, out);
    if (why) {
        end(r, c, why, out);
    } else if (c->deleting && c->op == OP_NONE) {
        remove_it(r, c, out);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void pass(struct rep *r, struct effects *out)
{
    /* As the feed became current, and as the incarnation was opened, a pass was called for. */
    bool late = !r->pass.called && !r->drain.on && r->feed_client.current && r->incarnation.open;
    r->pass.wanted = r->pass.called = false;
    r->pass.due_ns = r->now.mono_ns + drain_interval_ns(r);
    knowledge_trim(&r->knowledge);
    cell_units_look_again(r);
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
    MAP_EACH(&r->feed_client.records, n)
    {
        if (key_type(map_key(n)) != RECORD_SETTING) {
            moves_look_at_stray(r, map_key(n), out);
        }
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
    cell_units_step(r, out);
    moves_flush(r, out);
    containers_tell_rest(&r->containers, out);
    due_ns = earlier_ns(due_ns, containers_wake(&r->containers, r->now.mono_ns));
    effects_due(out, earlier_ns(due_ns, r->pass.due_ns));
    if (!TAILQ_EMPTY(&r->containers.queue) || r->pass.wanted) {
        effects_due(out, r->now.mono_ns);
    }
}

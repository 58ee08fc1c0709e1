/* Verbs of the simulated reps, and the ends of their containers, by the clock of their machine. */
#include "rep/unit/hook.h"
#include "rep_note.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/world/inside.h"

struct due {
    struct node *node;
    uint64_t generation;
};

static void set_due(struct node *n);

static void driver_event_due(void *world, struct item *item)
{
    struct world *w = world;
    struct due *d = item->payload;
    struct node *n = d->node;
    if (d->generation != n->containers_timer) {
        return;
    }
    struct event ev;
    while (model_containers_next(n->containers, node_mono_ns(n), &item->arena, &ev)) {
        if (ev.kind == EVENT_CONTAINER) {
            world_note(w, n->config.name, "container ends%s", n->role ? "" : ", unheard");
        }
        if (n->role && ev.kind == EVENT_VERB && ev.verb.verb == VERB_EXEC &&
            w->observer.executed) {
            w->observer.executed(w->observer.context, n, &ev.verb);
        }
        if (n->role) {
            node_step(n, &ev);
        }
    }
    set_due(n);
}

static void set_due(struct node *n)
{
    int64_t at = model_containers_due(n->containers);
    n->containers_timer++;
    if (at == NEVER_NS) {
        return;
    }
    struct item *i = item_new(driver_event_due);
    struct due *d = ARENA_NEW(&i->arena, struct due);
    *d = (struct due){.node = n, .generation = n->containers_timer};
    i->payload = d;
    i->owner = n;
    int64_t wait_ns = at - node_mono_ns(n);
    queue_push(&n->world->queue, i, n->world->now_ns + (wait_ns > 0 ? wait_ns : 0));
}

/* Of a unit its journal: the hook that begins, and how it ended. */
static void tell_note(struct node *n, const struct verb_call *call)
{
    Rep__Note *note = rep__note__unpack(NULL, call->note.size, call->note.data);
    const Rep__UnitOf *u = note ? note->unit : NULL;
    const Rep__UnitNoteHook *h = u && u->journal ? u->journal->hook : NULL;
    if (!u) {
        world_note(n->world, n->config.name, "notes that it executes a task");
    } else if (h) {
        world_note(n->world, n->config.name, "notes of %s/%u: hook %s, %s", u->service, u->number,
                   hook_name((enum unit_hook)h->hook), h->state);
    } else {
        world_note(n->world, n->config.name, "notes of %s/%u: no hook", u->service, u->number);
    }
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
}

void containers_call(struct node *n, const struct verb_call *call)
{
    static const char *const told[VERB_COUNT] = {
        [VERB_START] = "starts a container",
        [VERB_REMOVE] = "removes a container",
        [VERB_RUN] = "begins a run in a container",
    };
    static const char *const told_with_calls[VERB_COUNT] = {
        [VERB_PREPARE] = "prepares a container",
        [VERB_NOTE] = "notes what it was told of a container",
    };
    if (call->verb == VERB_NOTE && call->durable) {
        tell_note(n, call);
    } else if (told[call->verb]) {
        world_note(n->world, n->config.name, "%s", told[call->verb]);
    } else if (told_with_calls[call->verb] && n->world->trace_calls) {
        world_note(n->world, n->config.name, "%s", told_with_calls[call->verb]);
    }
    if (n->world->observer.verb) {
        n->world->observer.verb(n->world->observer.context, n, call);
    }
    model_containers_call(n->containers, node_mono_ns(n), call);
    set_due(n);
}

void containers_changed(struct node *n)
{
    set_due(n);
}

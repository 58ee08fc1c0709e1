/* Probes of the simulated reps: a moment later the model container answers as it stands then, or
 * its time is over. Who dies before hears of none. */
#include "test/sim/model/containers.h"
#include "test/sim/world/inside.h"

#define PROBE_MOST_NS (20 * MILLISECOND_NS)

struct probing {
    struct probe probe;
    unsigned start; /* of the process that asked */
    struct probed end;
};

static void hear(void *world, struct item *item)
{
    struct world *w = world;
    struct node *n = item->owner;
    const struct probing *p = item->payload;
    if (!n->role || n->starts != p->start) {
        return;
    }
    if (w->observer.probed) {
        w->observer.probed(w->observer.context, n, &p->probe, &p->end);
    }
    node_step(n, &(struct event){.kind = EVENT_PROBED, .probed = p->end});
}

static void again(struct world *w, struct item *from, int64_t at_ns)
{
    const struct probing *p = from->payload;
    struct item *i = item_new(hear);
    struct probing *copy = arena_copy(&i->arena, p, sizeof(*p));
    copy->end.guid = copy->probe.guid = arena_strdup(&i->arena, p->probe.guid);
    copy->probe.path = arena_strdup(&i->arena, p->probe.path);
    copy->end.text = arena_strdup(&i->arena, p->end.text);
    i->payload = copy;
    i->owner = from->owner;
    queue_push(&w->queue, i, at_ns);
}

static void arrive(void *world, struct item *item)
{
    struct world *w = world;
    struct node *n = item->owner;
    struct probing *p = item->payload;
    if (!n->role || n->starts != p->start) {
        return;
    }
    p->end = model_containers_probe(n->containers, &p->probe);
    bool late = p->end.outcome == PROBE_TIMED_OUT;
    again(w, item, w->now_ns + (late ? p->probe.timeout_ms * MILLISECOND_NS : 0));
}

void probes_make(struct node *n, const struct probe *probe)
{
    struct world *w = n->world;
    struct item *i = item_new(arrive);
    struct probing *p = ARENA_NEW(&i->arena, struct probing);
    *p = (struct probing){.probe = *probe, .start = n->starts};
    p->probe.guid = arena_strdup(&i->arena, probe->guid);
    p->probe.path = arena_strdup(&i->arena, probe->path);
    p->probe.address = "";
    i->payload = p;
    i->owner = n;
    queue_push(&w->queue, i, w->now_ns + world_draw(w, (struct span){0, PROBE_MOST_NS}));
}

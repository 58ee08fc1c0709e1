/* Definitions that the simulated convergers have read: whoever plays the repositories makes the
 * answer when the request arrives, and it is heard some time later, unless the process died. */
#include "test/sim/world/inside.h"

static const struct span resolve_takes = {.low_ns = 5 * MILLISECOND_NS,
                                          .high_ns = 400 * MILLISECOND_NS};

struct resolving {
    struct resolve_request request;
    unsigned start; /* of the process that asked */
};

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_strdup(a, text) : NULL;
}

static struct resolve_request copy_request(struct arena *a, const struct resolve_request *from)
{
    struct resolve_request to = *from;
    to.system = copy(a, from->system);
    to.uid = copy(a, from->uid);
    to.url = copy(a, from->url);
    to.version = copy(a, from->version);
    to.commit = copy(a, from->commit);
    to.path = copy(a, from->path);
    to.ssh_key = copy(a, from->ssh_key);
    to.tree = copy(a, from->tree);
    to.source.data = from->source.size ? arena_copy(a, from->source.data, from->source.size) : NULL;
    struct resolve_key *keys = ARENA_ARRAY(a, from->key_count, struct resolve_key);
    for (size_t i = 0; i < from->key_count; i++) {
        keys[i] = (struct resolve_key){.name = copy(a, from->keys[i].name),
                                       .value = copy(a, from->keys[i].value)};
    }
    to.keys = keys;
    return to;
}

/* What is read is read at its end: a tag that moves meanwhile is seen. */
static void ends(void *world, struct item *item)
{
    struct world *w = world;
    struct node *n = item->owner;
    const struct resolving *r = item->payload;
    if (!n->role || n->starts != r->start) {
        return;
    }
    struct event ev = {.kind = EVENT_RESOLVED,
                       .resolved = {.fault = "there is no such repository"}};
    if (w->resolve) {
        ev.resolved = w->resolve(w->resolve_context, n, &r->request, &item->arena);
    }
    ev.resolved.id = r->request.id;
    ev.resolved.fault = ev.resolved.fault ? ev.resolved.fault : "";
    ev.resolved.needs = ev.resolved.needs ? ev.resolved.needs : "";
    ev.resolved.commit = ev.resolved.commit ? ev.resolved.commit : "";
    ev.resolved.version = ev.resolved.version ? ev.resolved.version : "";
    node_step(n, &ev);
}

void resolve_begin(struct node *n, const struct resolve_request *request)
{
    struct world *w = n->world;
    struct item *i = item_new(ends);
    struct resolving *r = ARENA_NEW(&i->arena, struct resolving);
    *r = (struct resolving){.request = copy_request(&i->arena, request), .start = n->starts};
    i->payload = r;
    i->owner = n;
    queue_push(&w->queue, i, w->now_ns + world_draw(w, resolve_takes));
}

void world_serve_definitions(struct world *w, world_resolve *resolve, void *context)
{
    w->resolve = resolve;
    w->resolve_context = context;
}

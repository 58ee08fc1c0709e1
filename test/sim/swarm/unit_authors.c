/* The authors of charms, by what their hooks do: most end well after a moment, some fail, hang
 * until they are cut, or are lost with their shim; some tell the other side something first, by the
 * tools that their rep has for them. Commands end now and then. */
#include "rep/unit/hook.h"
#include "rep_note.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/units_inside.h"

#include <string.h>

#define LONGEST_NS (300 * MILLISECOND_NS) /* of a hook that ends by itself */
#define AGAIN_NS (300 * MILLISECOND_NS)   /* a tool that was not answered */
#define TOOL_LIMIT_NS (2 * SECOND_NS)

enum { TRIES_MAX = 20 };

enum fate { ENDS_WELL, FAILS, HANGS, IS_LOST };

struct author_hook {
    struct unit_authors *authors;
    struct node *cell;
    const char *guid;
    uint32_t run;
    enum fate fate;
    int64_t due_ns; /* it goes on, or ends */
    bool tells;     /* it has something to tell */
    bool asking;
    unsigned tries;
    const char *token; /* NULL = it has not asked for it */
};

static uint64_t below(struct unit_authors *o, uint64_t bound)
{
    return random_below(&o->work->random, bound);
}

void unit_authors_init(struct unit_authors *o, struct workload *w)
{
    *o = (struct unit_authors){.work = w};
    map_init(&o->hooks);
}

void unit_authors_done(struct unit_authors *o)
{
    map_done(&o->hooks, NULL);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

static const Rep__UnitOf *noted(struct arena *a, struct node *cell, const char *guid)
{
    struct container_status s;
    ProtobufCAllocator in = arena_protobuf(a);
    if (!model_containers_status(node_containers(cell), guid, a, &s)) {
        return NULL;
    }
    const Rep__Note *n = rep__note__unpack(&in, s.note.size, s.note.data);
    return n ? n->unit : NULL;
}

static int64_t now_of(const struct author_hook *h)
{
    return world_now(h->authors->work->swarm->world);
}

/* 200: what it asked for is there, or is done. It is asked again otherwise, and then given up. */
static void answered(void *context, int status, struct bytes body)
{
    struct author_hook *h = context;
    struct swarm *s = h->authors->work->swarm;
    h->asking = false;
    h->due_ns = now_of(h) + (status == 200 ? 1 : AGAIN_NS);
    if (status == 200 && !h->token) {
        h->token = arena_strndup(&s->arena, (const char *)body.data, body.size);
    } else if (status == 200) {
        h->tells = false;
        s->result->done[DONE_UNITS_TOLD]++;
    } else if (++h->tries == TRIES_MAX || status == 409) {
        h->tells = false;
        h->fate = FAILS;
    }
}

static void ask(struct author_hook *h, const char *path, const char *const *words, size_t count)
{
    SCOPED_BUF(body);
    for (size_t i = 0; i < count; i++) {
        buf_append(&body, words[i], strlen(words[i]) + 1);
    }
    h->asking = true;
    world_send_request(h->authors->work->swarm->world, node_url(h->cell),
                       &(struct world_request){.method = "POST",
                                               .path = path,
                                               .tools = true,
                                               .peer = {.unit = "", .name = ""},
                                               .content_type = "application/octet-stream",
                                               .accept = "",
                                               .trace_id = "",
                                               .body = buf_bytes(&body)},
                       TOOL_LIMIT_NS, answered, h);
}

/* By the unit's token it gets its own, and by that it tells the others. */
static void tell(struct author_hook *h)
{
    SCOPED_ARENA(a);
    const Rep__UnitOf *of = noted(&a, h->cell, h->guid);
    if (!of) {
        h->tells = false;
    } else if (!h->token) {
        const char *const words[] = {of->token, arena_printf(&a, "%u", h->run)};
        ask(h, "/v1/hooks/run", words, 2);
    } else {
        const char *const words[] = {h->token, "relation-set",
                                     arena_printf(&a, UNIT_SETTING_MARK "=%s.%u", h->guid, h->run)};
        ask(h, "/v1/hooks/tool", words, 3);
    }
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

static enum fate draw_fate(struct unit_authors *o)
{
    uint64_t percent = below(o, 100);
    return o->healed || percent < 86 ? ENDS_WELL
           : percent < 92            ? FAILS
           : percent < 95            ? HANGS
                                     : IS_LOST;
}

/* Who answers each change by another one comes to no rest with his peers. */
static bool tells(struct unit_authors *o, enum unit_hook hook)
{
    return below(o, 2) && (hook == HOOK_JOINED || (hook == HOOK_CHANGED && !o->healed));
}

/* Of this run, which has begun. */
static struct author_hook *hook_of(struct unit_authors *o, struct node *cell, const char *guid,
                                   uint32_t run)
{
    SCOPED_ARENA(a);
    struct arena *kept = &o->work->swarm->arena;
    const char *name = arena_printf(&a, "%s.%u", guid, run);
    struct author_hook *h = map_get(&o->hooks, name);
    if (!h) {
        const Rep__UnitOf *of = noted(&a, cell, guid);
        const Rep__UnitNoteHook *noted_hook = of && of->journal ? of->journal->hook : NULL;
        h = ARENA_NEW(kept, struct author_hook);
        *h = (struct author_hook){o, cell, arena_strdup(kept, guid), run, draw_fate(o)};
        h->due_ns = now_of(h) + 1 + (int64_t)below(o, LONGEST_NS);
        h->tells = noted_hook && tells(o, (enum unit_hook)noted_hook->hook);
        map_put(&o->hooks, name, h);
    }
    return h;
}

static void go_on(struct author_hook *h)
{
    struct swarm *s = h->authors->work->swarm;
    if (h->asking || now_of(h) < h->due_ns) {
        return;
    }
    if (h->tells) {
        tell(h);
    } else if (h->fate != HANGS || h->authors->healed) {
        s->result->done[DONE_UNIT_HOOKS]++;
        world_end_step(s->world, h->cell, h->guid, h->run, h->fate == FAILS, h->fate == IS_LOST);
    }
}

static void look_at_runs(struct unit_authors *o, struct node *cell, const char *guid)
{
    struct model_containers *m = node_containers(cell);
    int64_t run;
    for (int i = 0; (run = model_containers_step(m, guid, i)) >= 0; i++) {
        const struct step_process *p = model_containers_run(m, guid, (uint32_t)run);
        if (p && strcmp(p->path, UNIT_HOOK_PROGRAM) == 0) {
            go_on(hook_of(o, cell, guid, (uint32_t)run));
        } else if (p && strcmp(p->path, UNIT_COMMAND) == 0 && !o->healed && below(o, 400) == 0) {
            world_end_step(o->work->swarm->world, cell, guid, (uint32_t)run, 1, false);
        }
    }
}

void unit_authors_step(struct unit_authors *o)
{
    struct cluster *c = o->work->swarm->cluster;
    for (unsigned i = 0; i < c->options.cells; i++) {
        struct model_containers *m = node_containers(c->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            if (unit_known(&o->work->swarm->checkers, guid)) {
                look_at_runs(o, c->cells[i], guid);
            }
        }
    }
}

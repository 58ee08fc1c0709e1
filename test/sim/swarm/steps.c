/* In some seeds most apps have random trees of steps, which end while faults befall the cells: well
 * or not, or seen by nobody. Their timeouts are longer than a seed: when all is healed they come to
 * rest. Setups end by themselves for ever, or nothing would run. */
#include "rep/container/note.h"
#include "rep/steps/tree.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

enum { DEPTH_MAX = 4, LEAVES_MAX = 12, MEMBERS_MAX = 3 };

#define TIMEOUT_LEAST_MS (10 * 3600 * 1000)

/* ---- A random definition --------------------------------------------------------------------- */

struct drawing {
    struct arena *arena;
    struct random random;
    const Models__RunAction *run; /* what each leaf does */
    int leaves;
};

static Models__Action *draw_action(struct drawing *d, int depth);

static size_t draw_members(struct drawing *d, int depth, Models__Action ***ret_list)
{
    size_t count = 1 + random_below(&d->random, MEMBERS_MAX);
    *ret_list = ARENA_ARRAY(d->arena, count, Models__Action *);
    for (size_t i = 0; i < count; i++) {
        (*ret_list)[i] = draw_action(d, depth + 1);
    }
    return count;
}

static void draw_leaf(struct drawing *d, Models__Action *a)
{
    d->leaves++;
    a->run_action = (Models__RunAction *)(uintptr_t)d->run;
}

static void draw_group(struct drawing *d, int depth, Models__Action *a)
{
    uint64_t which = random_below(&d->random, 4);
    if (which < 2) {
        a->serial_action = arena_message(d->arena, &models__serial_action__descriptor);
        a->serial_action->n_actions = draw_members(d, depth, &a->serial_action->actions);
    } else if (which == 2) {
        a->parallel_action = arena_message(d->arena, &models__parallel_action__descriptor);
        a->parallel_action->n_actions = draw_members(d, depth, &a->parallel_action->actions);
    } else {
        Models__CodependentAction *c =
            arena_message(d->arena, &models__codependent_action__descriptor);
        a->codependent_action = c;
        c->n_actions = draw_members(d, depth, &c->actions);
    }
}

static void draw_wrapper(struct drawing *d, int depth, Models__Action *a)
{
    if (random_below(&d->random, 2)) {
        a->timeout_action = arena_message(d->arena, &models__timeout_action__descriptor);
        a->timeout_action->timeout_ms =
            TIMEOUT_LEAST_MS + (int64_t)random_below(&d->random, TIMEOUT_LEAST_MS);
        a->timeout_action->action = draw_action(d, depth + 1);
    } else {
        a->try_action = arena_message(d->arena, &models__try_action__descriptor);
        a->try_action->action = draw_action(d, depth + 1);
    }
}

/* A hole: what older versions' streams show of an action that is a try is its inner one, and the
 * checker of events knows the outermost action alone; so that is a group. */
static Models__Action *draw_action(struct drawing *d, int depth)
{
    Models__Action *a = arena_message(d->arena, &models__action__descriptor);
    bool leaf = depth >= DEPTH_MAX || d->leaves >= LEAVES_MAX;
    uint64_t what = leaf ? 0 : depth == 0 ? 5 : random_below(&d->random, 10);
    if (what < 5) {
        draw_leaf(d, a);
    } else if (what < 8) {
        draw_group(d, depth, a);
    } else {
        draw_wrapper(d, depth, a);
    }
    return a;
}

static Models__Sidecar **draw_sidecars(struct drawing *d, size_t count)
{
    Models__Sidecar **list = ARENA_ARRAY(d->arena, count, Models__Sidecar *);
    for (size_t i = 0; i < count; i++) {
        list[i] = arena_message(d->arena, &models__sidecar__descriptor);
        list[i]->action = draw_action(d, 2);
    }
    return list;
}

/* The same desire, repeated, is of the same tree. */
static uint64_t seed_of(const char *app, unsigned number)
{
    uint64_t seed = number;
    for (; *app; app++) {
        seed = seed * 31 + (uint8_t)*app;
    }
    return seed;
}

void steps_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
               Models__DesiredLRP *lrp)
{
    uint64_t seed = seed_of(app, number);
    struct drawing d = {.arena = a, .run = lrp->action->run_action};
    if (!s->workloads[WORKLOAD_steps].on || s->wide || seed % 4 == 0) {
        return;
    }
    d.run = arena_copy(a, d.run, sizeof(*d.run)); /* its texts outlive the request */
    random_seed(&d.random, (uint64_t[2]){0x74726565, seed});
    random_next(&d.random);
    lrp->setup = random_below(&d.random, 3) ? NULL : draw_action(&d, 2);
    lrp->action = draw_action(&d, 0);
    lrp->n_sidecars = random_below(&d.random, 3) ? 0 : 1 + random_below(&d.random, 2);
    lrp->sidecars = draw_sidecars(&d, lrp->n_sidecars);
}

/* ---- What becomes of its steps --------------------------------------------------------------- */

/* Where its setup ends; 0: it has none, or no steps. */
static uint32_t setup_end(const struct model_containers *m, const char *guid)
{
    SCOPED_ARENA(a);
    struct container_status status;
    Rep__Note *note;
    uint32_t end = 0;
    if (model_containers_status(m, guid, &a, &status) &&
        note_read(status.note, guid, &note, NULL) == 0) {
        const struct action_tree tree = {note->steps, note->n_steps};
        end = note->n_steps > 0 && note->steps[0]->setup ? tree_action(&tree) : 0;
        rep__note__free_unpacked(note, NULL);
    }
    return end;
}

static void end_setups_of(struct swarm *s, struct node *cell)
{
    struct model_containers *m = node_containers(cell);
    const char *guid;
    for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
        uint32_t end = setup_end(m, guid);
        int64_t step = end > 0 ? model_containers_step(m, guid, 0) : -1;
        if (step >= 0 && step < end) {
            s->result->done[DONE_STEPS] +=
                world_end_step(s->world, cell, guid, (uint32_t)step, 0, false);
        }
    }
}

static void end_setups(struct workload *w)
{
    struct swarm *s = w->swarm;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        end_setups_of(s, s->cluster->cells[i]);
    }
}

static void end_one(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct random *r = &w->random;
    struct node *cell = s->cluster->cells[random_below(r, s->cluster->options.cells)];
    struct model_containers *m = node_containers(cell);
    int count = model_containers_running(m);
    int which = (int)random_below(r, (uint64_t)count + 1), nth = (int)random_below(r, 6);
    int code = random_below(r, 3) ? 0 : (int)random_below(r, 256);
    bool lost = random_below(r, 20) == 0;
    const char *guid = model_containers_guid(m, which);
    int64_t step = guid ? model_containers_step(m, guid, nth) : -1;
    if (step >= 0) {
        s->result->done[DONE_STEPS] +=
            world_end_step(s->world, cell, guid, (uint32_t)step, code, lost);
    }
}

static void step(struct workload *w)
{
    end_setups(w);
    end_one(w);
    w->due_ns = world_now(w->swarm->world) + SECOND_NS / 2 +
                (int64_t)random_below(&w->random, 4 * SECOND_NS);
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
}

const struct workload_ops steps_workload = {.step = step, .heal = heal, .settle = end_setups};

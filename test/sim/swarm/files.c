/* In some seeds apps have dependencies and a setup that downloads, whose servers are slow, fail, or
 * send what cannot be unpacked, and whose couriers are killed, while faults befall the cells. When
 * all is healed what is brought comes well. */
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

/* ---- What is desired ------------------------------------------------------------------------- */

static char *text(const char *t)
{
    return (char *)(uintptr_t)t;
}

static void put_dependencies(struct arena *a, struct random *r, Models__DesiredLRP *lrp)
{
    lrp->n_cached_dependencies = random_below(r, 3);
    lrp->cached_dependencies =
        ARENA_ARRAY(a, lrp->n_cached_dependencies, Models__CachedDependency *);
    for (size_t i = 0; i < lrp->n_cached_dependencies; i++) {
        Models__CachedDependency *d = arena_message(a, &models__cached_dependency__descriptor);
        d->name = text(i ? "" : "lifecycle");
        d->from = text("https://files/lifecycle");
        d->to = text("/lifecycle");
        lrp->cached_dependencies[i] = d;
    }
}

static Models__Action *download(struct arena *a)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    Models__DownloadAction *d = arena_message(a, &models__download_action__descriptor);
    d->artifact = text("droplet");
    d->from = text("https://files/droplet");
    d->to = text("/home");
    d->user = text("root");
    action->download_action = d;
    return action;
}

/* Before the setup that it has, if any. */
static void put_download(struct arena *a, Models__DesiredLRP *lrp)
{
    Models__Action *setup = download(a);
    if (lrp->setup) {
        Models__SerialAction *serial = arena_message(a, &models__serial_action__descriptor);
        Models__Action **both = ARENA_ARRAY(a, 2, Models__Action *);
        both[0] = setup;
        both[1] = lrp->setup;
        serial->actions = both;
        serial->n_actions = 2;
        setup = arena_message(a, &models__action__descriptor);
        setup->serial_action = serial;
    }
    lrp->setup = setup;
}

/* The same desire, repeated, has the same files. */
void files_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
               Models__DesiredLRP *lrp)
{
    uint64_t seed = number;
    struct random r;
    for (; *app; app++) {
        seed = seed * 31 + (uint8_t)*app;
    }
    random_seed(&r, (uint64_t[2]){0x66696c6573, seed});
    random_next(&r);
    if (!s->workloads[WORKLOAD_files].on || s->wide || random_below(&r, 4) == 0) {
        return;
    }
    put_dependencies(a, &r, lrp);
    if (random_below(&r, 2)) {
        put_download(a, lrp);
    }
}

/* ---- What becomes of it ---------------------------------------------------------------------- */

/* What a server, or whoever kills couriers, makes of one. */
static void end(struct workload *w, struct node *cell, const char *guid, uint32_t step, bool well)
{
    struct random *r = &w->random;
    bool lost = !well && random_below(r, 10) == 0;
    int code = well || random_below(r, 4) ? 0 : random_below(r, 2) ? 1 : TRANSFER_INSIDE;
    w->swarm->result->done[DONE_FILES] +=
        world_end_step(w->swarm->world, cell, guid, step, code, lost);
}

static void end_some_of(struct workload *w, struct node *cell, bool all)
{
    struct model_containers *m = node_containers(cell);
    const char *guid;
    for (int n = 0; (guid = model_containers_made(m, n)); n++) {
        int64_t step;
        for (int i = 0; (step = model_containers_step(m, guid, i)) >= 0; i++) {
            if (model_containers_is_transfer(m, guid, (uint32_t)step) &&
                (all || random_below(&w->random, 3) == 0)) {
                end(w, cell, guid, (uint32_t)step, all);
                break;
            }
        }
    }
}

static void end_some(struct workload *w, bool all)
{
    for (unsigned i = 0; i < w->swarm->cluster->options.cells; i++) {
        end_some_of(w, w->swarm->cluster->cells[i], all);
    }
}

static void step(struct workload *w)
{
    end_some(w, false);
    w->due_ns = world_now(w->swarm->world) + SECOND_NS / 4 +
                (int64_t)random_below(&w->random, 2 * SECOND_NS);
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
}

static void settle(struct workload *w)
{
    end_some(w, true);
}

const struct workload_ops files_workload = {.step = step, .heal = heal, .settle = settle};

/* In some seeds apps are images, whose registries are slow or refuse, while faults befall the
 * cells. When all is healed each pull comes well. */
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

/* ---- What is desired ------------------------------------------------------------------------- */

static void say_nothing_but_image(struct arena *a, Models__DesiredLRP *lrp)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    action->run_action = arena_message(a, &models__run_action__descriptor);
    action->run_action->from_image = true;
    lrp->action = action;
}

/* The same desire, repeated, has the same image. */
void images_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                Models__DesiredLRP *lrp)
{
    uint64_t seed = number;
    struct random r;
    for (const char *c = app; *c; c++) {
        seed = seed * 31 + (uint8_t)*c;
    }
    random_seed(&r, (uint64_t[2]){0x696d61676573, seed});
    random_next(&r);
    if (!s->workloads[WORKLOAD_images].on || s->wide || random_below(&r, 4) == 0) {
        return;
    }
    lrp->root_fs = arena_printf(a, "docker:///%s#%u", app, number % 3);
    if (lrp->action->run_action && random_below(&r, 2)) {
        say_nothing_but_image(a, lrp);
    }
}

/* ---- What becomes of it ---------------------------------------------------------------------- */

static void set_all(struct swarm *s, unsigned failures, int64_t pull_ns)
{
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        struct model_containers *m = node_containers(s->cluster->cells[i]);
        model_containers_fail_pulls(m, failures, "manifest unknown");
        model_containers_pace(m)->pull_ns = pull_ns;
    }
}

static void step(struct workload *w)
{
    static const int64_t slow_ns[] = {10 * MILLISECOND_NS, 200 * MILLISECOND_NS, 4 * SECOND_NS,
                                      40 * SECOND_NS};
    struct random *r = &w->random;
    set_all(w->swarm, random_below(r, 3) ? 0 : (unsigned)random_below(r, 4),
            slow_ns[random_below(r, sizeof(slow_ns) / sizeof(slow_ns[0]))]);
    w->swarm->result->done[DONE_REGISTRIES]++;
    w->due_ns = world_now(w->swarm->world) + SECOND_NS + (int64_t)random_below(r, 10 * SECOND_NS);
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
    set_all(w->swarm, 0, 100 * MILLISECOND_NS);
}

const struct workload_ops images_workload = {.step = step, .heal = heal};

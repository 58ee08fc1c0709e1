/* In some seeds apps have a monitor: a program that comes out well, fails, runs on or cannot be
 * started, while faults befall the cells. When all is healed it comes out well. */
#include "models/check_definition.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

/* ---- What is desired ------------------------------------------------------------------------- */

static Models__Action *run(struct arena *a, const Models__DesiredLRP *lrp)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    Models__RunAction *run = arena_message(a, &models__run_action__descriptor);
    run->path = (char *)(uintptr_t) "/bin/look";
    run->user = (char *)(uintptr_t) "root";
    run->log_source = lrp->log_source;
    action->run_action = run;
    return action;
}

/* One after the other, or at the same time. */
static Models__Action *two(struct arena *a, struct random *r, const Models__DesiredLRP *lrp)
{
    Models__Action *action = arena_message(a, &models__action__descriptor);
    Models__Action **both = ARENA_ARRAY(a, 2, Models__Action *);
    both[0] = run(a, lrp);
    both[1] = run(a, lrp);
    if (random_below(r, 2)) {
        action->serial_action = arena_message(a, &models__serial_action__descriptor);
        action->serial_action->actions = both;
        action->serial_action->n_actions = 2;
    } else {
        action->parallel_action = arena_message(a, &models__parallel_action__descriptor);
        action->parallel_action->actions = both;
        action->parallel_action->n_actions = 2;
    }
    return action;
}

/* The same desire, repeated, has the same monitor. */
void monitors_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                  Models__DesiredLRP *lrp)
{
    uint64_t seed = number;
    struct random r;
    for (; *app; app++) {
        seed = seed * 31 + (uint8_t)*app;
    }
    random_seed(&r, (uint64_t[2]){0x6d6f6e69746f72, seed});
    random_next(&r);
    if (!s->workloads[WORKLOAD_monitors].on || s->wide || lrp->check_definition ||
        random_below(&r, 4) == 0) {
        return;
    }
    Models__TimeoutAction *timeout = arena_message(a, &models__timeout_action__descriptor);
    timeout->timeout_ms = 1000 * (1 + (int64_t)random_below(&r, 3));
    timeout->action = random_below(&r, 2) ? run(a, lrp) : two(a, &r, lrp);
    lrp->monitor = arena_message(a, &models__action__descriptor);
    lrp->monitor->timeout_action = timeout;
    lrp->start_timeout_ms = random_below(&r, 5) == 0 ? 30000 : 0;
}

/* ---- How they come out ----------------------------------------------------------------------- */

static void step(struct workload *w)
{
    static const struct {
        enum probe_outcome outcome;
        int status;
    } ways[] = {{PROBE_ANSWERED, 200}, {PROBE_ANSWERED, 200}, {PROBE_REFUSED, 0},
                {PROBE_TIMED_OUT, 0},  {PROBE_ANSWERED, 503}, {PROBE_FAILED, 0}};
    struct swarm *s = w->swarm;
    struct random *r = &w->random;
    struct node *cell = s->cluster->cells[random_below(r, s->cluster->options.cells)];
    struct model_containers *m = node_containers(cell);
    int count = model_containers_running(m);
    const char *guid = model_containers_guid(m, (int)random_below(r, (uint64_t)count + 1));
    size_t way = (size_t)random_below(r, sizeof(ways) / sizeof(ways[0]));
    if (guid) {
        s->result->done[DONE_MONITORS] +=
            model_containers_answer(m, guid, false, ways[way].outcome, ways[way].status);
    }
    w->due_ns = world_now(s->world) + SECOND_NS / 2 + (int64_t)random_below(r, 4 * SECOND_NS);
}

/* All are well. */
static void settle(struct workload *w)
{
    struct swarm *s = w->swarm;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        struct model_containers *m = node_containers(s->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            model_containers_answer(m, guid, false, PROBE_ANSWERED, 200);
        }
    }
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
}

const struct workload_ops monitors_workload = {.step = step, .heal = heal, .settle = settle};

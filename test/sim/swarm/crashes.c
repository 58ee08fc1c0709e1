/* Containers of instances end by themselves; in some seeds mostly one and the same. */
#include <string.h>

#include "models/actual_lrp.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

/* The first instance of app-1, wherever it runs: whoever counts its crashes counts far. */
static void find_crasher(struct swarm *s, unsigned *cell, int *which)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)history_now(
        &s->checkers.history, key_actual(&s->arena, "app-1", 0, 0));
    const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
    for (unsigned i = 0; key && i < s->cluster->options.cells; i++) {
        const char *guid;
        struct model_containers *m = node_containers(s->cluster->cells[i]);
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            if (strcmp(guid, key->instance_guid) == 0) {
                *cell = i;
                *which = n;
            }
        }
    }
}

static void end_one(struct swarm *s)
{
    unsigned cell = (unsigned)random_below(&s->random, s->cluster->options.cells);
    int which = (int)swarm_draw(s, 0, 3), code = (int)swarm_draw(s, 0, 2);
    if (s->crash_loop && swarm_chance(s, 80)) {
        find_crasher(s, &cell, &which);
    }
    s->result->done[DONE_CRASHES] +=
        world_end_container(s->world, s->cluster->cells[cell], which, code);
}

static void step(struct workload *w)
{
    end_one(w->swarm);
    w->due_ns = world_now(w->swarm->world) + swarm_draw(w->swarm, 1, 8 * w->swarm->pace_ns);
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
}

const struct workload_ops crashes_workload = {.step = step, .heal = heal};

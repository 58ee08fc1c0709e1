/* Containers against the board. */
#include "common/model/keys.h"
#include "common/model/pool_tag.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <stdlib.h>
#include <string.h>

/* What a verb, a step of a back-off or a repeated question may add to an interval. */
#define SLACK_NS (10 * SECOND_NS)

/* A step of it did not end by SIGKILL, so its first process is killed. */
static bool is_stuck(const struct model_containers *m, const char *guid)
{
    SCOPED_ARENA(a);
    struct container_status s;
    bool stuck = false;
    bool known = model_containers_status(m, guid, &a, &s);
    for (size_t i = 0; known && i < s.fact_count; i++) {
        stuck = stuck || (s.facts[i].kind == FACT_CUT && s.facts[i].why == CUT_STUCK);
    }
    return stuck;
}

/* A restored board knows node pools of before. A cell that came into one since, or left one, ends
 * what does not go with it, for its start is refused (bbs/lrp/move.c): a pool's cells are its own
 * (docs/systems.md, Node pools). */
static bool lost_its_pool(const struct checkers *k, const struct instance *i)
{
    SCOPED_ARENA(a);
    const char *id = i ? i->cell_id : "";
    const Board__CellRecord *is =
        (const Board__CellRecord *)history_now(&k->history, key_cell(&a, id));
    const Models__DesiredLRP *d =
        i ? (const Models__DesiredLRP *)history_now(&k->history, key_desired(&a, i->process_guid))
          : NULL;
    return is && d && i->forgotten &&
           !pool_tag_fits(is->pool, d->placementtags, d->n_placementtags);
}

void check_verb(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    if (call->guid && task_known(k, call->guid)) {
        return; /* tasks.c */
    }
    if (call->guid && unit_known(k, call->guid)) {
        return; /* units.c */
    }
    const struct instance *i = call->guid ? map_get(&k->instances, call->guid) : NULL;
    if (call->verb == VERB_PREPARE && !i) {
        checkers_report(k, "S12", "a container %s is made that the board never gave out",
                        call->guid);
    }
    /* Of a step, which others may end, or of a program of a monitor, which ends nothing else. */
    bool step = call->verb == VERB_SIGNAL && (call->step > 0 || call->exec > 0);
    bool ends = call->verb == VERB_REMOVE || (call->verb == VERB_SIGNAL && !step);
    /* A hole: what has steps and runs none of them just now may be over, and may not. */
    const struct model_containers *m = node_containers(cell);
    bool runs = ends && model_containers_state(m, call->guid) == CONTAINER_RUNNING &&
                !(model_containers_has_steps(m, call->guid) &&
                  model_containers_step(m, call->guid, 0) < 0);
    runs = runs && !checks_have_failed(k, m, call->guid) && !is_stuck(m, call->guid);
    /* Its steps before RUNNING were under way when a restore made the board forget its claim: a
     * claim makes no record again, and its rep ends what has none. */
    runs = runs && !(i && i->forgotten && !i->ran && model_containers_has_steps(m, call->guid));
    runs = runs && !lost_its_pool(k, i);
    if (runs && !(i && i->released) && !evacuation_ends(k, checkers_cell(k, cell))) {
        checkers_report(k, "S8",
                        "the running instance of %s/%d is stopped, and nobody asked for it",
                        i ? i->process_guid : "?", i ? i->index : 0);
    }
}

/* ---- As they stand ---- */

static int64_t well_for(const struct checkers *k, unsigned cell)
{
    return node_up(k->cluster->cells[cell]) && !node_paused(k->cluster->cells[cell])
               ? world_now(k->cluster->world) - k->well_since_ns[cell]
               : 0;
}

/* A hole: who is fed from a copy that is silently wrong hears of nothing else until lists have
 * found it; the cell that is back then goes on as SUSPECT beside its replacement (S1). */
static bool settled(const struct checkers *k, unsigned cell)
{
    return well_for(k, cell) > 2 * k->reconcile_ns + SLACK_NS &&
           world_now(k->cluster->world) > checkers_whole_ns(k);
}

/* The record that bears the instance now, whatever its presence. */
static const Models__ActualLRP *record_of(struct checkers *k, const struct instance *i)
{
    const Models__ActualLRP *found = NULL;
    for (int presence = 0; presence < 3; presence++) {
        const Models__ActualLRP *r =
            (const Models__ActualLRP *)history_now(&k->history, i->keys[presence]);
        const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
        if (key && strcmp(key->instance_guid, i->guid) == 0) {
            found = r;
        }
    }
    return found;
}

bool instance_stands(struct checkers *k, const struct instance *i)
{
    return record_of(k, i) != NULL;
}

struct running {
    const struct instance *instance;
    unsigned cell;
    bool evacuating; /* beside its replacement */
};

static int by_index(const void *a, const void *b)
{
    const struct instance *x = ((const struct running *)a)->instance;
    const struct instance *y = ((const struct running *)b)->instance;
    int c = strcmp(x->process_guid, y->process_guid);
    c = c ? c : (x->index > y->index) - (x->index < y->index);
    return c ? c
             : ((const struct running *)a)->evacuating - ((const struct running *)b)->evacuating;
}

/* So for more than two intervals in which nothing was done to the cell. */
static bool too_long(const struct checkers *k, int64_t *since_ns, bool so, unsigned cell)
{
    int64_t now = world_now(k->cluster->world);
    if (!so) {
        *since_ns = NEVER_NS;
    } else if (*since_ns == NEVER_NS) {
        *since_ns = now;
    }
    int64_t for_ns = so ? earlier_ns(now - *since_ns, well_for(k, cell)) : 0;
    return for_ns > 2 * k->reconcile_ns + SLACK_NS;
}

/* A hole: while its driver is at work on it nothing is counted, for a hung runtime swallows a verb
 * until its deadline, which is longer. */
static void check_orphan(struct checkers *k, struct instance *i, unsigned cell)
{
    const struct model_containers *m = node_containers(k->cluster->cells[cell]);
    bool alone = !record_of(k, i) && !model_containers_busy(m, i->guid);
    if (too_long(k, &i->alone_ns, alone, cell)) {
        checkers_report(k, "S13", "the container of %s/%d on %s has no record", i->process_guid,
                        i->index, i->cell_id);
    }
}

static size_t running_of(struct checkers *k, unsigned cell, struct running *list, size_t count,
                         size_t max)
{
    struct model_containers *m = node_containers(k->cluster->cells[cell]);
    const char *guid;
    for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
        if (task_known(k, guid) || unit_known(k, guid)) {
            continue; /* tasks.c, units.c */
        }
        struct instance *i = map_get(&k->instances, guid);
        if (!i) {
            checkers_report(k, "S12", "container %s runs, and the board never gave it out", guid);
            continue;
        }
        check_orphan(k, i, cell);
        const Models__ActualLRP *r = record_of(k, i);
        /* Replaced a moment ago; S13 says how long that may take. */
        bool leaving = !r && k->evacuations[cell].on;
        /* What has ended does not run, however long a hung runtime takes to remove it. */
        bool runs = steps_run(k->cluster->cells[cell], guid);
        if (count < max && settled(k, cell) && !leaving && runs) {
            bool evacuating = r && r->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
            list[count++] = (struct running){i, cell, evacuating};
        }
    }
    unsigned here = model_containers_held(m), most = cluster_cell_instances(k->cluster);
    here -= here > most ? steps_never_started(k->cluster->cells[cell]) : 0;
    unsigned units = here > most ? units_held(k, k->cluster->cells[cell]) : 0; /* smaller */
    here -= units < here ? units : here;
    if (here > most) {
        checkers_report(k, "S7", "cell-%u holds %u instances and has room for %u", cell + 1, here,
                        most);
    }
    return count;
}

static void check_phantom(struct checkers *k, struct instance *i)
{
    int cell = checkers_cell_named(k, i->cell_id);
    if (cell < 0) {
        return;
    }
    /* One that is being made has been reserved: that counts (design.md 5). */
    const struct model_containers *m = node_containers(k->cluster->cells[cell]);
    bool phantom = record_of(k, i) && model_containers_state(m, i->guid) < 0 &&
                   !model_containers_busy(m, i->guid);
    if (too_long(k, &i->phantom_ns, phantom, (unsigned)cell)) {
        checkers_report(k, "S13", "the record of %s/%d says %s, which has no container of it",
                        i->process_guid, i->index, i->cell_id);
    }
}

void check_containers(struct checkers *k)
{
    struct running list[1024];
    size_t count = 0;
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        count = running_of(k, i, list, count, sizeof(list) / sizeof(list[0]));
    }
    qsort(list, count, sizeof(list[0]), by_index);
    for (size_t i = 1; i < count; i++) {
        if (by_index(&list[i - 1], &list[i]) == 0) {
            checkers_report(k, "S1", "%s/%d runs on cell-%u and on cell-%u",
                            list[i].instance->process_guid, list[i].instance->index,
                            list[i - 1].cell + 1, list[i].cell + 1);
        }
    }
    MAP_EACH(&k->instances, n)
    {
        check_phantom(k, map_value(n));
    }
}

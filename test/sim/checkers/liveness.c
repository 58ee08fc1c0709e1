/* L1 to L3 once faults have stopped, as far as bbs, reps and the auctioneer can bring them about: a
 * missing index, a CRASHED instance and a cell that never comes back are the converger's. */
#include "bbs/lrp/move.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model_containers.h"

#include <string.h>

struct convergence {
    struct checkers *k;
    struct buf *why;
    unsigned unplaced;
};

static int container_of(struct checkers *k, const Models__ActualLRPInstanceKey *key)
{
    struct cluster *c = k->cluster;
    for (unsigned i = 0; i < c->options.cells; i++) {
        if (strcmp(node_name(c->cells[i]), key->cell_id) == 0) {
            return model_containers_state(node_containers(c->cells[i]), key->instance_guid);
        }
    }
    return -1;
}

static void tell(struct convergence *c, const Models__ActualLRP *r, const char *what)
{
    buf_printf(c->why, "%s/%d %s%s%s: %s; ", r->actual_lrp_key->process_guid,
               r->actual_lrp_key->index, r->state, r->stopping ? " stopping " : " ",
               r->actual_lrp_instance_key ? r->actual_lrp_instance_key->cell_id : "", what);
}

static const Models__DesiredLRP *desired_of(struct checkers *k, const char *process_guid)
{
    struct arena a;
    arena_init(&a);
    const void *desired = history_now(&k->history, key_desired(&a, process_guid));
    arena_done(&a);
    return desired;
}

static bool wanted(const struct convergence *c, const Models__ActualLRP *r)
{
    const Models__ActualLRPKey *key = r->actual_lrp_key;
    return index_desired(desired_of(c->k, key->process_guid), key->index);
}

static void judge(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (strcmp(r->state, "UNCLAIMED") == 0) {
        c->unplaced += wanted(c, r);
    } else if (r->stopping) {
        tell(c, r, "was asked to stop and still stands (L3)");
    } else if (strcmp(r->state, "CLAIMED") == 0) {
        tell(c, r, "claimed and not started (L1)");
    } else if (strcmp(r->state, "RUNNING") == 0 &&
               container_of(c->k, r->actual_lrp_instance_key) != CONTAINER_RUNNING) {
        tell(c, r, "its container does not run (L1)");
    }
}

static bool of_rep(const struct past *p)
{
    return p->cause && strcmp(p->cause->actor, "rep") == 0;
}

/* A record whose index is not desired: a rep that found its container without a record, or a late
 * start, may have made it, and only the converger ends it, once its domain is fresh. */
static void judge_extra(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (!of_rep(p) && !wanted(c, r)) {
        tell(c, r, arena_printf(&c->k->history.arena, "is not desired, since its %s (L1)",
                               p->cause ? p->cause->move : "?"));
    }
}

/* An index without a record: a retired one is the converger's. */
static void judge_missing(void *context, const struct past *p)
{
    struct convergence *c = context;
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    struct arena a;
    arena_init(&a);
    for (int32_t i = 0; i < d->instances; i++) {
        const struct past *last =
            map_get(&c->k->history.now, key_actual(&a, d->process_guid, i, 0));
        bool retired = last && last->cause && strcmp(last->cause->move, "retire") == 0;
        if (!last || (!last->message && !retired)) {
            buf_printf(c->why, "%s/%d has no record, since its %s (L1); ", d->process_guid, i,
                       last && last->cause ? last->cause->move : "desire");
        }
    }
    arena_done(&a);
}

static void judge_job(void *context, const struct past *p)
{
    struct convergence *c = context;
    buf_printf(c->why, "%s is not done (L3); ", p->key);
}

/* Free places on all cells; every instance is as large as any other. */
static unsigned places(struct cluster *c)
{
    unsigned free = 0;
    for (unsigned i = 0; i < c->options.cells; i++) {
        unsigned used = (unsigned)model_containers_running(node_containers(c->cells[i]));
        free += used < cluster_cell_instances(c) ? cluster_cell_instances(c) - used : 0;
    }
    return free;
}

static void judge_containers(struct convergence *c)
{
    struct cluster *cluster = c->k->cluster;
    for (unsigned i = 0; i < cluster->options.cells; i++) {
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(node_containers(cluster->cells[i]), n));
             n++) {
            const struct instance *known = map_get(&c->k->instances, guid);
            if (!known || !instance_stands(c->k, known)) {
                buf_printf(c->why, "cell-%u runs %s/%d without a record (L1); ", i + 1,
                           known ? known->process_guid : "?", known ? known->index : 0);
            }
        }
    }
}

void check_converged(struct checkers *k, struct buf *ret_why)
{
    struct convergence c = {.k = k, .why = ret_why};
    history_each(&k->history, "actual/", judge, &c);
    history_each(&k->history, "actual/", judge_extra, &c);
    history_each(&k->history, "desired/", judge_missing, &c);
    history_each(&k->history, "job/", judge_job, &c);
    judge_containers(&c);
    if (c.unplaced && places(k->cluster)) {
        buf_printf(ret_why, "%u instances wait, and there are %u places (L2); ", c.unplaced,
                   places(k->cluster));
    }
}

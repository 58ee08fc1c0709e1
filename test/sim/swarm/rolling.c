/* An operator who restarts every process in turn, as for an upgrade: role by role in any order, or
 * all of them mixed. He waits for each to be at work again before he goes on; in some seeds he
 * empties a cell before. All other faults go on meanwhile, and so does the trouble, until he is
 * done or has had enough. */
#include "common/client/leading.h"
#include "rep/inside.h"
#include "test/sim/swarm/inside.h"

#include <string.h>

#define LOOKS_NS (200 * MILLISECOND_NS)
#define PAUSE_MAX_NS (1 * SECOND_NS) /* between two processes */
#define DOWN_MAX_NS (2 * SECOND_NS)
#define BEGINS_MAX_NS (10 * SECOND_NS)
#define PATIENCE_NS (240 * SECOND_NS) /* for all of them */

enum { PERCENT_MIXED = 50, PERCENT_EMPTIES = 25, ROLES = 4 };

struct rolling {
    struct workload *work;
    struct node *order[SWARM_NODES_MAX];
    unsigned count, at;
    bool empties;       /* cells, before their reps end */
    bool begun, over;
    bool stopped;       /* the one at `at`, then */
    int64_t stopped_ns; /* and it is to be started again */
    int64_t patience_ns;
};

static void shuffle(struct random *r, struct node **list, unsigned count)
{
    for (unsigned i = count; i > 1; i--) {
        uint64_t other = random_below(r, i);
        struct node *n = list[i - 1];
        list[i - 1] = list[other];
        list[other] = n;
    }
}

/* The roles stand one after the other in `nodes`. */
static void draw_order(struct rolling *o)
{
    struct swarm *s = o->work->swarm;
    const struct cluster_options *c = &s->cluster->options;
    const unsigned counts[ROLES] = {c->bbs, c->auctioneers, c->convergers, c->cells};
    unsigned taken = 0;
    for (unsigned left = ROLES; left > 0; left--) {
        unsigned which = (unsigned)random_below(&o->work->random, left), from = 0, role = 0;
        for (; role < ROLES; from += counts[role++]) {
            if (!(taken & 1u << role) && which-- == 0) {
                break;
            }
        }
        taken |= 1u << role;
        memcpy(&o->order[o->count], &s->nodes[from], counts[role] * sizeof(o->order[0]));
        shuffle(&o->work->random, &o->order[o->count], counts[role]);
        o->count += counts[role];
    }
    if (random_below(&o->work->random, 100) < PERCENT_MIXED) {
        shuffle(&o->work->random, o->order, o->count);
    }
}

static void begin(struct workload *w)
{
    struct rolling *o = w->own = ARENA_NEW(&w->swarm->arena, struct rolling);
    o->work = w;
    o->empties = random_below(&w->random, 100) < PERCENT_EMPTIES;
    o->over = w->swarm->calm;
    draw_order(o);
}

/* It does what it is there for. */
static bool works(struct swarm *s, struct node *n)
{
    uint64_t reloads;
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (s->cluster->bbs[i] == n) {
            return checkers_has_copy(&s->checkers, i, &reloads);
        }
    }
    if (checkers_cell(&s->checkers, n) >= 0) {
        const struct rep *rep = (const struct rep *)node_role(n);
        return rep->incarnation.open && rep->feed_client.current;
    }
    return ((const struct leading *)node_role(n))->feed_client.current;
}

static void restart(struct rolling *o, struct node *n)
{
    struct swarm *s = o->work->swarm;
    struct open_fault f = {.kind = FAULT_ROLLING, .node = n};
    int cell = checkers_cell(&s->checkers, n);
    if (cell >= 0 && o->empties) {
        checkers_evacuates(&s->checkers, cell);
        world_stop(s->world, n);
    } else {
        world_kill(s->world, n);
        int64_t down_ns = (int64_t)random_below(&o->work->random, DOWN_MAX_NS);
        swarm_restart_at(s, n, world_now(s->world) + down_ns);
    }
    checkers_touch(&s->checkers, cell);
    bounds_fault(s, &f);
}

static void go_on(struct rolling *o)
{
    struct swarm *s = o->work->swarm;
    struct node *n = o->order[o->at];
    int64_t now = world_now(s->world);
    bool up = node_up(n) && !node_paused(n);
    o->work->due_ns = now + LOOKS_NS;
    if (up && !o->stopped) {
        restart(o, n);
        o->stopped = true;
        o->stopped_ns = now;
    } else if (up && node_started_ns(n) > o->stopped_ns && works(s, n)) {
        s->result->done[DONE_ROLLED]++;
        o->stopped = false;
        o->at++;
        o->work->due_ns = now + (int64_t)random_below(&o->work->random, PAUSE_MAX_NS);
    }
}

static void step(struct workload *w)
{
    struct rolling *o = w->own;
    struct swarm *s = w->swarm;
    int64_t now = world_now(s->world);
    if (o->over) {
        w->due_ns = NEVER_NS;
    } else if (!o->patience_ns) {
        w->due_ns = now + (int64_t)random_below(&w->random, BEGINS_MAX_NS);
        o->patience_ns = now + PATIENCE_NS;
    } else if (!o->begun) {
        world_note(s->world, "operator", "restarts every process in turn");
        o->begun = true;
        s->result->faults[FAULT_ROLLING]++;
        go_on(o);
    } else {
        go_on(o);
    }
    if (!o->over && o->at == o->count) {
        world_note(s->world, "operator", "has restarted every process");
        s->result->done[DONE_ROLLINGS]++;
        o->over = true;
    }
}

static bool lasts(const struct workload *w)
{
    const struct rolling *o = w->own;
    return !o->over && world_now(w->swarm->world) < o->patience_ns;
}

static void heal(struct workload *w)
{
    ((struct rolling *)w->own)->over = true;
}

const struct workload_ops rolling_workload = {
    .begin = begin, .step = step, .lasts = lasts, .heal = heal};

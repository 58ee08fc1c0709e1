/* Somebody who empties a cell by POST /evacuate: what is accepted outlives the rep, whoever has
 * heard of it. Half of the time no bbs can have: the cell is cut off, and its rep is killed when it
 * has answered. */
#include "test/sim/swarm/inside.h"

#define ASK_LIMIT_NS (10 * SECOND_NS)

void evacuations_init(struct swarm *s, uint64_t seed)
{
    /* The first draw hangs on the second number alone. */
    random_seed(&s->evacuation_random, (uint64_t[2]){seed, seed ^ 0x6576616375});
    for (unsigned i = 0; i < CLUSTER_CELLS_MAX; i++) {
        s->evacuations[i] = (struct asked_evacuation){.swarm = s, .cell = i};
    }
}

static bool is_of_who_was_asked(const struct asked_evacuation *ask)
{
    const struct node *cell = ask->swarm->cluster->cells[ask->cell];
    return node_up(cell) && node_started_ns(cell) == ask->started_ns;
}

/* The word of a rep that has gone meanwhile is not held to: it may have ended its evacuation. */
static void evacuation_answered(void *context, int status, struct bytes body)
{
    struct asked_evacuation *ask = context;
    struct swarm *s = ask->swarm;
    ask->open = false;
    if (status != 202 || !is_of_who_was_asked(ask)) {
        return;
    }
    s->result->done[DONE_ACCEPTED]++;
    checkers_accepted(&s->checkers, (int)ask->cell);
    if (ask->unheard && !s->doomed) {
        s->doomed = s->cluster->cells[ask->cell];
    }
}

static void cut_off(struct swarm *s, struct node *cell)
{
    int64_t until_ns = world_now(s->world) +
                       SECOND_NS * (int64_t)(1 + random_below(&s->evacuation_random, 40));
    if (faults_cut_off(s, cell, until_ns)) {
        world_note(s->world, node_name(cell), "none is to hear of its evacuation");
    }
}

bool evacuation_posted(struct swarm *s, unsigned cell)
{
    struct asked_evacuation *ask = &s->evacuations[cell];
    struct node *node = s->cluster->cells[cell];
    uint64_t way = random_below(&s->evacuation_random, 4);
    if (ask->open || way < 2) {
        return false;
    }
    ask->open = true;
    ask->started_ns = node_started_ns(node);
    ask->unheard = way == 2;
    if (ask->unheard) {
        cut_off(s, node);
    }
    cluster_post_evacuate(s->cluster, node, ASK_LIMIT_NS, evacuation_answered, ask);
    return true;
}

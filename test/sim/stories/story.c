#include "test/sim/stories/story.h"

#include "test/sim/model_containers.h"

/* Six cells of a hundred instances each. */
#define CROWDED .cluster.cells = 6, .cluster.cell_instances = 100

/* Of hundreds of instances the trace that is kept tells what happens to all of them. */
#define IN_BULK                                                                                    \
    .without = {"claim by rep",  "start by rep", "stop by",                                        \
                "remove by rep", " a container", "container ends"}

const struct story stories[] = {
#define STORY(name, ...) {#name, story_##name, __VA_ARGS__},
#include "test/sim/stories/stories.def"
    {0},
};

void says(struct cluster *c, const char *text)
{
    world_tell(c->world, text);
}

struct goal {
    struct cluster *cluster;
    const char *process_guid;
    const char *state;
    int count;
};

static bool reached(void *context)
{
    struct goal *g = context;
    return cluster_count(g->cluster, g->process_guid, g->state) == g->count;
}

static bool reached_at_least(void *context)
{
    struct goal *g = context;
    return cluster_count(g->cluster, g->process_guid, g->state) >= g->count;
}

static bool settled(void *context)
{
    struct goal *g = context;
    return cluster_count(g->cluster, g->process_guid, "RUNNING") == g->count &&
           cluster_count(g->cluster, g->process_guid, "") == g->count &&
           cluster_containers(g->cluster) == g->count;
}

static void run_until(struct goal *g, bool (*done)(void *context))
{
    if (!world_run_until(g->cluster->world, SETTLE_NS, done, g)) {
        fail_msg("%s: not %d %s after 10 s, but %d of %d records, and %d containers",
                 g->process_guid, g->count, g->state,
                 cluster_count(g->cluster, g->process_guid, g->state),
                 cluster_count(g->cluster, g->process_guid, ""), cluster_containers(g->cluster));
    }
}

void await(struct cluster *c, const char *process_guid, const char *state, int count)
{
    run_until(&(struct goal){c, process_guid, state, count}, reached);
}

void await_at_least(struct cluster *c, const char *process_guid, int count)
{
    run_until(&(struct goal){c, process_guid, "", count}, reached_at_least);
}

void await_running(struct cluster *c, const char *process_guid, int count)
{
    struct goal goal = {c, process_guid, "RUNNING", count};
    run_until(&goal, settled);
    world_run(c->world, 5 * SECOND_NS);
    if (!settled(&goal)) {
        fail_msg("%s: %d records, %d RUNNING, %d containers: not %d 5 s later", process_guid,
                 cluster_count(c, process_guid, ""), cluster_count(c, process_guid, "RUNNING"),
                 cluster_containers(c), count);
    }
}

void await_gone(struct cluster *c, const char *process_guid)
{
    await_running(c, process_guid, 0);
}

void note_status(void *status, int answered, struct bytes body)
{
    (void)body;
    *(int *)status = answered;
}

void cut_cell(struct cluster *c, struct node *cell, bool cut)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_cut(c->world, cell, c->bbs[i], cut);
        world_cut(c->world, c->bbs[i], cell, cut);
    }
}

void crash(struct cluster *c)
{
    bool ended = false;
    await(c, "web", "RUNNING", 1);
    for (unsigned i = 0; i < c->options.cells; i++) {
        ended = ended || world_end_container(c->world, c->cells[i], 0, 3);
    }
    assert_true(ended);
    await(c, "web", "RUNNING", 0);
}

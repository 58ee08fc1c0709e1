#include "test/sim/stories/story.h"

#include <stdio.h>
#include <string.h>

#include "models/actual_lrp_requests.pb-c.h"
#include "test/sim/model/containers.h"

/* Six cells of a hundred instances each. */
#define CROWDED .cluster.cells = 6, .cluster.cell_instances = 100

/* A cell that is emptied finds no place for what it runs; the limit is a minute. */
#define TWO_FULL_CELLS                                                                             \
    .cluster.cells = 2, .cluster.cell_instances = 2, .cluster.evacuation_ns = 60 * SECOND_NS

#define NINE_CELLS .cluster.cells = 9, .cluster.zones = 3

/* Of hundreds of instances the trace that is kept tells what happens to all of them. */
#define IN_BULK                                                                                    \
    .without = {"claim by rep", "start by rep", "stop by",       "remove by rep",                  \
                "replace by",   " a container", "container ends"}

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
    *(int *)status = answered;
}

static void note_error(void *context, int status, struct bytes body)
{
    int *error = context;
    *error = -1;
    if (status == 200) {
        Models__ActualLRPLifecycleResponse *r =
            models__actual_lrplifecycle_response__unpack(NULL, body.size, body.data);
        assert_non_null(r);
        *error = r->error ? (int)r->error->type : 0;
        models__actual_lrplifecycle_response__free_unpacked(r, NULL);
    }
}

static void send_move(struct cluster *c, struct node *bbs, const char *move, int index,
                      const char *instance_guid, const char *cell, int *ret_error)
{
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    instance.instance_guid = (char *)(size_t)instance_guid;
    instance.cell_id = (char *)(size_t)cell;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)"web";
    key.index = index;
    key.domain = (char *)"default";
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    net.address = (char *)"10.9.9.9";
    Models__ClaimActualLRPRequest claim = MODELS__CLAIM_ACTUAL_LRPREQUEST__INIT;
    Models__StartActualLRPRequest start = MODELS__START_ACTUAL_LRPREQUEST__INIT;
    Models__RemoveActualLRPRequest remove = MODELS__REMOVE_ACTUAL_LRPREQUEST__INIT;
    Models__CrashActualLRPRequest crash = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
    claim.process_guid = remove.process_guid = key.process_guid;
    claim.index = remove.index = index;
    start.actual_lrp_key = crash.actual_lrp_key = &key;
    start.actual_lrp_net_info = &net;
    claim.actual_lrp_instance_key = start.actual_lrp_instance_key = remove.actual_lrp_instance_key =
        crash.actual_lrp_instance_key = &instance;
    const struct {
        const char *move;
        const ProtobufCMessage *message;
    } requests[] = {{"claim", &claim.base}, {"start", &start.base}, {"remove", &remove.base},
                    {"crash", &crash.base}};
    char url[80], path[80];
    snprintf(url, sizeof(url), "https://%s:8889", node_name(bbs));
    snprintf(path, sizeof(path), "/v1/actual_lrps/%s", move);
    *ret_error = PENDING;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(requests[i].move, move) == 0) {
            world_send(c->world, url, path, requests[i].message, SETTLE_NS, note_error, ret_error);
        }
    }
}

void elsewhere_send(struct cluster *c, struct node *bbs, const char *move, int index,
                    const char *instance_guid, int *ret_error)
{
    send_move(c, bbs, move, index, instance_guid, "elsewhere", ret_error);
}

static bool is_answered(void *error)
{
    return *(int *)error != PENDING;
}

int elsewhere(struct cluster *c, struct node *bbs, const char *move, int index,
              const char *instance_guid)
{
    int error;
    elsewhere_send(c, bbs, move, index, instance_guid, &error);
    assert_true(world_run_until(c->world, SETTLE_NS + SECOND_NS, is_answered, &error));
    world_note(c->world, "elsewhere", "%s of web/%d asked at %s: %s", move, index, node_name(bbs),
               error == 0    ? "done"
               : error == -1 ? "unavailable"
                             : "refused");
    return error;
}

int client_move(struct cluster *c, const char *move, int index, const char *instance_guid,
                const char *cell)
{
    int error;
    send_move(c, c->bbs[0], move, index, instance_guid, cell, &error);
    assert_true(world_run_until(c->world, SETTLE_NS + SECOND_NS, is_answered, &error));
    return error;
}

struct node *cell_with_a_container(struct cluster *c)
{
    for (unsigned i = 0; i < c->options.cells; i++) {
        if (model_containers_running(node_containers(c->cells[i]))) {
            return c->cells[i];
        }
    }
    fail_msg("no cell runs anything");
    return NULL;
}

static void cut_ways(struct cluster *c, struct node *from, struct node *to, bool cut)
{
    for (unsigned i = 0; i < c->options.bbs; i++) {
        world_cut(c->world, from ? from : c->bbs[i], to ? to : c->bbs[i], cut);
    }
}

void cut_way(struct cluster *c, struct node *from, struct node *to, bool cut)
{
    cut_ways(c, from, to, cut);
    world_note(c->world, node_name(from ? from : to), "what it %s %s", from ? "says" : "is told",
               cut ? "is lost" : "arrives again");
}

void cut_cell(struct cluster *c, struct node *cell, bool cut)
{
    cut_ways(c, cell, NULL, cut);
    cut_ways(c, NULL, cell, cut);
    world_note(c->world, node_name(cell), cut ? "is cut off" : "is reached again");
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

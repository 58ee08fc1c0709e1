/* A service of many units on many simulated cells is destroyed: how long that takes on virtual
 * time, what it writes, and how often it is decided again. test_bench_units_gone [--units N]
 * [--cells N] [--hooks]
 * --hooks: each unit's stop takes a second. */
#include "test/sim/model/containers.h"
#include "test/sim/stories/story.h"
#include "test/sim/world/cluster.h"
#include "units.pb-c.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE "many"
#define LIMIT_NS (600 * SECOND_NS)
enum { HOOK_MS = 1000, LOOK_MS = 100 };

struct gone_bench {
    struct cluster *cluster;
    bool counts;
    int transactions, writes, largest;
};

/* Messages are not written to: protobuf-c has no constant strings. */
static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- What is written ------------------------------------------------------------------------- */

/* Sessions and locks are put all the time. */
static bool is_of_units(const struct bytes key)
{
    static const char *const kinds[] = {"unit", "machine", "charm/", "job/", "sequence/"};
    bool is = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        is |= key.size > strlen(kinds[i]) && memcmp(key.data, kinds[i], strlen(kinds[i])) == 0;
    }
    return is;
}

static void committed(void *context, const struct world_commit *commit)
{
    struct gone_bench *b = context;
    int writes = 0;
    for (size_t i = 0; i < commit->txn->n_success; i++) {
        const Etcd__RequestOp *op = commit->txn->success[i];
        ProtobufCBinaryData key = {0};
        if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            key = op->request_put->key;
        } else if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE) {
            key = op->request_delete_range->key;
        }
        writes += is_of_units((struct bytes){key.data, key.len});
    }
    if (b->counts && writes > 0) {
        b->transactions++;
        b->writes += writes;
        b->largest = writes > b->largest ? writes : b->largest;
    }
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static void ask(struct gone_bench *b, const char *path, const ProtobufCMessage *m)
{
    int status =
        world_call(b->cluster->world, node_url(b->cluster->bbs[0]), path, m, 10 * SECOND_NS, NULL);
    if (status != 200) {
        fprintf(stderr, "bench: %s is answered %d\n", path, status);
        exit(1);
    }
}

static void deploy(struct gone_bench *b, uint32_t units, bool hooks)
{
    Board__CharmHook stop = BOARD__CHARM_HOOK__INIT, *list[] = {&stop};
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__DesiredLRP runs = MODELS__DESIRED_LRP__INIT;
    Board__Charm charm = BOARD__CHARM__INIT;
    Board__DeployUnitsRequest r = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    stop.name = text("stop");
    stop.script = text("sleep 1");
    run.path = text("/bin/sleep");
    run.user = text("x");
    action.run_action = &run;
    runs.action = &action;
    runs.root_fs = text("preloaded:busybox");
    runs.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    runs.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    charm.name = text(SERVICE);
    charm.run = &runs;
    charm.hooks = list;
    charm.n_hooks = hooks ? 1 : 0;
    r.charm = &charm;
    r.count = units;
    ask(b, "/v1/units/deploy", &r.base);
}

/* ---- What there is --------------------------------------------------------------------------- */

static void count_started(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)m;
    *(int *)context += type == RECORD_UNIT_STATUS && strcmp(s->state, "started") == 0;
}

static int started(struct gone_bench *b)
{
    int count = 0;
    cluster_each(b->cluster, "unit_status/", count_started, &count);
    return count;
}

/* A stop that has run for its second ends; the command has begun long before. */
static void end_hooks(struct gone_bench *b)
{
    for (unsigned i = 0; i < b->cluster->options.cells; i++) {
        struct node *cell = b->cluster->cells[i];
        struct model_containers *m = node_containers(cell);
        const char *guid;
        for (int k = 0; (guid = model_containers_guid(m, k)); k++) {
            int64_t step;
            for (int s = 0; (step = model_containers_step(m, guid, s)) >= 0; s++) {
                const struct step_process *p = model_containers_run(m, guid, (uint32_t)step);
                if (p && strstr(p->path, "rep-hook")) {
                    world_end_step(b->cluster->world, cell, guid, (uint32_t)step, 0, false);
                    break;
                }
            }
        }
    }
}

static void run_until(struct gone_bench *b, const char *what, int wanted,
                      int (*look)(struct gone_bench *b), bool hooks)
{
    int64_t until = world_now(b->cluster->world) + LIMIT_NS;
    while (look(b) != wanted) {
        if (world_now(b->cluster->world) >= until) {
            fprintf(stderr, "bench: %d, not %d are %s\n", look(b), wanted, what);
            exit(1);
        }
        world_run(b->cluster->world, (hooks ? HOOK_MS : LOOK_MS) * MILLISECOND_NS);
        if (hooks) {
            end_hooks(b);
        }
    }
}

static int left(struct gone_bench *b)
{
    return cluster_records(b->cluster, "unit/") + cluster_records(b->cluster, "unit_service/");
}

/* ---- The figures ----------------------------------------------------------------------------- */

static void row(const char *what, double value, const char *unit, double baseline,
                const char *beside)
{
    printf("%-56s %10.2f %-10s %10.2f %8.3f  %s\n", what, value, unit, baseline,
           baseline > 0 ? value / baseline : 0, beside);
}

static void measure(struct gone_bench *b, uint32_t units, bool hooks)
{
    struct world *w = b->cluster->world;
    int64_t begun = world_now(w);
    deploy(b, units, hooks);
    run_until(b, "started", (int)units, started, false);
    double deployed_s = (double)(world_now(w) - begun) / SECOND_NS;
    Board__UnitServiceRequest r = BOARD__UNIT_SERVICE_REQUEST__INIT;
    r.service = text(SERVICE);
    begun = world_now(w);
    b->counts = true;
    ask(b, "/v1/units/service/destroy", &r.base);
    run_until(b, "left", 0, left, hooks);
    b->counts = false;
    row(hooks ? "virtual time, destroyed to gone, each stop takes 1 s"
              : "virtual time, destroyed to gone",
        (double)(world_now(w) - begun) / SECOND_NS, "s", 60, "the bound");
    row("  deployed to started", deployed_s, "s", units, "units");
    row("  transactions", b->transactions, "", units, "units");
    row("  records written a unit", (double)b->writes / units, "", 4, "records of a unit");
    row("  most of them in one transaction, of several moves", b->largest, "", 64,
        "the bound of a move");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"units", required_argument, NULL, 'u'},
                                            {"cells", required_argument, NULL, 'c'},
                                            {"hooks", no_argument, NULL, 'h'},
                                            {0}};
    unsigned units = 10000, cells = CLUSTER_CELLS_MANY;
    bool hooks = false;
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        units = c == 'u' ? (unsigned)atoi(optarg) : units;
        cells = c == 'c' ? (unsigned)atoi(optarg) : c == '?' ? 0 : cells;
        hooks |= c == 'h';
    }
    if (units < 1 || units > 100000 || cells < 1 || cells > CLUSTER_CELLS_MANY) {
        fprintf(stderr, "bench: 1 to 100000 units, 1 to %d cells\n", CLUSTER_CELLS_MANY);
        return 2;
    }
    unsigned each = units / cells + units / cells / 4 + 4; /* a quarter more than is needed */
    struct gone_bench b = {.cluster = cluster_new(&(struct cluster_options){
                               .world = {.seed = 1},
                               .cells = cells,
                               .bbs = 1,
                               .convergers = 1,
                               .cell_instances = each,
                               .cell_disk_instances = each,
                               .cell_containers = each,
                           })};
    world_observe(b.cluster->world,
                  &(struct world_observer){.committed = committed, .context = &b});
    if (!world_run_until(b.cluster->world, 60 * SECOND_NS, cluster_ready, b.cluster)) {
        fprintf(stderr, "bench: the cluster does not become ready\n");
        return 1;
    }
    measure(&b, units, hooks);
    cluster_free(b.cluster);
    return 0;
}

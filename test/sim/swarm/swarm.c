#include "test/sim/swarm/swarm.h"

#include <string.h>

#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/swarm/inside.h"

#define LOOK_NS (1 * SECOND_NS)
#define VERIFY_NS (20 * SECOND_NS) /* between two lists by which a bbs verifies its copy */
#define READY_LIMIT_NS (30 * SECOND_NS)
#define QUIET_NS (12 * SECOND_NS) /* no change of an LRP for so long: at rest (L1) */
#define ALARM_LIMIT_NS (150 * SECOND_NS) /* a compaction and a defragmentation unanswered */
#define FULL_PASSES_NS (60 * SECOND_NS) /* two of the converger */
#define EVACUATION_END_NS (20 * SECOND_NS) /* from its limit to the end of its rep */
#define RUNTIME_LIMIT_NS (60 * SECOND_NS) /* the longest verb that may be under way at the heal */

enum { FEW_CELLS = 6, PERCENT_MANY = 1 };

int64_t swarm_draw(struct swarm *s, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(&s->random, (uint64_t)(high - low) + 1);
}

bool swarm_chance(struct swarm *s, unsigned percent)
{
    return random_below(&s->random, 100) < percent;
}

static void committed(void *context, const struct world_commit *commit)
{
    struct swarm *s = context;
    checkers_committed(&s->checkers, commit);
    faults_committed(s, commit->by);
}

static void asked(void *context, struct node *from, const struct call *call)
{
    struct swarm *s = context;
    checkers_asked(&s->checkers, from, call);
}

static void answered(void *context, const struct world_answer *answer)
{
    struct swarm *s = context;
    checkers_answered(&s->checkers, answer);
    takers_answered(s, answer);
}

static void streamed(void *context, struct node *from, uint64_t call_id, int64_t arrived_revision)
{
    workloads_streamed(context, from, call_id, arrived_revision);
}

static void probed(void *context, struct node *n, const struct probe *probe,
                   const struct probed *end)
{
    struct swarm *s = context;
    (void)n;
    checkers_probed(&s->checkers, probe, end);
}

static void executed(void *context, struct node *n, const struct verb_answer *answer)
{
    struct swarm *s = context;
    (void)n;
    checkers_executed(&s->checkers, answer);
}

static void verb(void *context, struct node *n, const struct verb_call *call)
{
    struct swarm *s = context;
    checkers_verb(&s->checkers, n, call);
    loss_verb(s, n, call);
}

static void logged(void *context, struct node *n, const struct log_line *line)
{
    struct swarm *s = context;
    const char *board_generation = strstr(line->data, "board_generation=");
    if (board_generation && strcmp(line->message, "the board is loaded") == 0) {
        checkers_loaded(&s->checkers, n, board_generation);
    }
    checkers_logged(&s->checkers, n, line);
    fallback_logged(s, n, line);
}

/* From quick and even to slow and far apart. */
static struct span draw_span(struct swarm *s, int64_t longest_ns)
{
    struct span span = {.low_ns = swarm_draw(s, 50 * MICROSECOND_NS, 400 * MICROSECOND_NS)};
    int64_t high = swarm_chance(s, 50) ? longest_ns : 3 * MILLISECOND_NS;
    span.high_ns = span.low_ns + swarm_draw(s, 0, high);
    return span;
}

static void add_nodes(struct swarm *s, struct node *const *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        s->nodes[s->node_count++] = list[i];
    }
}

/* A few, or in some seeds many: drawn aside. */
static unsigned draw_cells(struct swarm *s, uint64_t seed)
{
    unsigned few = (unsigned)swarm_draw(s, 1, FEW_CELLS);
    struct random aside;
    random_seed(&aside, (uint64_t[2]){seed, seed ^ 0x63656c6c73});
    bool many = random_below(&aside, 100) < PERCENT_MANY;
    return many ? FEW_CELLS + 1 + (unsigned)random_below(&aside, CLUSTER_CELLS_MAX - FEW_CELLS)
                : few;
}

/* Some seeds have it: drawn aside. */
static bool draw_own_network(uint64_t seed)
{
    enum { PERCENT = 30 };
    struct random aside;
    random_seed(&aside, (uint64_t[2]){seed, seed ^ 0x6e6574});
    return random_below(&aside, 100) < PERCENT;
}

static void make_cluster(struct swarm *s, uint64_t seed)
{
    static const int64_t intervals[] = {5 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS};
    s->wide = swarm_chance(s, 2); /* they take ten times as long */
    struct cluster_options o = {
        .world = {.seed = seed,
                  .network = draw_span(s, 20 * MILLISECOND_NS),
                  .store = draw_span(s, 20 * MILLISECOND_NS),
                  .watch_lag = draw_span(s, 150 * MILLISECOND_NS)},
        .bbs = (unsigned)swarm_draw(s, 1, 3),
        .cells = draw_cells(s, seed),
        .zones = (unsigned)swarm_draw(s, 1, 3),
        .auctioneers = (unsigned)swarm_draw(s, 1, 2),
        .convergers = (unsigned)swarm_draw(s, 1, 2),
        .cell_instances = (unsigned)(s->wide ? swarm_draw(s, 40, 90) : swarm_draw(s, 2, 20)),
        .reconcile_interval_ns = intervals[random_below(&s->random, 3)],
        .evacuation_ns = swarm_draw(s, 10, 60) * SECOND_NS,
        .verify_interval_ns = VERIFY_NS,
        .own_network = draw_own_network(seed),
        .pulls_images = workload_drawn(WORKLOAD_images, seed),
        .types = deploys_cell_types(seed),
    };
    s->cluster = cluster_new(&o);
    s->world = s->cluster->world;
    checkers_init(&s->checkers, s->cluster, o.reconcile_interval_ns);
    world_observe(s->world, &(struct world_observer){.committed = committed,
                                                     .asked = asked,
                                                     .answered = answered,
                                                     .streamed = streamed,
                                                     .verb = verb,
                                                     .logged = logged,
                                                     .probed = probed,
                                                     .executed = executed,
                                                     .context = s});
    add_nodes(s, s->cluster->bbs, o.bbs);
    add_nodes(s, s->cluster->auctioneers, o.auctioneers);
    add_nodes(s, s->cluster->convergers, o.convergers);
    add_nodes(s, s->cluster->cells, o.cells);
    for (unsigned i = 0; i < o.cells; i++) {
        model_containers_waver(node_containers(s->cluster->cells[i]), seed + i);
    }
    s->apps = (unsigned)swarm_draw(s, 1, SWARM_APPS_MAX);
    s->instances_max = (unsigned)(s->wide ? swarm_draw(s, 60, 150) : swarm_draw(s, 1, 8));
    s->instances_max *= s->wide ? 1 : (o.cells + FEW_CELLS - 1) / FEW_CELLS;
    s->strays = swarm_chance(s, 40);
    s->crash_loop = swarm_chance(s, 30);
    s->pace_ns = swarm_draw(s, 50 * MILLISECOND_NS, 1500 * MILLISECOND_NS);
    s->fault_pace_ns = swarm_draw(s, 50 * MILLISECOND_NS, 2 * SECOND_NS);
    faults_init(s, seed);
    calm_plan(s, seed);
    s->checkers.strays = s->strays;
    workloads_begin(s, seed);
    evacuations_init(s, seed);
}

bool swarm_run_to(struct swarm *s, int64_t until_ns)
{
    while (checkers_clean(&s->checkers) && world_step(s->world, until_ns)) {
        faults_step(s);
    }
    return checkers_clean(&s->checkers);
}

/* Workload and faults together; everything is looked at each second. */
static void trouble(struct swarm *s, uint64_t seed, int64_t duration_ns)
{
    restore_plan(s, seed, duration_ns);
    int64_t now = world_now(s->world), end = now + duration_ns;
    int64_t fault = now + s->fault_pace_ns, look = now + LOOK_NS;
    while (now < end || workloads_last(s)) {
        end = now < end ? end : now + LOOK_NS;
        int64_t next = earlier_ns(earlier_ns(fault, look), workloads_due_ns(s));
        if (!swarm_run_to(s, earlier_ns(end, earlier_ns(next, faults_due_ns(s))))) {
            return;
        }
        now = world_now(s->world);
        faults_end_due(s, now);
        restore_begin(s);
        swarm_supervise(s);
        workloads_step(s);
        if (fault <= now) {
            faults_begin_one(s);
            fault = now + swarm_draw(s, 1, 2 * s->fault_pace_ns);
        }
        if (look <= now) {
            faults_touch_open(s);
            checkers_look(&s->checkers);
            bounds_look(s);
            look = now + LOOK_NS;
        }
    }
}

static void heal(struct swarm *s)
{
    world_note(s->world, "swarm", "heals everything");
    faults_end_due(s, NEVER_NS);
    s->kill_committer = false;
    s->doomed = NULL;
    s->rates = (struct world_faults){.late_by = s->rates.late_by};
    world_faults(s->world, &s->rates);
    swarm_start_all(s);
    for (unsigned i = 0; i < s->node_count; i++) {
        world_set_clock(s->world, s->nodes[i]);
        world_kill_asking(s->world, s->nodes[i], 0);
        if (world_slip_waits(s->nodes[i])) {
            world_slip_watch(s->world, s->nodes[i], SLIP_NONE);
        }
    }
}

static bool at_rest(struct swarm *s, struct buf *why)
{
    buf_clear(why);
    checkers_at_rest(&s->checkers, why);
    workloads_rest(s, why);
    if (!why->size && world_now(s->world) - s->checkers.lrp_change_ns < QUIET_NS) {
        buf_append_string(why, "LRP records still change (L1); ");
    }
    return why->size == 0;
}

/* Two intervals and what may still be under way at the heal; then it must be at rest, and two more
 * intervals later the slow checkers have had their say. */
static void converge(struct swarm *s)
{
    SCOPED_BUF(why);
    int64_t healed = world_now(s->world);
    int64_t limit = healed + RUNTIME_LIMIT_NS + FULL_PASSES_NS + 3 * s->checkers.reconcile_ns;
    limit += workloads_settle_ns(s);
    int64_t least = healed + 2 * QUIET_NS;
    bool evacuates = false;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        if (s->checkers.evacuations[i].on) { /* nothing is at rest before its end */
            evacuates = true;
        }
    }
    limit += evacuates ? EVACUATION_END_NS + s->cluster->options.evacuation_ns : 0;
    bool rest = false;
    int64_t last = limit + ALARM_LIMIT_NS, spare = limit - healed;
    while (checkers_clean(&s->checkers) && world_now(s->world) < limit) {
        swarm_run_to(s, world_now(s->world) + LOOK_NS);
        faults_touch_open(s);
        /* A board that could not be written has not been healed. */
        limit += model_etcd_alarmed(store_etcd(s->cluster->store)) && limit < last ? LOOK_NS : 0;
        swarm_supervise(s);
        workloads_step(s);
        workloads_settle(s);
        checkers_look(&s->checkers);
        bounds_look(s);
        checkers_look_healed(&s->checkers);
        int64_t whole_ns = checkers_whole_ns(&s->checkers);
        limit = whole_ns && limit < whole_ns + spare ? whole_ns + spare : limit;
        rest = at_rest(s, &why);
        if (rest && world_now(s->world) >= least) {
            break;
        }
    }
    if (checkers_clean(&s->checkers) && !rest) {
        checkers_report(&s->checkers, "liveness", "%lld s after the heal: %s",
                        (long long)((world_now(s->world) - healed) / SECOND_NS),
                        buf_string(&why));
    }
}

static void finish(struct swarm *s, bool trace)
{
    struct swarm_result *r = s->result;
    r->failed = !checkers_clean(&s->checkers);
    buf_append_string(&r->reason, buf_string(&s->checkers.violation));
    if (r->failed || trace) {
        buf_append_string(&r->trace, world_trace(s->world));
    }
    memcpy(r->seen, s->checkers.seen, sizeof(r->seen));
    r->done[DONE_CALM] = s->calm;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        r->done[DONE_UNTOLD] += model_containers_untold(node_containers(s->cluster->cells[i]));
    }
    r->virtual_ns = world_now(s->world);
}

void swarm_run(uint64_t seed, bool trace, struct swarm_result *ret)
{
    struct swarm s = {.result = ret};
    *ret = (struct swarm_result){0};
    buf_init(&ret->reason);
    buf_init(&ret->trace);
    arena_init(&s.arena);
    /* The first draw hangs on the second number alone. */
    random_seed(&s.random, (uint64_t[2]){0x737761726d, seed});
    make_cluster(&s, seed);
    world_trace_logs(s.world, trace);
    if (world_run_until(s.world, READY_LIMIT_NS, cluster_ready, s.cluster)) {
        s.ready = true;
        /* In some there is time for a limiter to be released, and a cell to be lost twice. */
        trouble(&s, seed,
                swarm_chance(&s, 80) ? swarm_draw(&s, 10 * SECOND_NS, 40 * SECOND_NS)
                                     : swarm_draw(&s, 40 * SECOND_NS, 180 * SECOND_NS));
        heal(&s);
        loss_befalls(&s, seed);
        workloads_heal(&s);
        checkers_touch(&s.checkers, -1);
        converge(&s);
    } else {
        checkers_report(&s.checkers, "liveness", "the cluster is not ready after 30 s");
    }
    finish(&s, trace);
    cluster_free(s.cluster);
    workloads_done(&s);
    checkers_done(&s.checkers);
    map_done(&s.takers, NULL);
    arena_done(&s.arena);
}

void swarm_result_done(struct swarm_result *r)
{
    buf_done(&r->reason);
    buf_done(&r->trace);
}

/* What befalls the cluster: each fault as a row, with what begins it and what ends it. */

#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/swarm/inside.h"

enum { WEIGHTS = 5 }; /* 1, 2, 4, 8, 16 */

static struct node *pick(struct swarm *s, unsigned from, unsigned count)
{
    return s->nodes[from + random_below(&s->random, count)];
}

static struct node *any_node(struct swarm *s)
{
    return pick(s, 0, s->node_count);
}

static struct node *any_bbs(struct swarm *s)
{
    return pick(s, 0, s->cluster->options.bbs);
}

/* Of those who lead or would. */
static struct node *any_candidate(struct swarm *s)
{
    const struct cluster_options *o = &s->cluster->options;
    return pick(s, o->bbs, o->auctioneers + o->convergers);
}

static struct node *any_cell(struct swarm *s)
{
    return pick(s, s->node_count - s->cluster->options.cells, s->cluster->options.cells);
}

static bool alive(const struct node *n)
{
    return node_up(n) && !node_paused(n);
}

/* What is done to a cell touches that cell, everything else all of them. */
static void touch(struct swarm *s, const struct node *n)
{
    checkers_touch(&s->checkers, checkers_cell(&s->checkers, n));
}

static void touch_feed(struct swarm *s, enum swarm_fault kind)
{
    if (fault_rows[kind].hinders_feed) {
        s->feed_hindered_ns = world_now(s->world);
    }
}

/* ---- Each fault: false when it cannot be done now ---- */

static bool begin_kill(struct swarm *s, struct open_fault *f)
{
    f->node = any_node(s);
    if (node_up(f->node)) {
        world_kill(s->world, f->node);
        return true;
    }
    return false;
}

static bool begin_kill_within(struct swarm *s, struct open_fault *f)
{
    f->node = any_node(s);
    if (alive(f->node)) {
        world_kill_within(s->world, f->node, (unsigned)swarm_draw(s, 0, 4));
        return true;
    }
    return false;
}

static bool begin_kill_commit(struct swarm *s, struct open_fault *f)
{
    s->kill_committer = true;
    return true;
}

static bool begin_kill_asking(struct swarm *s, struct open_fault *f)
{
    /* Leaders are few, and a leader's successor takes its time. */
    f->node = swarm_chance(s, 50) ? any_candidate(s) : any_cell(s);
    if (!alive(f->node)) {
        return false;
    }
    int64_t late_ns = swarm_chance(s, 50) ? 10 * SECOND_NS : 60 * SECOND_NS;
    world_kill_asking(s->world, f->node, swarm_draw(s, 50 * MILLISECOND_NS, late_ns));
    return true;
}

static bool begin_pause(struct swarm *s, struct open_fault *f)
{
    f->node = any_node(s);
    if (alive(f->node)) {
        world_pause(s->world, f->node);
        return true;
    }
    return false;
}

static void end_pause(struct swarm *s, struct open_fault *f)
{
    if (node_up(f->node) && node_paused(f->node)) {
        world_wake(s->world, f->node);
    }
}

static void cut(struct swarm *s, struct open_fault *f, bool on)
{
    if (f->way & 1) {
        world_cut(s->world, f->node, f->other, on);
    }
    if (f->way & 2) {
        world_cut(s->world, f->other, f->node, on);
    }
    world_note(s->world, node_name(f->node), "the way %s %s is %s",
               f->way == 1   ? "to"
               : f->way == 2 ? "from"
                             : "to and from",
               f->other ? node_name(f->other) : "etcd", on ? "cut" : "healed");
}

static bool begin_cut_one_way(struct swarm *s, struct open_fault *f)
{
    f->node = any_node(s);
    f->other = any_node(s);
    f->way = 1;
    if (f->node == f->other) {
        return false;
    }
    cut(s, f, true);
    return true;
}

static bool begin_cut_two_way(struct swarm *s, struct open_fault *f)
{
    f->node = any_node(s);
    f->other = any_node(s);
    f->way = 3;
    if (f->node == f->other) {
        return false;
    }
    cut(s, f, true);
    return true;
}

static bool begin_cut_store(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    f->other = NULL;
    f->way = (int)swarm_draw(s, 1, 3);
    cut(s, f, true);
    return true;
}

static void end_cut(struct swarm *s, struct open_fault *f)
{
    cut(s, f, false);
}

static void rates_told(struct swarm *s, const char *what)
{
    world_faults(s->world, &s->rates);
    world_note(s->world, "network", "%s", what);
}

static bool begin_losses(struct swarm *s, struct open_fault *f)
{
    s->rates.request_lost = (unsigned)swarm_draw(s, 0, 200);
    s->rates.answer_lost = (unsigned)swarm_draw(s, 0, 200);
    rates_told(s, "loses requests and answers");
    return true;
}

static void end_losses(struct swarm *s, struct open_fault *f)
{
    s->rates.request_lost = s->rates.answer_lost = 0;
    rates_told(s, "loses nothing more");
}

static bool begin_doubles(struct swarm *s, struct open_fault *f)
{
    s->rates.doubled = (unsigned)swarm_draw(s, 50, 400);
    s->rates.doubled_by =
        (struct span){0, swarm_chance(s, 50) ? swarm_draw(s, 1, 20) * SECOND_NS : 0};
    rates_told(s, "doubles requests");
    return true;
}

static void end_doubles(struct swarm *s, struct open_fault *f)
{
    s->rates.doubled = 0;
    rates_told(s, "doubles nothing more");
}

static bool begin_delays(struct swarm *s, struct open_fault *f)
{
    s->rates.late = (unsigned)swarm_draw(s, 20, 300);
    rates_told(s, "delays requests and answers");
    return true;
}

static void end_delays(struct swarm *s, struct open_fault *f)
{
    s->rates.late = 0;
    rates_told(s, "delays nothing more");
}

static bool begin_store_losses(struct swarm *s, struct open_fault *f)
{
    s->rates.store_request_lost = (unsigned)swarm_draw(s, 0, 150);
    s->rates.store_answer_lost = (unsigned)swarm_draw(s, 50, 400);
    rates_told(s, "loses requests to etcd and its answers");
    return true;
}

static void end_store_losses(struct swarm *s, struct open_fault *f)
{
    s->rates.store_request_lost = s->rates.store_answer_lost = 0;
    rates_told(s, "loses nothing of etcd's more");
}

static bool begin_store_delays(struct swarm *s, struct open_fault *f)
{
    s->rates.store_late = (unsigned)swarm_draw(s, 20, 300);
    rates_told(s, "delays requests to etcd");
    return true;
}

static void end_store_delays(struct swarm *s, struct open_fault *f)
{
    s->rates.store_late = 0;
    rates_told(s, "delays nothing of etcd's more");
}

static bool begin_watch_break(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    world_break_watch(s->world, f->node);
    return true;
}

static bool begin_watch_stall(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    world_stall_watch(s->world, f->node, true);
    return true;
}

static void end_watch_stall(struct swarm *s, struct open_fault *f)
{
    world_stall_watch(s->world, f->node, false);
}

static bool begin_watch_skip(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    world_slip_watch(s->world, f->node, SLIP_REVISION);
    return true;
}

static bool begin_watch_change(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    world_slip_watch(s->world, f->node, swarm_chance(s, 50) ? SLIP_CHANGE : SLIP_REPEAT);
    return true;
}

static bool begin_watch_silent(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    world_slip_watch(s->world, f->node, SLIP_SILENT);
    checkers_slips(&s->checkers, f->node);
    return true;
}

static bool begin_compact(struct swarm *s, struct open_fault *f)
{
    store_compact(s->cluster->store);
    return true;
}

static bool begin_election(struct swarm *s, struct open_fault *f)
{
    store_elect(s->cluster->store, swarm_draw(s, 0, 4 * SECOND_NS));
    return true;
}

static bool begin_slow_runtime(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    struct model_containers_pace *p = model_containers_pace(node_containers(f->node));
    p->prepare_ns = swarm_draw(s, 0, 5 * SECOND_NS);
    p->start_ns = swarm_draw(s, 0, 5 * SECOND_NS);
    p->remove_ns = swarm_draw(s, 0, 5 * SECOND_NS);
    p->list_ns = swarm_draw(s, 0, 3 * SECOND_NS);
    p->term_ns = swarm_draw(s, 0, 15 * SECOND_NS);
    world_note(s->world, node_name(f->node), "its runtime is slow");
    return true;
}

static void end_slow_runtime(struct swarm *s, struct open_fault *f)
{
    *model_containers_pace(node_containers(f->node)) = (struct model_containers_pace){
        .prepare_ns = 5 * MILLISECOND_NS,
        .start_ns = 50 * MILLISECOND_NS,
        .signal_ns = 1 * MILLISECOND_NS,
        .remove_ns = 10 * MILLISECOND_NS,
        .list_ns = 1 * MILLISECOND_NS,
        .term_ns = 20 * MILLISECOND_NS,
    };
    world_note(s->world, node_name(f->node), "its runtime is quick");
}

static bool begin_failing_runtime(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    model_containers_fail_starts(node_containers(f->node), (unsigned)swarm_draw(s, 1, 3),
                                 "no space left on device");
    world_note(s->world, node_name(f->node), "its runtime fails to start");
    return true;
}

static void end_failing_runtime(struct swarm *s, struct open_fault *f)
{
    model_containers_fail_starts(node_containers(f->node), 0, "");
}

static bool begin_hung_runtime(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    model_containers_hang(node_containers(f->node), true);
    world_note(s->world, node_name(f->node), "its runtime hangs");
    return true;
}

static void end_hung_runtime(struct swarm *s, struct open_fault *f)
{
    model_containers_hang(node_containers(f->node), false);
    world_note(s->world, node_name(f->node), "its runtime answers again");
}

static bool begin_deaf(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    struct model_containers *m = node_containers(f->node);
    const char *guid = model_containers_guid(m, (int)swarm_draw(s, 0, 3));
    if (!guid || !model_containers_deafen(m, guid)) {
        return false;
    }
    world_note(s->world, node_name(f->node), "%s ignores SIGTERM", guid);
    return true;
}

static bool begin_clock_jump(struct swarm *s, struct open_fault *f)
{
    f->node = swarm_chance(s, 30) ? any_candidate(s) : any_node(s);
    /* Small ones as well: what waits for 30 s is due a little early for one, and not for another.
     */
    int64_t far_ns = swarm_chance(s, 50) ? 5 * 3600 * SECOND_NS : 25 * SECOND_NS;
    world_jump_clock(s->world, f->node, swarm_draw(s, -far_ns, far_ns));
    return true;
}

static bool begin_storm(struct swarm *s, struct open_fault *f)
{
    world_break_connections(s->world);
    return true;
}

static bool begin_no_space(struct swarm *s, struct open_fault *f)
{
    if (s->restoring) {
        return false; /* the operator looks after the new one's disk */
    }
    store_fill(s->cluster->store, true);
    return true;
}

static void end_no_space(struct swarm *s, struct open_fault *f)
{
    store_fill(s->cluster->store, false);
}

/* Cells are few among the processes, and what a cell's long silence brings about is much. */
static bool begin_long_pause(struct swarm *s, struct open_fault *f)
{
    f->node = swarm_chance(s, 70) ? any_cell(s) : any_node(s);
    if (alive(f->node)) {
        world_pause(s->world, f->node);
        return true;
    }
    return false;
}

/* From everybody and to everybody. */
static void cut_off(struct swarm *s, struct open_fault *f, bool on)
{
    for (unsigned i = 0; i < s->node_count; i++) {
        if ((f->way & 1) && s->nodes[i] != f->node) {
            world_cut(s->world, f->node, s->nodes[i], on);
        }
        if ((f->way & 2) && s->nodes[i] != f->node) {
            world_cut(s->world, s->nodes[i], f->node, on);
        }
    }
    world_note(s->world, node_name(f->node), "every way %s it is %s",
               f->way == 1   ? "from"
               : f->way == 2 ? "to"
                             : "from and to",
               on ? "cut" : "healed");
}

static bool begin_cell_cut(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    f->way = (int)swarm_draw(s, 1, 3);
    cut_off(s, f, true);
    return true;
}

static void end_cell_cut(struct swarm *s, struct open_fault *f)
{
    cut_off(s, f, false);
}

bool faults_cut_off(struct swarm *s, struct node *cell, int64_t until_ns)
{
    if (s->open_count >= OPEN_FAULTS_MAX - 1) {
        return false;
    }
    struct open_fault one = {.kind = FAULT_CELL_CUT, .until_ns = until_ns, .node = cell, .way = 3};
    cut_off(s, &one, true);
    s->open[s->open_count++] = one;
    s->result->faults[FAULT_CELL_CUT]++;
    bounds_fault(s, &one);
    return true;
}

static bool take_away(struct swarm *s, struct node *cell, int64_t until_ns)
{
    if (!node_up(cell)) {
        return false;
    }
    world_kill(s->world, cell);
    swarm_restart_at(s, cell, until_ns);
    return true;
}

static int64_t long_from_now(struct swarm *s)
{
    return world_now(s->world) + swarm_draw(s, 4, 60) * SECOND_NS;
}

static bool begin_cell_away(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    return take_away(s, f->node, long_from_now(s));
}

static bool begin_cell_fell(struct swarm *s, struct open_fault *f)
{
    f->node = any_cell(s);
    if (!take_away(s, f->node, long_from_now(s))) {
        return false;
    }
    world_reboot(s->world, f->node, swarm_chance(s, 50));
    return true;
}

/* Half of the cells or more; some are cut off, some fall, and all are back at about the same time.
 */
static bool begin_mass_loss(struct swarm *s, struct open_fault *f)
{
    unsigned cells = s->cluster->options.cells;
    unsigned count = (unsigned)swarm_draw(s, (cells + 1) / 2, cells), from = s->node_count - cells;
    int64_t until_ns = world_now(s->world) + swarm_draw(s, 4, 90) * SECOND_NS;
    for (unsigned i = from; i < from + count && s->open_count < OPEN_FAULTS_MAX - 1; i++) {
        if (swarm_chance(s, 50)) {
            struct open_fault one = {
                .kind = FAULT_CELL_CUT, .until_ns = until_ns, .node = s->nodes[i], .way = 3};
            cut_off(s, &one, true);
            s->open[s->open_count++] = one;
        } else if (take_away(s, s->nodes[i], until_ns) && swarm_chance(s, 50)) {
            world_reboot(s->world, s->nodes[i], swarm_chance(s, 50));
        }
    }
    return true;
}

/* Its rep ends when it is empty, or at its limit, and is started again as after any end. */
static bool begin_evacuate(struct swarm *s, struct open_fault *f)
{
    unsigned cells = s->cluster->options.cells;
    unsigned number = (unsigned)random_below(&s->random, cells);
    f->node = s->cluster->cells[number];
    if (!alive(f->node)) {
        return false;
    }
    checkers_evacuates(&s->checkers, (int)number);
    if (!evacuation_posted(s, number)) {
        world_stop(s->world, f->node);
    }
    return true;
}

/* Of a bbs nothing more comes; and the next cell that starts something is emptied at once, and cut
 * from the bbs that heard of it: it asks one whose copy has never heard of what it empties. */
static bool begin_evacuate_at_once(struct swarm *s, struct open_fault *f)
{
    f->node = any_bbs(s);
    if (s->cluster->options.bbs < 2) {
        return false;
    }
    world_stall_watch(s->world, f->node, true);
    s->stale_bbs = f->node;
    return true;
}

static void end_evacuate_at_once(struct swarm *s, struct open_fault *f)
{
    world_stall_watch(s->world, f->node, false);
    s->stale_bbs = NULL;
}

/* Between two events: what was started last was started by the way of `by`. */
static void evacuate_starter(struct swarm *s, const char *cell_id, struct node *by)
{
    struct open_fault way = {.kind = FAULT_CUT_TWO_WAY, .other = by, .way = 3};
    int cell = checkers_cell_named(&s->checkers, cell_id);
    way.node = cell < 0 ? NULL : s->cluster->cells[cell];
    if (way.node && alive(way.node) && by != s->stale_bbs && s->open_count < OPEN_FAULTS_MAX - 2) {
        way.until_ns = world_now(s->world) + swarm_draw(s, 2 * SECOND_NS, 6 * SECOND_NS);
        cut(s, &way, true);
        s->open[s->open_count++] = way;
        checkers_evacuates(&s->checkers, cell);
        world_stop(s->world, way.node);
        touch(s, way.node);
        s->stale_bbs = NULL;
    }
}

const struct fault_row fault_rows[FAULT_COUNT] = {
#define FAULT(id, name, percent, lasts_s, ...) {name, percent, (lasts_s) * SECOND_NS, __VA_ARGS__},
#include "test/sim/swarm/faults.def"
};

/* ---- All of them ---- */

/* From seldom to often: drawn aside. */
static void draw_weights(struct swarm *s, uint64_t seed)
{
    struct random aside;
    random_seed(&aside, (uint64_t[2]){seed, seed ^ 0x77656967687473});
    for (int i = 0; i < FAULT_DRAWN; i++) {
        s->weights[i] = 1u << random_below(&aside, WEIGHTS);
        s->weights_sum += s->weights[i];
    }
}

void faults_init(struct swarm *s, uint64_t seed)
{
    draw_weights(s, seed);
    s->restore_ns = NEVER_NS;
    for (int i = 0; i < FAULT_DRAWN; i++) {
        s->enabled[i] = swarm_chance(s, fault_rows[i].percent);
    }
    s->rates.late_by = (struct span){10 * MILLISECOND_NS, swarm_draw(s, 1, 5) * SECOND_NS};
    s->rates.torn = swarm_chance(s, 50) ? 200 : 0;
    world_faults(s->world, &s->rates);
    for (unsigned i = 0; i < s->node_count; i++) {
        s->restart_ns[i] = NEVER_NS;
    }
}

static bool is_open(const struct swarm *s, const struct open_fault *f)
{
    for (unsigned i = 0; i < s->open_count; i++) {
        const struct open_fault *o = &s->open[i];
        if (o->kind == f->kind && o->node == f->node && o->other == f->other && o->way == f->way) {
            return true;
        }
    }
    return false;
}

static enum swarm_fault draw_kind(struct swarm *s)
{
    uint64_t at = random_below(&s->random, s->weights_sum);
    int kind = 0;
    for (; at >= s->weights[kind]; kind++) {
        at -= s->weights[kind];
    }
    return (enum swarm_fault)kind;
}

void faults_begin_one(struct swarm *s)
{
    struct open_fault f = {.kind = draw_kind(s)};
    const struct fault_row *row = &fault_rows[f.kind];
    if (!s->enabled[f.kind] || s->open_count == OPEN_FAULTS_MAX || !row->begin(s, &f)) {
        return;
    }
    s->result->faults[f.kind]++;
    touch(s, f.node);
    touch_feed(s, f.kind);
    bounds_fault(s, &f);
    if (row->lasts_ns) {
        f.until_ns = world_now(s->world) + swarm_draw(s, 50 * MILLISECOND_NS, row->lasts_ns);
        s->open[s->open_count++] = f;
    }
}

int64_t faults_due_ns(const struct swarm *s)
{
    int64_t due = s->restore_ns;
    for (unsigned i = 0; i < s->open_count; i++) {
        due = earlier_ns(due, s->open[i].until_ns);
    }
    for (unsigned i = 0; i < s->node_count; i++) {
        due = earlier_ns(due, s->restart_ns[i]);
    }
    return due;
}

/* One of the same kind on the same process may have begun later: it goes on until its own end. */
void faults_end_due(struct swarm *s, int64_t now_ns)
{
    for (unsigned i = 0; i < s->open_count;) {
        struct open_fault f = s->open[i];
        if (f.until_ns > now_ns) {
            i++;
            continue;
        }
        s->open[i] = s->open[--s->open_count];
        if (!is_open(s, &f)) {
            fault_rows[f.kind].end(s, &f);
        }
        touch(s, f.node);
        touch_feed(s, f.kind);
        bounds_fault(s, &f);
        if (fault_rows[f.kind].end == end_pause) {
            bounds_restarted(s, f.node);
        }
    }
}

void faults_touch_open(struct swarm *s)
{
    for (unsigned i = 0; i < s->open_count; i++) {
        bounds_fault(s, &s->open[i]);
        touch(s, s->open[i].node);
        touch_feed(s, s->open[i].kind);
    }
    if (model_etcd_alarmed(store_etcd(s->cluster->store))) {
        checkers_touch(&s->checkers, -1);
    }
}

void faults_committed(struct swarm *s, struct node *by)
{
    if (s->kill_committer && node_up(by)) {
        s->kill_committer = false;
        s->doomed = by;
    }
    if (s->stale_bbs && s->checkers.started_cell && !s->starter_by) {
        s->starter_by = by;
        s->starter = s->checkers.started_cell;
        /* It has the answer by then, or not. */
        s->starter_ns = world_now(s->world) + swarm_draw(s, 0, 300 * MILLISECOND_NS);
    }
}

void faults_step(struct swarm *s)
{
    if (s->doomed && node_up(s->doomed)) {
        world_kill(s->world, s->doomed);
    }
    s->doomed = NULL;
    if (s->starter_by && world_now(s->world) >= s->starter_ns) {
        if (s->stale_bbs) {
            evacuate_starter(s, s->starter, s->starter_by);
        }
        s->starter_by = NULL;
    }
}

void swarm_restart_at(struct swarm *s, const struct node *n, int64_t at_ns)
{
    for (unsigned i = 0; i < s->node_count; i++) {
        s->restart_ns[i] = s->nodes[i] == n ? at_ns : s->restart_ns[i];
    }
}

void swarm_supervise(struct swarm *s)
{
    int64_t now = world_now(s->world);
    for (unsigned i = s->restoring ? s->cluster->options.bbs : 0; i < s->node_count; i++) {
        if (node_up(s->nodes[i])) {
            s->restart_ns[i] = NEVER_NS;
        } else if (s->restart_ns[i] == NEVER_NS) {
            s->restart_ns[i] = now + swarm_draw(s, 50 * MILLISECOND_NS, 6 * SECOND_NS);
            touch(s, s->nodes[i]);
            bounds_restarted(s, s->nodes[i]);
        } else if (s->restart_ns[i] <= now) {
            s->restart_ns[i] = NEVER_NS;
            checkers_restarted(&s->checkers, s->nodes[i]);
            world_start(s->world, s->nodes[i]);
            touch(s, s->nodes[i]);
            bounds_restarted(s, s->nodes[i]);
        }
    }
}

void swarm_start_all(struct swarm *s)
{
    for (unsigned i = 0; i < s->node_count; i++) {
        if (!node_up(s->nodes[i])) {
            checkers_restarted(&s->checkers, s->nodes[i]);
            world_start(s->world, s->nodes[i]);
        }
        s->restart_ns[i] = NEVER_NS;
    }
}

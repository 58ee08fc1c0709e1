/* The bounds of design.md 6 while faults last. What excuses a delay is said in rows, and no more
 * than delays: a fault hurts who it befalls; the time runs while nobody is hurt whom the bound
 * needs. What happened to another cell, to a leader, or to clients excuses no stop. */
#include "bbs/lrp/move.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/swarm/inside.h"

#include <string.h>

/* The look comes once a second. */
#define SLACK_NS (2 * SECOND_NS)
#define STOPPED_WITHIN_NS (15 * SECOND_NS)
#define LED_WITHIN_NS (8 * SECOND_NS)
/* What is lost runs elsewhere within 12 s, of which its place is free after so many; with the
 * leader 20 s. */
#define LOST_WITHIN_NS (10 * SECOND_NS)
#define BOTH_LOST_WITHIN_NS (20 * SECOND_NS)
#define AGAIN_WITHIN_NS (2 * SECOND_NS)
#define PLACED_WITHIN_NS (10 * SECOND_NS)
/* A cell that is hurt delays an auction by a question and a piece of work. */
#define DELAYED_NS (3 * SECOND_NS)
/* And who was hurt is asked again, or follows again, so much later. */
#define RECOVERED_NS (7 * SECOND_NS)
/* A bbs without a copy loads one, of which a page that was lost is asked for again after 5 s. */
#define LOADED_WITHIN_NS (6 * SECOND_NS)
/* An election of etcd takes up to so long. */
#define ELECTION_NS (4 * SECOND_NS)

static int number_of(struct node *const *list, unsigned count, const struct node *n)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i] == n) {
            return (int)i;
        }
    }
    return -1;
}

static void hurt(struct swarm *s, const struct node *n)
{
    int64_t now = world_now(s->world);
    for (unsigned i = 0; i < s->node_count; i++) {
        s->hurt_ns[i] = s->nodes[i] == n ? now : s->hurt_ns[i];
    }
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (!n || s->cluster->bbs[i] == n) {
            s->boards_hurt_ns = s->loads_ns[i] = now;
        }
    }
}

void bounds_fault(struct swarm *s, const struct open_fault *f)
{
    if (fault_rows[f->kind].harmless) {
        return;
    }
    hurt(s, f->node);
    if (f->other) {
        hurt(s, f->other);
    }
    if (f->kind == FAULT_ELECTION) {
        hurt(s, NULL);
        s->boards_hurt_ns = world_now(s->world) + ELECTION_NS;
    }
    if (f->kind == FAULT_CUT_STORE || f->kind == FAULT_EVACUATE_AT_ONCE) {
        hurt(s, NULL);
    }
}

void bounds_restarted(struct swarm *s, const struct node *n)
{
    hurt(s, n);
    int cell = checkers_cell(&s->checkers, n);
    if (cell >= 0 && node_up(n)) {
        s->silent_ns[cell] = world_now(s->world);
    }
}

/* Who follows a bbs that has loaded its copy again begins again, too, and judges cells by what it
 * hears from then on. That it loads excuses it no longer than loading takes. */
static void note_board(struct swarm *s, unsigned bbs)
{
    const struct checkers *k = &s->checkers;
    int64_t now = world_now(s->world), loads_ns = s->loads_ns[bbs];
    bool has_board = k->looks_since_ns[bbs] >= node_started_ns(s->cluster->bbs[bbs]);
    uint64_t reloads = s->reloads[bbs];
    bool loads = !checkers_has_copy(k, bbs, &s->reloads[bbs]);
    if (k->differs_since_ns[bbs] != NEVER_NS || !has_board || checkers_read_only(k, bbs) ||
        s->reloads[bbs] != reloads) {
        hurt(s, s->cluster->bbs[bbs]);
    } else if (!loads) {
        s->loads_ns[bbs] = now;
    } else if (now - loads_ns < LOADED_WITHIN_NS) {
        hurt(s, s->cluster->bbs[bbs]);
        s->loads_ns[bbs] = loads_ns;
    }
}

static void note_down(struct swarm *s)
{
    for (unsigned i = 0; i < s->node_count; i++) {
        if (!node_up(s->nodes[i]) || node_paused(s->nodes[i])) {
            hurt(s, s->nodes[i]);
        }
    }
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        note_board(s, i);
    }
    bool lacked = s->checkers.lacked_ns > s->boards_hurt_ns;
    if (model_etcd_alarmed(store_etcd(s->cluster->store)) || s->restoring || lacked) {
        hurt(s, NULL);
    }
}

static int64_t later_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t bounds_hurt_ns(const struct swarm *s, const struct node *n)
{
    int at = number_of(s->nodes, s->node_count, n);
    return at < 0 ? NEVER_NS : s->hurt_ns[at];
}

/* Since when this process and all bbs could do what the bound wants. */
static int64_t well_since_ns(const struct swarm *s, const struct node *n)
{
    return later_ns(bounds_hurt_ns(s, n), s->boards_hurt_ns);
}

static int cell_of(const struct swarm *s, const Models__ActualLRP *r)
{
    return checkers_cell_named(&s->checkers, r->actual_lrp_instance_key->cell_id);
}

/* ---- Stop and removal: 15 s, while the cell reaches a bbs ---- */

static const Models__ActualLRP *marked(const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    return r && r->stopping && r->actual_lrp_instance_key ? r : NULL;
}

static void judge_stop(void *swarm, const struct past *p)
{
    struct swarm *s = swarm;
    const Models__ActualLRP *r = marked(p);
    int number = r ? cell_of(s, r) : -1;
    struct node *cell = number < 0 ? NULL : s->cluster->cells[number];
    struct instance *i =
        r ? map_get(&s->checkers.instances, r->actual_lrp_instance_key->instance_guid) : NULL;
    if (!cell || !i) {
        return;
    }
    int64_t since_ns = p->at_ns, now = world_now(s->world);
    for (const struct past *was = p; marked(was); was = was->before) {
        since_ns = was->at_ns;
    }
    /* A verb that hangs is answered at its deadline, also when the runtime is well again; and a rep
     * that has just begun knows of no container before its listing is answered. */
    struct model_containers *containers = node_containers(cell);
    bool busy = model_containers_busy(containers, i->guid) || model_containers_listing(containers);
    i->busy_ns = busy ? now : i->busy_ns;
    since_ns = later_ns(later_ns(since_ns, i->busy_ns), well_since_ns(s, cell));
    if (now - since_ns > STOPPED_WITHIN_NS + SLACK_NS) {
        checkers_report(
            &s->checkers, "bounds",
            "%s/%d was asked to stop on %s, which reaches every bbs, and stands for %lld s",
            r->actual_lrp_key->process_guid, r->actual_lrp_key->index, node_name(cell),
            (long long)((now - since_ns) / SECOND_NS));
    }
}

/* ---- A leader: 8 s, while somebody can lead ---- */

static void judge_leader(struct swarm *s, const char *role, struct node *const *list,
                         unsigned count, int64_t *led_ns)
{
    int64_t now = world_now(s->world), able_ns = NEVER_NS;
    int leader = cluster_leader(s->cluster, role);
    if (leader >= 0 && node_up(list[leader]) && !node_paused(list[leader])) {
        *led_ns = now;
    } else if (leader >= 0) {
        *led_ns = later_ns(*led_ns, node_heard_ns(list[leader]));
    }
    for (unsigned i = 0; i < count; i++) {
        able_ns = earlier_ns(able_ns, well_since_ns(s, list[i]));
    }
    int64_t since_ns = later_ns(*led_ns, able_ns);
    if (now - since_ns > LED_WITHIN_NS + SLACK_NS) {
        checkers_report(&s->checkers, "bounds", "nobody leads as %s for %lld s, and one could",
                        role, (long long)((now - since_ns) / SECOND_NS));
    }
}

/* ---- Who crashed, or lost its cell, runs again ---- */

static bool of_limiter(const char *key)
{
    return strncmp(key, "brake", strlen("brake")) == 0;
}

struct waiting {
    struct swarm *s;
    unsigned count; /* instances and tasks that no cell has taken */
    bool holds;
};

static void count_waiting(void *context, const struct past *p)
{
    struct waiting *w = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    w->count += strcmp(r->state, "UNCLAIMED") == 0;
}

static void count_pending(void *context, const struct past *p)
{
    struct waiting *w = context;
    w->count += ((const Models__Task *)p->message)->state == MODELS__TASK__STATE__Pending;
}

static void note_limiter(void *context, const struct past *p)
{
    struct waiting *w = context;
    w->holds = w->holds || of_limiter(p->key);
}

static void note_cells(struct swarm *s)
{
    struct waiting w = {.s = s};
    int64_t now = world_now(s->world);
    history_each(&s->checkers.history, "actual/", count_waiting, &w);
    history_each(&s->checkers.history, "task/", count_pending, &w);
    history_each(&s->checkers.history, "brake/", note_limiter, &w);
    s->limited_ns = w.holds ? now : s->limited_ns;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        struct node *cell = s->cluster->cells[i];
        bool silent = !node_up(cell) || node_paused(cell);
        s->silent_ns[i] = silent ? later_ns(s->silent_ns[i], node_heard_ns(cell)) : now;
        s->roomy_ns[i] = checkers_room(&s->checkers, cell) > w.count ? s->roomy_ns[i] : now;
    }
}

/* Since when the one that leads does, and was well, with all bbs; NEVER_NS = nobody does. */
static int64_t leads_since_ns(struct swarm *s, const char *role, struct node *const *list,
                              bool also_term)
{
    int leader = cluster_leader(s->cluster, role);
    if (leader < 0) {
        return NEVER_NS;
    }
    SCOPED_ARENA(a);
    const struct past *leader_lock = map_get(&s->checkers.history.now, key_lead(&a, role));
    int64_t well_ns = well_since_ns(s, list[leader]);
    return leader_lock && also_term ? later_ns(leader_lock->at_ns, well_ns) : well_ns;
}

/* What it waits for is there since; NEVER_NS = it is not. Any cell with room will do, but one whose
 * runtime hangs with an old container of this very instance. */
static int64_t placeable_since_ns(struct swarm *s, const Models__ActualLRPKey *key)
{
    const struct cluster *c = s->cluster;
    int64_t room_ns = NEVER_NS;
    for (unsigned i = 0; i < c->options.cells; i++) {
        int64_t well_ns = later_ns(well_since_ns(s, c->cells[i]), s->roomy_ns[i]);
        room_ns = earlier_ns(room_ns, later_ns(well_ns, checkers_held_ns(&s->checkers, key, i)));
    }
    return later_ns(room_ns, leads_since_ns(s, "auctioneer", c->auctioneers, true));
}

static bool some_cell_hurt(const struct swarm *s)
{
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        int64_t hurt_ns = well_since_ns(s, s->cluster->cells[i]);
        if (world_now(s->world) - hurt_ns < RECOVERED_NS + SLACK_NS + PLACED_WITHIN_NS) {
            return true;
        }
    }
    return false;
}

/* No cell has claimed it. What crashed seldom, and what its cell took with it, is to run at once.
 */
static void judge_unplaced(struct swarm *s, const struct past *p, const Models__ActualLRP *r)
{
    int64_t able_ns = placeable_since_ns(s, r->actual_lrp_key), now = world_now(s->world);
    const char *move = p->cause ? p->cause->move : "";
    bool again = strcmp(move, "crash") == 0 || strcmp(move, "suspect") == 0;
    int64_t slack_ns = SLACK_NS + (some_cell_hurt(s) ? DELAYED_NS : 0);
    int64_t within_ns = again ? AGAIN_WITHIN_NS : PLACED_WITHIN_NS;
    if (able_ns == NEVER_NS || fits_no_cell(&s->checkers, r->actual_lrp_key->process_guid)) {
        return;
    }
    int64_t since_ns = later_ns(p->at_ns, able_ns + RECOVERED_NS);
    /* A cell that took it was hurt before its claim: then it is placed again at once (takers.c). */
    int64_t waited_ns = takers_waited_ns(s, r->actual_lrp_key->process_guid,
                                         r->actual_lrp_key->index);
    if (now > later_ns(since_ns + within_ns, waited_ns + AGAIN_WITHIN_NS) + slack_ns) {
        checkers_report(&s->checkers, "bounds",
                        "%s/%d waits for %lld s since its %s, and a cell has had room for all",
                        r->actual_lrp_key->process_guid, r->actual_lrp_key->index,
                        (long long)((now - since_ns) / SECOND_NS), move);
    }
}

/* A cell has taken it, and is well, and no verb of it is under way. */
static void judge_claimed(struct swarm *s, const struct past *p, const Models__ActualLRP *r,
                          int cell)
{
    struct node *n = s->cluster->cells[cell];
    int64_t now = world_now(s->world);
    struct instance *i =
        map_get(&s->checkers.instances, r->actual_lrp_instance_key->instance_guid);
    struct model_containers *m = node_containers(n);
    if (!i || s->checkers.evacuations[cell].on) {
        return;
    }
    bool busy = model_containers_busy(m, i->guid) || model_containers_listing(m) ||
                steps_still_begin(n, i->guid) || /* its setup takes its time */
                checks_still_fail(m, i->guid);
    i->busy_ns = busy ? now : i->busy_ns;
    int64_t since_ns = later_ns(later_ns(p->at_ns, i->busy_ns),
                                well_since_ns(s, n) + RECOVERED_NS);
    if (now - since_ns > AGAIN_WITHIN_NS + SLACK_NS) {
        checkers_report(&s->checkers, "bounds", "%s/%d is CLAIMED for %lld s on %s, which is well",
                        r->actual_lrp_key->process_guid, r->actual_lrp_key->index,
                        (long long)((now - since_ns) / SECOND_NS), node_name(n));
    }
}

/* As many cells as make a mass loss are silent for longer than healthy ones are: a loss waits for
 * them, too (design.md 6). */
static bool mass_loss_may_begin(const struct swarm *s)
{
    const struct settings *in_force = &s->checkers.settings;
    int64_t least_ns = in_force->detector.lost_ns - in_force->detector.spread_ns;
    int64_t silent = 0;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        silent += world_now(s->world) - node_heard_ns(s->cluster->cells[i]) >= least_ns;
    }
    return silent >= in_force->limiter.mass_least;
}

/* Its cell is down, and it is to run elsewhere. */
static void judge_lost(struct swarm *s, const struct past *p, const Models__ActualLRP *r, int cell)
{
    struct node *const *list = s->cluster->convergers;
    int64_t now = world_now(s->world);
    int64_t led_ns = leads_since_ns(s, "converger", list, false);
    int64_t term_ns = leads_since_ns(s, "converger", list, true);
    if (led_ns == NEVER_NS) {
        return;
    }
    const struct detector_windows *in_force = &s->checkers.settings.detector;
    int64_t since_ns = later_ns(later_ns(p->at_ns, s->silent_ns[cell]), s->limited_ns);
    since_ns = later_ns(since_ns, s->checkers.settings_ns);
    int64_t slack_ns = SLACK_NS + (mass_loss_may_begin(s) ? in_force->spread_ns : 0);
    slack_ns += in_force->lost_ns - SETTINGS_DEFAULT.detector.lost_ns;
    bool both = now - later_ns(since_ns, led_ns) > BOTH_LOST_WITHIN_NS + slack_ns;
    if (both || now - later_ns(since_ns, term_ns) > LOST_WITHIN_NS + slack_ns) {
        checkers_report(
            &s->checkers, "bounds", "%s is down for %lld s, and %s/%d is %s there still",
            node_name(s->cluster->cells[cell]), (long long)((now - s->silent_ns[cell]) / SECOND_NS),
            r->actual_lrp_key->process_guid, r->actual_lrp_key->index, r->state);
    }
}

static void judge_instance(void *swarm, const struct past *p)
{
    struct swarm *s = swarm;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    SCOPED_ARENA(a);
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)history_now(
        &s->checkers.history, key_desired(&a, r->actual_lrp_key->process_guid));
    bool ordinary = r->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
    if (!ordinary || r->stopping || !index_desired(d, r->actual_lrp_key->index)) {
        return;
    }
    int cell = r->actual_lrp_instance_key ? cell_of(s, r) : -1;
    if (strcmp(r->state, "UNCLAIMED") == 0) {
        judge_unplaced(s, p, r);
    } else if (cell >= 0 && strcmp(r->state, "CRASHED") != 0) {
        if (d->on_cell_loss == MODELS__ON_CELL_LOSS__REPLACE) {
            judge_lost(s, p, r, cell);
        }
        if (strcmp(r->state, "CLAIMED") == 0) {
            judge_claimed(s, p, r, cell);
        }
    }
}

void bounds_look(struct swarm *s)
{
    const struct cluster *c = s->cluster;
    if (s->went_back || s->result->faults[FAULT_LOST_WRITES]) {
        return; /* what stands now was written in another past, and an operator mends it */
    }
    note_down(s);
    note_cells(s);
    history_each(&s->checkers.history, "actual/", judge_stop, s);
    /* Clients that speak for cells claim what no cell has, and unclaim what one has. And who
     * follows a bbs that lacked a change may hear of it only by its next snapshot (checkers.h). */
    int64_t whole_ns = checkers_whole_ns(&s->checkers);
    if (!s->strays &&
        (!whole_ns || whole_ns + RECOVERED_NS + PLACED_WITHIN_NS < world_now(s->world))) {
        history_each(&s->checkers.history, "actual/", judge_instance, s);
    }
    judge_leader(s, "auctioneer", c->auctioneers, c->options.auctioneers, &s->auctioneer_led_ns);
    judge_leader(s, "converger", c->convergers, c->options.convergers, &s->converger_led_ns);
}

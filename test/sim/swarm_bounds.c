/* The bounds of DESIGN 6 while faults last. What excuses a delay is said in rows, and no more than delays:
 * a fault hurts who it befalls; the time runs while nobody is hurt whom the bound needs. What happened
 * to another cell, to a leader, or to clients excuses no stop. */
#include "models/actual_lrp.pb-c.h"
#include "test/sim/model_containers.h"
#include "test/sim/model_etcd.h"
#include "test/sim/swarm_parts.h"

#include <string.h>

/* The look comes once a second. */
#define SLACK_NS (2 * SECOND_NS)
#define STOPPED_WITHIN_NS (15 * SECOND_NS)
#define LED_WITHIN_NS (8 * SECOND_NS)

/* Faults that delay nothing, or whose end others tell: what they kill is down. */
static const bool harmless[FAULT_COUNT] = {
    [FAULT_DOUBLES] = true,      [FAULT_CLOCK_JUMP] = true,  [FAULT_FAILING_RUNTIME] = true,
    [FAULT_DEAF] = true,         [FAULT_KILL_COMMIT] = true, [FAULT_KILL_ASKING] = true,
    [FAULT_KILL_WITHIN] = true,  [FAULT_MASS_LOSS] = true,   [FAULT_EVACUATE] = true,
};

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
    for (unsigned i = 0; i < s->node_count; i++) {
        if (s->nodes[i] == n) {
            s->hurt_ns[i] = world_now(s->world);
        }
    }
    if (!n || number_of(s->cluster->bbs, s->cluster->options.bbs, n) >= 0) {
        s->boards_hurt_ns = world_now(s->world);
    }
}

void bounds_fault(struct swarm *s, const struct open_fault *f)
{
    if (harmless[f->kind]) {
        return;
    }
    hurt(s, f->node);
    if (f->other) {
        hurt(s, f->other);
    }
    if (f->kind == FAULT_CUT_STORE || f->kind == FAULT_EVACUATE_AT_ONCE) {
        hurt(s, NULL);
    }
}

void bounds_restarted(struct swarm *s, const struct node *n)
{
    hurt(s, n);
}

static void note_down(struct swarm *s)
{
    for (unsigned i = 0; i < s->node_count; i++) {
        if (!node_up(s->nodes[i]) || node_paused(s->nodes[i])) {
            hurt(s, s->nodes[i]);
        }
    }
    for (unsigned i = 0; i < s->cluster->options.bbs; i++) {
        if (s->checkers.differs_since_ns[i] != NEVER_NS) {
            hurt(s, s->cluster->bbs[i]);
        }
    }
    if (model_etcd_alarmed(world_etcd(s->world)) || s->restoring) {
        hurt(s, NULL);
    }
}

static int64_t later_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Since when this process and all bbs could do what the bound wants. */
static int64_t well_since_ns(const struct swarm *s, const struct node *n)
{
    int at = number_of(s->nodes, s->node_count, n);
    return at < 0 ? NEVER_NS : later_ns(s->hurt_ns[at], s->boards_hurt_ns);
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
    struct node *cell = NULL;
    for (unsigned i = 0; r && i < s->cluster->options.cells; i++) {
        bool here = strcmp(node_name(s->cluster->cells[i]),
                           r->actual_lrp_instance_key->cell_id) == 0;
        cell = here ? s->cluster->cells[i] : cell;
    }
    struct instance *i =
        r ? map_get(&s->checkers.instances, r->actual_lrp_instance_key->instance_guid) : NULL;
    if (!cell || !i) {
        return;
    }
    int64_t since_ns = p->at_ns, now = world_now(s->world);
    for (const struct past *was = p; marked(was); was = was->before) {
        since_ns = was->at_ns;
    }
    /* A verb that hangs is answered at its deadline, also when the runtime is well again; and a rep that has
     * just begun knows of no container before its listing is answered. */
    struct model_containers *containers = node_containers(cell);
    bool busy = model_containers_busy(containers, i->guid) || model_containers_listing(containers);
    i->busy_ns = busy ? now : i->busy_ns;
    since_ns = later_ns(later_ns(since_ns, i->busy_ns), well_since_ns(s, cell));
    if (now - since_ns > STOPPED_WITHIN_NS + SLACK_NS) {
        checkers_report(&s->checkers, "bounds",
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
    }
    for (unsigned i = 0; i < count; i++) {
        able_ns = earlier_ns(able_ns, well_since_ns(s, list[i]));
    }
    int64_t since_ns = later_ns(*led_ns, able_ns);
    if (now - since_ns > LED_WITHIN_NS + SLACK_NS) {
        checkers_report(&s->checkers, "bounds", "nobody leads as %s for %lld s, and one could", role,
                        (long long)((now - since_ns) / SECOND_NS));
    }
}

void bounds_look(struct swarm *s)
{
    const struct cluster *c = s->cluster;
    if (s->went_back || s->result->faults[FAULT_LOST_WRITES]) {
        return; /* what stands now was written in another past, and an operator mends it */
    }
    note_down(s);
    history_each(&s->checkers.history, "actual/", judge_stop, s);
    judge_leader(s, "auctioneer", c->auctioneers, c->options.auctioneers, &s->auctioneer_led_ns);
    judge_leader(s, "converger", c->convergers, c->options.convergers, &s->converger_led_ns);
}

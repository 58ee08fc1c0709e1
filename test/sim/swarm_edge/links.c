/* What befalls the links between a centre and its sites, and the CRMs: whatever befalls single
 * processes, CRMs among them, is the core's (test/sim/swarm/faults.c). */
#include "common/model/edge_name.h"
#include "test/sim/swarm_edge/inside.h"

#include <string.h>

#define SECONDS_CUT_NS (20 * SECOND_NS)
#define MINUTES_CUT_NS (6 * 60 * SECOND_NS)
#define HOURS_CUT_NS (70 * 60 * SECOND_NS) /* longer than any operation's limit, and twice that */
#define LONG_NS (20 * 60 * SECOND_NS)
#define LATE_NS (40 * SECOND_NS)

void link_cut(struct edge_site_play *x, bool cut)
{
    struct edge_swarm *s = x->swarm;
    const struct cluster *c = s->boards[0].cluster;
    for (unsigned i = 0; i < x->crm_count; i++) {
        for (unsigned b = 0; b < c->options.bbs; b++) {
            world_cut(s->world, x->crms[i], c->bbs[b], cut);
            world_cut(s->world, c->bbs[b], x->crms[i], cut);
        }
    }
    world_note(s->world, x->cloudlet, "its link is %s", cut ? "cut" : "whole");
    if (cut) {
        x->cut_since_ns = world_now(s->world);
    } else {
        s->result->cut_ns += world_now(s->world) - x->cut_since_ns;
    }
}

static void begin_cut(struct edge_swarm *s, struct edge_site_play *x)
{
    if (x->joined_ns) {
        return;
    }
    int64_t most = s->long_cuts && edge_chance(s, 10) ? HOURS_CUT_NS
                   : edge_chance(s, 20)               ? MINUTES_CUT_NS
                                                      : SECONDS_CUT_NS;
    int64_t lasts_ns = edge_draw(s, SECOND_NS, most);
    x->joined_ns = world_now(s->world) + lasts_ns;
    link_cut(x, true);
    s->result->done[EDGE_LINK_CUTS]++;
    s->result->done[EDGE_LONG_CUTS] += lasts_ns > LONG_NS;
}

static struct node *any_crm(struct edge_swarm *s, struct edge_site_play *x)
{
    return x->crms[random_below(&s->random, x->crm_count)];
}

/* Its words come when its successor may be at work. */
static void begin_late(struct edge_swarm *s, struct edge_site_play *x)
{
    struct node *n = any_crm(s, x);
    if (node_up(n) && !node_paused(n)) {
        world_kill_asking(s->world, n, edge_draw(s, 50 * MILLISECOND_NS, LATE_NS));
        s->result->done[EDGE_CRM_LATE]++;
    }
}

/* Longer than its lead at the site, and than its session at the centre, may last. */
static void begin_pause(struct edge_swarm *s, struct edge_site_play *x)
{
    struct swarm *board = x->board;
    struct open_fault f = {.kind = FAULT_LONG_PAUSE, .node = any_crm(s, x)};
    if (node_up(f.node) && !node_paused(f.node) && board->open_count < OPEN_FAULTS_MAX) {
        world_pause(s->world, f.node);
        f.until_ns = world_now(s->world) + edge_draw(s, SECOND_NS, 60 * SECOND_NS);
        board->open[board->open_count++] = f;
        s->result->done[EDGE_CRM_PAUSES]++;
    }
}

void links_step(struct edge_swarm *s)
{
    struct edge_site_play *x = &s->sites[random_below(&s->random, s->site_count)];
    unsigned what = (unsigned)random_below(&s->random, 10);
    if (what < 5) {
        begin_cut(s, x);
    } else if (what < 7) {
        x->crm_doomed = true;
    } else if (what < 9) {
        begin_late(s, x);
    } else {
        begin_pause(s, x);
    }
}

void links_end_due(struct edge_swarm *s, int64_t now_ns)
{
    for (unsigned i = 0; i < s->site_count; i++) {
        struct edge_site_play *x = &s->sites[i];
        if (x->joined_ns && x->joined_ns <= now_ns) {
            x->joined_ns = 0;
            link_cut(x, false);
        }
    }
}

int64_t links_due_ns(const struct edge_swarm *s)
{
    int64_t due = NEVER_NS;
    for (unsigned i = 0; i < s->site_count; i++) {
        due = s->sites[i].joined_ns ? earlier_ns(due, s->sites[i].joined_ns) : due;
    }
    return due;
}

/* The words of a CRM about something that is under way have just landed, or a user's. */
void links_committed(struct edge_swarm *s, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    const struct checkers *k = &s->boards[0].checkers;
    for (size_t i = 0; i < commit->txn->n_success; i++) {
        const Etcd__RequestOp *op = commit->txn->success[i];
        if (op->request_case != ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            continue;
        }
        const char *key =
            arena_strndup(&a, (const char *)op->request_put->key.data, op->request_put->key.len);
        const struct past *p = map_get(&k->history.now, key);
        if (!edge_head(p) || !edge_is_busy(edge_state(p))) {
            continue;
        }
        const char *cloudlet = edge_cloudlet_of(&a, edge_head(p)->name);
        for (unsigned n = 0; n < s->site_count; n++) {
            struct edge_site_play *x = &s->sites[n];
            if (x->crm_doomed && strcmp(x->cloudlet, cloudlet) == 0 && node_up(x->crms[0])) {
                x->crm_doomed = false;
                x->board->doomed = x->crms[0];
                s->result->done[EDGE_CRM_KILLS]++;
            }
        }
    }
}

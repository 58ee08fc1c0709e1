#include "test/sim/swarm_edge/swarm_edge.h"

#include "crm/crm.h"
#include "test/sim/model/containers.h"
#include "test/sim/model/etcd.h"
#include "test/sim/swarm_edge/inside.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS (1 * SECOND_NS)
#define VERIFY_NS (20 * SECOND_NS) /* between two lists by which a bbs verifies its copy */
#define READY_LIMIT_NS (60 * SECOND_NS)

#define LEAST_NS (30 * SECOND_NS)
#define AGAIN_NS (60 * SECOND_NS) /* an operator asks again what nobody answered */
/* A create and a delete after it, of the longest limits. */
#define CONVERGED_WITHIN_NS (75 * 60 * SECOND_NS)

enum { CELLS_MAX = 3, PERCENT_RESTORED = 10 };

int64_t edge_draw(struct edge_swarm *s, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(&s->random, (uint64_t)(high - low) + 1);
}

bool edge_chance(struct edge_swarm *s, unsigned percent)
{
    return random_below(&s->random, 100) < percent;
}

bool edge_clean(const struct edge_swarm *s)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        if (!checkers_clean(&s->boards[i].checkers)) {
            return false;
        }
    }
    return true;
}

/* ---- Who looks on ---- */

static struct swarm *board_of(struct edge_swarm *s, const struct cluster *c)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        if (s->boards[i].cluster == c) {
            return &s->boards[i];
        }
    }
    return NULL;
}

static struct swarm *board_of_node(struct edge_swarm *s, const struct node *n)
{
    return board_of(s, node_cluster(n));
}

/* Whose bbs has the URL. */
static struct swarm *board_of_url(struct edge_swarm *s, const char *url)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        const struct cluster *c = s->boards[i].cluster;
        for (unsigned b = 0; c && b < c->options.bbs; b++) {
            const char *own = node_url(c->bbs[b]);
            if (strncmp(url, own, strlen(own)) == 0) {
                return &s->boards[i];
            }
        }
    }
    return NULL;
}

static void committed(void *context, const struct world_commit *commit)
{
    struct edge_swarm *s = context;
    struct swarm *b = board_of_node(s, commit->by);
    checkers_committed(&b->checkers, commit);
    faults_committed(b, commit->by);
    if (b == &s->boards[0]) {
        links_committed(s, commit);
    }
}

static void asked(void *context, struct node *from, const struct call *call)
{
    struct swarm *b = board_of_url(context, call->url);
    if (b) {
        checkers_asked(&b->checkers, from, call);
    }
}

static void answered(void *context, const struct world_answer *answer)
{
    struct swarm *b = board_of_node(context, answer->by);
    checkers_answered(&b->checkers, answer);
    takers_answered(b, answer);
    if (b == &((struct edge_swarm *)context)->boards[0] && answer->status == 200) {
        edge_heard(&((struct edge_swarm *)context)->lives, answer->from);
    }
}

/* Looks on, and changes nothing. */
static void hears(void *context, struct node *n, struct event *ev, struct arena *a)
{
    struct edge_swarm *s = context;
    (void)a;
    if (ev->kind == EVENT_STREAM && strncmp(node_name(n), "crm", 3) == 0) {
        edge_sent(&s->lives, n, ev->stream.data);
    }
}

static void probed(void *context, struct node *n, const struct probe *probe,
                   const struct probed *end)
{
    checkers_probed(&board_of_node(context, n)->checkers, probe, end);
}

static void executed(void *context, struct node *n, const struct verb_answer *answer)
{
    checkers_executed(&board_of_node(context, n)->checkers, answer);
}

static void verb(void *context, struct node *n, const struct verb_call *call)
{
    checkers_verb(&board_of_node(context, n)->checkers, n, call);
}

static void logged(void *context, struct node *n, const struct log_line *line)
{
    struct swarm *b = board_of_node(context, n);
    const char *board_generation = strstr(line->data, "board_generation=");
    if (board_generation && strcmp(line->message, "the board is loaded") == 0) {
        checkers_loaded(&b->checkers, n, board_generation);
    }
    checkers_logged(&b->checkers, n, line);
}

/* ---- A centre and its sites ---- */

static struct span draw_span(struct edge_swarm *s, int64_t longest_ns)
{
    struct span span = {.low_ns = edge_draw(s, 50 * MICROSECOND_NS, 400 * MICROSECOND_NS)};
    int64_t high = edge_chance(s, 50) ? longest_ns : 3 * MILLISECOND_NS;
    span.high_ns = span.low_ns + edge_draw(s, 0, high);
    return span;
}

static struct cluster_options draw_cluster(struct edge_swarm *s, uint64_t seed, const char *name)
{
    static const int64_t intervals[] = {5 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS};
    return (struct cluster_options){
        .world = {.seed = seed,
                  .network = draw_span(s, 20 * MILLISECOND_NS),
                  .store = draw_span(s, 20 * MILLISECOND_NS),
                  .watch_lag = draw_span(s, 150 * MILLISECOND_NS)},
        .name = name,
        .bbs = (unsigned)edge_draw(s, 1, 2),
        .cells = name ? (unsigned)edge_draw(s, 1, CELLS_MAX) : 1,
        .zones = 1,
        .auctioneers = 1,
        .convergers = (unsigned)edge_draw(s, 1, name ? 1 : 2),
        .cell_instances = (unsigned)edge_draw(s, 4, 16),
        .reconcile_interval_ns = intervals[random_below(&s->random, 3)],
        .evacuation_ns = edge_draw(s, 10, 60) * SECOND_NS,
        .verify_interval_ns = VERIFY_NS,
    };
}

static void add_nodes(struct swarm *b, struct node *const *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        b->nodes[b->node_count++] = list[i];
    }
}

static struct role *make_crm(void *context, unsigned incarnation)
{
    const struct edge_site_play *x = context;
    const struct cluster *c = x->board->cluster;
    struct arena *a = &x->swarm->arena;
    (void)incarnation;
    char *boards = arena_strdup(a, "");
    for (unsigned i = 0; i < c->options.bbs; i++) {
        boards = arena_printf(a, "%s%s%s", boards, i ? "," : "", node_url(c->bbs[i]));
    }
    const char *name = arena_printf(a, "crm.%s", c->options.name);
    return crm_new(&(struct crm_config){.name = name,
                                        .cloudlet = x->cloudlet,
                                        .version = "1.0",
                                        .boards = boards,
                                        .centres = x->swarm->centres,
                                        .url = arena_printf(a, "https://%s:9025", name)});
}

static void add_crms(struct edge_swarm *s, struct edge_site_play *x)
{
    struct cluster *c = x->board->cluster;
    x->crm_count = edge_chance(s, 30) ? 2 : 1;
    s->result->done[EDGE_STANDBYS] += x->crm_count - 1;
    for (unsigned i = 0; i < x->crm_count; i++) {
        const char *name =
            arena_printf(&s->arena, i ? "crm-%2$u.%1$s" : "crm.%1$s", c->options.name, i + 1);
        x->crms[i] = world_add(
            s->world, &(struct node_config){.name = name,
                                            .unit = "site",
                                            .certificate_name = name,
                                            .centre_name = x->cloudlet,
                                            .url = arena_printf(&s->arena, "https://%s:9025", name),
                                            .cluster = c,
                                            .make = make_crm,
                                            .context = x});
    }
}

/* The cells last: the core's faults go by that. */
static void begin_board(struct edge_swarm *s, struct swarm *b, const struct cluster_options *o,
                        uint64_t seed, struct edge_site_play *x)
{
    b->world = s->world;
    b->result = &s->result->base;
    arena_init(&b->arena);
    random_seed(&b->random, (uint64_t[2]){0x65646765, seed});
    checkers_init(&b->checkers, b->cluster, o->reconcile_interval_ns);
    add_nodes(b, b->cluster->bbs, o->bbs);
    add_nodes(b, b->cluster->auctioneers, o->auctioneers);
    add_nodes(b, b->cluster->convergers, o->convergers);
    if (x) {
        add_crms(s, x);
        add_nodes(b, x->crms, x->crm_count);
    }
    add_nodes(b, b->cluster->cells, o->cells);
    for (unsigned i = 0; i < o->cells; i++) {
        model_containers_waver(node_containers(b->cluster->cells[i]), seed + i);
    }
    faults_init(b, seed);
    evacuations_init(b, seed);
    b->ready = true;
    b->fault_pace_ns = edge_draw(s, 500 * MILLISECOND_NS, 8 * SECOND_NS);
    b->oldest_revision = 0;
}

static void make_world(struct edge_swarm *s, uint64_t seed, bool trace)
{
    struct cluster_options o = draw_cluster(s, seed, NULL);
    struct cluster *centre = cluster_new(&o);
    s->world = centre->world;
    s->boards[0].cluster = centre;
    s->site_count = edge_chance(s, 60) ? 1 : (unsigned)edge_draw(s, 2, EDGE_SITES_MAX);
    s->centres = arena_strdup(&s->arena, "");
    for (unsigned i = 0; i < o.bbs; i++) {
        s->centres =
            arena_printf(&s->arena, "%s%s%s", s->centres, i ? "," : "", node_url(centre->bbs[i]));
    }
    begin_board(s, &s->boards[0], &o, seed, NULL);
    edge_lives_init(&s->lives, &s->boards[0].checkers);
    s->lives.tells = trace;
    for (unsigned i = 0; i < s->site_count; i++) {
        struct edge_site_play *x = &s->sites[i];
        struct swarm *b = &s->boards[i + 1];
        o = draw_cluster(s, seed, arena_printf(&s->arena, "s%u", i + 1));
        b->cluster = cluster_beside(centre, &o);
        *x = (struct edge_site_play){.swarm = s,
                                     .board = b,
                                     .number = i + 1,
                                     .cloudlet = arena_printf(&s->arena, "acme/s%u", i + 1)};
        begin_board(s, b, &o, seed ^ ((uint64_t)(i + 1) << 32), x);
        edge_lives_add(&s->lives, &b->checkers, x->cloudlet);
    }
    s->result->done[EDGE_SITES] += s->site_count;
    world_observe(s->world, &(struct world_observer){.committed = committed,
                                                     .asked = asked,
                                                     .answered = answered,
                                                     .verb = verb,
                                                     .logged = logged,
                                                     .probed = probed,
                                                     .executed = executed,
                                                     .context = s});
    world_bend(s->world, hears, s);
    s->ask_pace_ns = edge_draw(s, 200 * MILLISECOND_NS, 3 * SECOND_NS);
    s->link_pace_ns = edge_draw(s, 5 * SECOND_NS, 60 * SECOND_NS);
    s->overrides = edge_chance(s, 60);
    s->long_cuts = edge_chance(s, 10);
    s->maintains = edge_chance(s, 50);
}

/* ---- A life of it ---- */

bool edge_run_to(struct edge_swarm *s, int64_t until_ns)
{
    while (edge_clean(s) && world_step(s->world, until_ns)) {
        for (unsigned i = 0; i <= s->site_count; i++) {
            faults_step(&s->boards[i]);
        }
    }
    return edge_clean(s);
}

static bool all_ready(void *context)
{
    struct edge_swarm *s = context;
    for (unsigned i = 0; i <= s->site_count; i++) {
        if (!cluster_ready(s->boards[i].cluster)) {
            return false;
        }
    }
    return true;
}

static int64_t next_ns(const struct edge_swarm *s)
{
    int64_t next = earlier_ns(earlier_ns(s->ask_ns, s->link_ns), links_due_ns(s));
    for (unsigned i = 0; i <= s->site_count; i++) {
        next = earlier_ns(next, faults_due_ns(&s->boards[i]));
    }
    return next;
}

static void look(struct edge_swarm *s)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        faults_touch_open(&s->boards[i]);
        checkers_look(&s->boards[i].checkers);
    }
}

static void note_restores(struct edge_swarm *s, unsigned board, bool began)
{
    if (!began) {
        return;
    }
    s->result->done[board ? EDGE_SITE_RESTORES : EDGE_CENTRE_RESTORES]++;
    for (unsigned i = 0; !board && i < s->site_count; i++) {
        s->sites[i].unconfirmed = true;
    }
}

/* Losses, delays and broken connections befall all of the world, whichever cluster's they are drawn
 * for. */
static bool is_shared(enum swarm_fault kind)
{
    return kind == FAULT_LOSSES || kind == FAULT_DELAYS || kind == FAULT_STORE_LOSSES ||
           kind == FAULT_STORE_DELAYS || kind == FAULT_DOUBLES;
}

static bool befalls_all(const struct edge_swarm *s)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        for (unsigned n = 0; n < s->boards[i].open_count; n++) {
            if (is_shared(s->boards[i].open[n].kind)) {
                return true;
            }
        }
    }
    return false;
}

static void touch_all(struct edge_swarm *s)
{
    for (unsigned i = 0; i <= s->site_count; i++) {
        checkers_touch(&s->boards[i].checkers, -1);
    }
}

static void supervise(struct edge_swarm *s, int64_t now)
{
    if (befalls_all(s)) { /* it may end now */
        touch_all(s);
    }
    for (unsigned i = 0; i <= s->site_count; i++) {
        struct swarm *b = &s->boards[i];
        faults_end_due(b, now);
        bool was = b->restoring;
        restore_begin(b);
        note_restores(s, i, b->restoring && !was);
        swarm_supervise(b);
    }
    links_end_due(s, now);
}

/* Users, faults of each cluster, and what befalls the links; all is looked at each second. */
static void trouble(struct edge_swarm *s, int64_t duration_ns)
{
    int64_t now = world_now(s->world), end = now + duration_ns, look_ns = now + LOOK_NS;
    int64_t fault_ns[1 + EDGE_SITES_MAX];
    s->ask_ns = s->link_ns = now;
    for (unsigned i = 0; i <= s->site_count; i++) {
        fault_ns[i] = now + s->boards[i].fault_pace_ns;
        if (edge_chance(s, PERCENT_RESTORED)) {
            s->boards[i].restore_ns = now + edge_draw(s, 0, duration_ns);
        }
    }
    while (now < end) {
        int64_t next = earlier_ns(look_ns, next_ns(s));
        for (unsigned i = 0; i <= s->site_count; i++) {
            next = earlier_ns(next, fault_ns[i]);
        }
        if (!edge_run_to(s, earlier_ns(end, next))) {
            return;
        }
        now = world_now(s->world);
        supervise(s, now);
        if (s->ask_ns <= now) {
            users_step(s);
            s->ask_ns = now + edge_draw(s, 1, 2 * s->ask_pace_ns);
        }
        if (s->link_ns <= now) {
            links_step(s);
            s->link_ns = now + edge_draw(s, 1, 2 * s->link_pace_ns);
        }
        for (unsigned i = 0; i <= s->site_count; i++) {
            if (fault_ns[i] <= now) {
                unsigned storms = s->result->base.faults[FAULT_STORM];
                faults_begin_one(&s->boards[i]);
                if (storms != s->result->base.faults[FAULT_STORM] || befalls_all(s)) {
                    touch_all(s);
                }
                fault_ns[i] = now + edge_draw(s, 1, 2 * s->boards[i].fault_pace_ns);
            }
        }
        if (look_ns <= now) {
            look(s);
            look_ns = now + LOOK_NS;
        }
    }
}

static void heal_board(struct swarm *b)
{
    faults_end_due(b, NEVER_NS);
    b->kill_committer = false;
    b->doomed = NULL;
    b->restore_ns = NEVER_NS;
    b->rates = (struct world_faults){.late_by = b->rates.late_by};
    world_faults(b->world, &b->rates);
    swarm_start_all(b);
    for (unsigned i = 0; i < b->node_count; i++) {
        world_set_clock(b->world, b->nodes[i]);
        world_kill_asking(b->world, b->nodes[i], 0);
        if (world_slip_waits(b->nodes[i])) {
            world_slip_watch(b->world, b->nodes[i], SLIP_NONE);
        }
    }
    checkers_touch(&b->checkers, -1);
}

/* All but links that are cut for hours: these are waited for. */
static void heal(struct edge_swarm *s)
{
    world_note(s->world, "swarm", "heals everything");
    for (unsigned i = 0; i <= s->site_count; i++) {
        heal_board(&s->boards[i]);
    }
    for (unsigned i = 0; i < s->site_count; i++) {
        s->sites[i].crm_doomed = false;
    }
    while (links_due_ns(s) != NEVER_NS && edge_clean(s)) {
        edge_run_to(s, earlier_ns(links_due_ns(s), world_now(s->world) + LOOK_NS));
        supervise(s, world_now(s->world));
        look(s);
    }
}

static bool at_rest(struct edge_swarm *s, struct buf *why)
{
    buf_clear(why);
    for (unsigned i = 0; i <= s->site_count; i++) {
        checkers_at_rest(&s->boards[i].checkers, why);
    }
    return why->size == 0;
}

/* Nothing befalls it any more: all comes to rest, at the latest when what waits for room, or for
 * what does not come, has given up. */
static void converge(struct edge_swarm *s)
{
    SCOPED_BUF(why);
    int64_t healed = world_now(s->world), limit = healed + CONVERGED_WITHIN_NS, asks_ns = healed;
    bool rest = false;
    while (!rest && world_now(s->world) < limit) {
        if (!edge_run_to(s, world_now(s->world) + LOOK_NS)) {
            return;
        }
        supervise(s, world_now(s->world));
        look(s);
        if (world_now(s->world) >= asks_ns) {
            users_confirm(s);
            users_end_maintenance(s);
            asks_ns = world_now(s->world) + AGAIN_NS;
        }
        for (unsigned i = 0; i <= s->site_count; i++) {
            checkers_look_healed(&s->boards[i].checkers);
        }
        rest = world_now(s->world) - healed >= LEAST_NS && at_rest(s, &why);
    }
    if (!rest) {
        checkers_report(&s->boards[0].checkers, "liveness", "%lld s after the heal: %s",
                        (long long)((world_now(s->world) - healed) / SECOND_NS), buf_string(&why));
    }
}

/* ---- EL4 ---- */

static const char *info_state(struct edge_swarm *s, const struct edge_site_play *x)
{
    SCOPED_ARENA(a);
    const Board__CloudletInfoRecord *i = (const Board__CloudletInfoRecord *)history_now(
        &s->boards[0].checkers.history, key_edge(&a, RECORD_CLOUDLETINFO, x->cloudlet));
    return i ? i->state : "not there";
}

static void expect(struct edge_swarm *s, const struct edge_site_play *x, const char *state,
                   int64_t within_ns)
{
    int64_t until = world_now(s->world) + within_ns;
    while (strcmp(info_state(s, x), state) != 0 && world_now(s->world) < until &&
           edge_run_to(s, world_now(s->world) + LOOK_NS)) {
        supervise(s, world_now(s->world));
        look(s);
    }
    if (strcmp(info_state(s, x), state) != 0) {
        checkers_report(&s->boards[0].checkers, "EL4", "%s is %s, and not %s after %lld s",
                        x->cloudlet, info_state(s, x), state, (long long)(within_ns / SECOND_NS));
    }
}

/* A silent site is OFFLINE, and READY again when it is back; nothing comes of it. */
static void fall_silent(struct edge_swarm *s)
{
    struct edge_site_play *x = &s->sites[random_below(&s->random, s->site_count)];
    link_cut(x, true);
    expect(s, x, "OFFLINE", 45 * SECOND_NS);
    edge_run_to(s, world_now(s->world) + edge_draw(s, 0, 60 * SECOND_NS));
    link_cut(x, false);
    expect(s, x, "READY", 45 * SECOND_NS); /* the back-off of its dialling, and 15 s */
    s->result->done[EDGE_SILENCED]++;
}

static void finish(struct edge_swarm *s, bool trace)
{
    struct swarm_result *r = &s->result->base;
    for (unsigned i = 0; i <= s->site_count; i++) {
        struct checkers *k = &s->boards[i].checkers;
        if (!checkers_clean(k)) {
            buf_printf(&r->reason, "%s%s: %s", r->failed ? "; " : "",
                       i ? s->sites[i - 1].cloudlet : "centre", buf_string(&k->violation));
            r->failed = true;
        }
        for (int n = 0; n < SEEN_COUNT; n++) {
            r->seen[n] += k->seen[n];
        }
    }
    if (r->failed || trace) {
        buf_append_string(&r->trace, world_trace(s->world));
    }
    r->virtual_ns = world_now(s->world);
}

static void end(struct edge_swarm *s)
{
    cluster_free(s->boards[0].cluster);
    for (unsigned i = 0; i <= s->site_count; i++) {
        checkers_done(&s->boards[i].checkers);
        map_done(&s->boards[i].takers, NULL);
        arena_done(&s->boards[i].arena);
    }
    edge_lives_done(&s->lives);
    arena_done(&s->arena);
}

void edge_swarm_run(uint64_t seed, bool trace, struct edge_result *ret)
{
    struct edge_swarm *s = calloc(1, sizeof(*s));
    *ret = (struct edge_result){0};
    buf_init(&ret->base.reason);
    buf_init(&ret->base.trace);
    s->result = ret;
    arena_init(&s->arena);
    random_seed(&s->random, (uint64_t[2]){0x737761726d, seed});
    make_world(s, seed, trace);
    world_trace_logs(s->world, trace);
    if (world_run_until(s->world, READY_LIMIT_NS, all_ready, s)) {
        users_begin(s);
        for (unsigned i = 0; i < s->site_count; i++) {
            for (unsigned n = 0; n < s->sites[i].crm_count; n++) {
                world_start(s->world, s->sites[i].crms[n]);
            }
        }
        edge_run_to(s, world_now(s->world) + 5 * SECOND_NS);
        for (unsigned i = 0; i <= s->site_count; i++) {
            s->boards[i].oldest_revision =
                model_etcd_revision(store_etcd(s->boards[i].cluster->store));
        }
        trouble(s, edge_draw(s, 20 * SECOND_NS, 180 * SECOND_NS));
        heal(s);
        converge(s);
        if (edge_clean(s) && edge_chance(s, 50)) {
            fall_silent(s);
            converge(s);
        }
    } else {
        checkers_report(&s->boards[0].checkers, "liveness", "not all is ready after 60 s");
    }
    finish(s, trace);
    end(s);
    free(s);
}

void edge_result_done(struct edge_result *r)
{
    buf_done(&r->base.reason);
    buf_done(&r->base.trace);
}

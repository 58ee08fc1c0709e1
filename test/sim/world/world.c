#include "test/sim/world/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/sim/model/containers.h"
#include "test/sim/world/inside.h"

static struct span span_or(struct span given, int64_t fallback_ns)
{
    return given.high_ns ? given : (struct span){fallback_ns, fallback_ns};
}

struct world *world_new(const struct world_options *options)
{
    struct world *w = calloc(1, sizeof(*w));
    assert(w);
    w->options = *options;
    w->options.network = span_or(options->network, 200 * MICROSECOND_NS);
    w->options.store = span_or(options->store, 300 * MICROSECOND_NS);
    w->options.watch_lag = span_or(options->watch_lag, 400 * MICROSECOND_NS);
    random_seed(&w->random, (uint64_t[2]){options->seed, 0x636f726b});
    queue_init(&w->queue);
    buf_init(&w->trace);
    w->next_request_id = 1;
    return w;
}

void world_free(struct world *w)
{
    for (size_t i = 0; i < w->node_count; i++) {
        struct node *n = w->nodes[i];
        if (n->role) {
            world_kill(w, n);
        }
    }
    network_free(w);
    outside_free(w);
    for (size_t i = 0; i < w->node_count; i++) {
        model_containers_free(w->nodes[i]->containers);
        free(w->nodes[i]->held);
        free(w->nodes[i]);
    }
    queue_done(&w->queue);
    for (size_t i = 0; i < w->store_count; i++) {
        store_free(w->stores[i]);
    }
    buf_done(&w->trace);
    free(w);
}

int64_t world_now(const struct world *w)
{
    return w->now_ns;
}

int64_t world_wall(const struct world *w)
{
    return WORLD_WALL_START_NS + w->now_ns;
}

struct random *world_random(struct world *w)
{
    return &w->random;
}

int64_t world_draw(struct world *w, struct span span)
{
    uint64_t width = (uint64_t)(span.high_ns - span.low_ns);
    return span.low_ns + (width ? (int64_t)random_below(&w->random, width + 1) : 0);
}

struct node *world_add(struct world *w, const struct node_config *config)
{
    if (w->node_count == WORLD_NODES_MAX) {
        return NULL;
    }
    struct node *n = calloc(1, sizeof(*n));
    assert(n);
    n->config = *config;
    n->world = w;
    n->index = w->node_count;
    n->clock_jumped_ns = n->store_troubled_ns = NEVER_NS;
    n->containers = config->has_containers ? model_containers_new() : NULL;
    w->nodes[w->node_count++] = n;
    return n;
}

const char *node_name(const struct node *n)
{
    return n->config.name;
}

const struct cluster *node_cluster(const struct node *n)
{
    return n->config.cluster;
}

unsigned node_incarnation(const struct node *n)
{
    return n->incarnation;
}

struct kept_evacuation node_evacuation(const struct node *n)
{
    struct kept_evacuation kept = n->evacuation;
    kept.boot_id = n->boot_id;
    kept.handed_on = n->evacuation_incarnation + 1 >= n->incarnation;
    return kept;
}

const char *node_url(const struct node *n)
{
    return n->config.url;
}

int64_t node_started_ns(const struct node *n)
{
    return n->started_ns;
}

int64_t node_heard_ns(const struct node *n)
{
    return n->heard_ns;
}

bool node_up(const struct node *n)
{
    return n->role != NULL;
}

struct role *node_role(struct node *n)
{
    return n->role;
}

struct model_containers *node_containers(struct node *n)
{
    return n->containers;
}

void world_start(struct world *w, struct node *n)
{
    assert(!n->role);
    n->starts++;
    n->started_ns = w->now_ns;
    n->incarnation++;
    world_note(w, n->config.name, "starts");
    n->role = n->config.make(n->config.context, n->incarnation);
    node_step(n, &(struct event){.kind = EVENT_START});
}

/* What waited is handled now, in order. */
static void release(struct node *n)
{
    n->paused = false;
    for (size_t i = 0; i < n->held_count; i++) {
        queue_push(&n->world->queue, n->held[i], n->world->now_ns);
    }
    n->held_count = 0;
}

void node_hold(struct node *n, struct item *i)
{
    if (n->held_count == n->held_capacity) {
        n->held_capacity = n->held_capacity ? 2 * n->held_capacity : 64;
        n->held = realloc(n->held, n->held_capacity * sizeof(struct item *));
        assert(n->held);
    }
    n->held[n->held_count++] = i;
}

void world_pause(struct world *w, struct node *n)
{
    assert(n->role && !n->paused);
    world_note(w, n->config.name, "is paused");
    n->paused = true;
}

void world_wake(struct world *w, struct node *n)
{
    assert(n->paused);
    world_note(w, n->config.name, "wakes");
    release(n);
}

bool node_paused(const struct node *n)
{
    return n->paused;
}

void world_jump_clock(struct world *w, struct node *n, int64_t by_ns)
{
    world_note(w, n->config.name, "its wall clock jumps by %lld ms",
               (long long)(by_ns / MILLISECOND_NS));
    bool again = n->clock_jumped_ns != NEVER_NS && w->now_ns - n->clock_jumped_ns < CLOCK_CALM_NS;
    int64_t most_ns = again ? n->clock_most_ns : n->clock_ahead_ns;
    n->clock_ahead_ns += by_ns;
    n->clock_most_ns = most_ns > n->clock_ahead_ns ? most_ns : n->clock_ahead_ns;
    n->clock_jumped_ns = w->now_ns;
}

void world_set_clock(struct world *w, struct node *n)
{
    if (n->clock_ahead_ns) {
        world_jump_clock(w, n, -n->clock_ahead_ns);
    }
}

static void evacuation_on_disk(struct node *n)
{
    n->evacuation = n->keeping;
    n->evacuation_incarnation = n->incarnation;
    memcpy(n->boot_id, n->keeping_boot_id, sizeof(n->boot_id));
    n->keeping_id = 0;
}

/* What the process was about to keep may be on the disk by now, or not. */
static void evacuation_torn(struct node *n)
{
    if (n->keeping_id && random_below(&n->world->random, 2)) {
        evacuation_on_disk(n);
    }
    n->keeping_id = 0;
}

static void node_down(struct node *n)
{
    evacuation_torn(n);
    release(n);
    network_node_down(n);
    n->dies = n->last_words = false;
    n->last_words_late_ns = 0;
    n->launches = 0;
    store_unwatch(n);
    n->timer++;
    if (n->containers) {
        model_containers_orphaned(n->containers, node_mono_ns(n));
    }
    role_free(n->role);
    n->role = NULL;
}

void world_kill(struct world *w, struct node *n)
{
    assert(n->role);
    world_note(w, n->config.name, "is killed");
    node_down(n);
}

void world_kill_within(struct world *w, struct node *n, unsigned effects)
{
    assert(n->role);
    n->dies = true;
    n->dies_after = effects;
}

void world_kill_asking(struct world *w, struct node *n, int64_t late_ns)
{
    assert(n->role);
    n->last_words_late_ns = late_ns;
}

bool world_end_container(struct world *w, struct node *n, int which, int exit_code)
{
    (void)w;
    const char *guid = model_containers_guid(n->containers, which);
    if (!guid) {
        return false;
    }
    model_containers_end(n->containers, node_mono_ns(n), guid, exit_code, 0);
    containers_changed(n);
    return true;
}

bool world_end_step(struct world *w, struct node *n, const char *guid, uint32_t step, int exit_code,
                    bool lost)
{
    bool ended =
        model_containers_end_step(n->containers, node_mono_ns(n), guid, step, exit_code, 0, lost);
    if (ended) {
        world_note(w, n->config.name, lost ? "a step is lost" : "a step ends");
        containers_changed(n);
    }
    return ended;
}

void world_reboot(struct world *w, struct node *n, bool gone)
{
    assert(!n->role);
    world_note(w, n->config.name, gone ? "its containers are gone" : "its containers end with it");
    model_containers_reboot(n->containers, gone);
    n->boots++;
    n->booted_ns = w->now_ns;
}

unsigned node_boots(const struct node *n)
{
    return n->boots;
}

int64_t node_mono_ns(const struct node *n)
{
    return n->world->now_ns - n->booted_ns;
}

void world_break_connections(struct world *w)
{
    world_note(w, "network", "every connection breaks");
    network_break(w);
    for (size_t i = 0; i < w->node_count; i++) {
        world_break_watch(w, w->nodes[i]);
    }
}

void world_stop(struct world *w, struct node *n)
{
    world_note(w, n->config.name, "is told to stop");
    node_step(n, &(struct event){.kind = EVENT_STOP});
}

void world_cut(struct world *w, struct node *from, struct node *to, bool cut)
{
    if (from && to) {
        from->cut_to[to->index] = cut;
    } else if (from) {
        from->cut_to_etcd = cut;
    } else {
        to->cut_from_etcd = cut;
        store_feed_watch(to);
    }
}

void world_faults(struct world *w, const struct world_faults *faults)
{
    w->faults = *faults;
}

bool world_strikes(struct world *w, unsigned permille)
{
    return permille && random_below(&w->random, 1000) < permille;
}

void world_observe(struct world *w, const struct world_observer *observer)
{
    w->observer = *observer;
}

void world_bend(struct world *w, world_bending *bend, void *context)
{
    w->bend = bend;
    w->bend_context = context;
}

struct timer {
    struct node *node;
    uint64_t generation;
};

static void timer_due(void *world, struct item *item)
{
    struct timer *t = item->payload;
    if (t->node->role && t->node->timer == t->generation) {
        node_step(t->node, &(struct event){.kind = EVENT_TIMER});
    }
}

static void set_timer(struct node *n, int64_t due_ns)
{
    n->timer++;
    if (due_ns == NEVER_NS) {
        return;
    }
    struct item *i = item_new(timer_due);
    struct timer *t = ARENA_NEW(&i->arena, struct timer);
    *t = (struct timer){.node = n, .generation = n->timer};
    i->payload = t;
    i->owner = n;
    /* A role that is late for its own timer must still let time pass, or the world would hang. */
    int64_t soonest = n->world->now_ns + 10 * MICROSECOND_NS;
    queue_push(&n->world->queue, i, due_ns > soonest ? due_ns : soonest);
}

static void trace_log(struct node *n, const struct log_line *l)
{
    if (n->world->trace_logs) {
        world_note(n->world, n->config.name, "log: %s%s%s", l->message, *l->data ? " " : "",
                   l->data);
    }
}

struct kept {
    unsigned incarnation;
    unsigned start; /* of the process that asked */
};

static void incarnation_kept(void *world, struct item *item)
{
    struct node *n = item->owner;
    const struct kept *kept = item->payload;
    if (n->role && n->starts == kept->start) {
        node_step(n,
                  &(struct event){.kind = EVENT_INCARNATION,
                                  .incarnation = {.incarnation = kept->incarnation, .text = ""}});
    }
}

/* The disk takes a moment; whether the process hears of it or dies before, it is kept. */
static void keep_incarnation(struct node *n, uint64_t incarnation)
{
    assert(incarnation > n->incarnation);
    n->incarnation = (unsigned)incarnation;
    n->evacuation_incarnation = n->incarnation; /* raised along with it (rep/state_dir_io.h) */
    struct item *i = item_new(incarnation_kept);
    struct kept *kept = ARENA_NEW(&i->arena, struct kept);
    *kept = (struct kept){.incarnation = n->incarnation, .start = n->starts};
    i->payload = kept;
    i->owner = n;
    queue_push(&n->world->queue, i, n->world->now_ns + 2 * MILLISECOND_NS);
}

struct keeping {
    uint64_t id;
    unsigned start; /* of the process that asked */
};

static void evacuation_kept(void *world, struct item *item)
{
    struct node *n = item->owner;
    const struct keeping *keeping = item->payload;
    if (n->role && n->starts == keeping->start && n->keeping_id == keeping->id) {
        evacuation_on_disk(n);
        node_step(n, &(struct event){.kind = EVENT_EVACUATION,
                                     .evacuation = {.id = keeping->id, .text = ""}});
    }
}

/* It is there when the disk has answered; who dies before has kept it or not. */
static void keep_evacuation(struct node *n, uint64_t id, const struct kept_evacuation *kept)
{
    assert(!n->keeping_id);
    n->keeping_id = id;
    n->keeping = *kept;
    snprintf(n->keeping_boot_id, sizeof(n->keeping_boot_id), "%s", kept->on ? kept->boot_id : "");
    struct item *i = item_new(evacuation_kept);
    struct keeping *keeping = ARENA_NEW(&i->arena, struct keeping);
    *keeping = (struct keeping){.id = id, .start = n->starts};
    i->payload = keeping;
    i->owner = n;
    queue_push(&n->world->queue, i, n->world->now_ns + 2 * MILLISECOND_NS);
}

static void carry_out(struct node *n, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_REPLY:
        network_reply(n, &e->reply);
        break;
    case EFFECT_WAKE:
        network_wake(n, e->wake);
        break;
    case EFFECT_CALL:
        if (e->call.outside) {
            outside_call(n, &e->call);
        } else {
            if (n->world->observer.asked) {
                n->world->observer.asked(n->world->observer.context, n, &e->call);
            }
            network_call(n, &e->call, false);
        }
        break;
    case EFFECT_SUBSCRIBE:
        network_call(n, &e->call, true);
        break;
    case EFFECT_CANCEL:
        network_cancel(n, e->cancel);
        break;
    case EFFECT_STORE:
        assert(n->config.store);
        store_call_start(n, &e->store);
        break;
    case EFFECT_WATCH:
        store_watch(n, e->watch.id, e->watch.start_revision);
        break;
    case EFFECT_UNWATCH:
        store_unwatch(n);
        break;
    case EFFECT_VERB:
        assert(n->containers);
        containers_call(n, &e->verb);
        break;
    case EFFECT_OUTPUT:
    case EFFECT_RELAY: /* of such output */
        assert(!"model containers write nothing");
        break;
    case EFFECT_PROBE:
        assert(n->containers);
        probes_make(n, &e->probe);
        break;
    case EFFECT_INCARNATION:
        keep_incarnation(n, e->incarnation);
        break;
    case EFFECT_EVACUATION:
        keep_evacuation(n, e->evacuation.id, &e->evacuation.kept);
        break;
    case EFFECT_RESOLVE:
        resolve_begin(n, &e->resolve);
        break;
    case EFFECT_LAUNCH:
        launch_begin(n, &e->launch);
        break;
    case EFFECT_LOG:
        trace_log(n, &e->log);
        if (n->world->observer.logged) {
            n->world->observer.logged(n->world->observer.context, n, &e->log);
        }
        break;
    case EFFECT_EXIT:
    case EFFECT_KIND_COUNT:
        break; /* by node_step, when all other effects are done */
    }
}

/* With an incarnation or a term: what must not be done when those are over. */
static bool asks_for_moves(const struct effects *out)
{
    for (size_t i = 0; i < out->count; i++) {
        const struct effect *e = &out->list[i];
        if (e->kind == EFFECT_CALL && strstr(e->call.url, "/v1/board/apply")) {
            return true;
        }
    }
    return false;
}

static void by_the_world(const struct node *n, int64_t *at_ns)
{
    *at_ns += *at_ns == NEVER_NS ? 0 : n->booted_ns;
}

/* A role speaks of times by its machine's monotonic clock. So do its containers: what it says of
 * verbs stays as it is. */
static void translate(const struct node *n, struct effects *out)
{
    for (size_t i = 0; i < out->count; i++) {
        struct effect *e = &out->list[i];
        if (e->kind == EFFECT_CALL || e->kind == EFFECT_SUBSCRIBE) {
            by_the_world(n, &e->call.deadline_ns);
        } else if (e->kind == EFFECT_STORE) {
            by_the_world(n, &e->store.deadline_ns);
        }
    }
    by_the_world(n, &out->due_ns);
}

void node_step(struct node *n, struct event *ev)
{
    struct world *w = n->world;
    SCOPED_ARENA(arena);
    struct effects out;
    effects_init(&out, &arena);
    assert(n->role && !n->paused);
    ev->now = (struct moment){.mono_ns = node_mono_ns(n),
                              .wall_ns = world_wall(w) + n->clock_ahead_ns};
    ev->entropy[0] = random_next(&w->random);
    ev->entropy[1] = random_next(&w->random);
    if (w->bend) {
        w->bend(w->bend_context, n, ev, &arena);
    }
    role_step(n->role, ev, &out);
    translate(n, &out);
    const struct effect *exit = NULL;
    n->last_words = n->last_words_late_ns && asks_for_moves(&out);
    bool dies = n->dies || n->last_words;
    for (size_t i = 0; i < out.count; i++) {
        if (n->dies && i >= n->dies_after) {
            cursor_free(out.list[i].kind == EFFECT_REPLY ? out.list[i].reply.cursor : NULL);
            continue;
        }
        carry_out(n, &out.list[i]);
        exit = out.list[i].kind == EFFECT_EXIT ? &out.list[i] : exit;
    }
    if (dies) {
        world_note(w, n->config.name, "is killed within a step");
        node_down(n);
    } else if (exit) {
        world_note(w, n->config.name, "exits %d%s%s", exit->exit.code, *exit->exit.text ? ": " : "",
                   exit->exit.text);
        launches_left(n);
        node_down(n);
    } else {
        set_timer(n, out.due_ns);
    }
}

bool world_step(struct world *w, int64_t until_ns)
{
    struct item *i = queue_pop(&w->queue, until_ns);
    if (!i) {
        w->now_ns = until_ns > w->now_ns ? until_ns : w->now_ns;
        return false;
    }
    assert(i->at_ns >= w->now_ns);
    w->now_ns = i->at_ns;
    struct node *owner = i->owner;
    if (owner && owner->paused) {
        node_hold(owner, i);
        return true;
    }
    i->run(w, i);
    item_free(i);
    return true;
}

void world_run(struct world *w, int64_t duration_ns)
{
    int64_t until_ns = w->now_ns + duration_ns;
    while (world_step(w, until_ns)) {
    }
}

bool world_run_until(struct world *w, int64_t limit_ns, bool (*done)(void *context), void *context)
{
    int64_t until_ns = w->now_ns + limit_ns;
    while (!done(context)) {
        if (!world_step(w, until_ns)) {
            return done(context);
        }
    }
    return true;
}

#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>

#define HEARTBEAT_NS (1 * SECOND_NS)
#define STOP_MAX_NS (2 * SECOND_NS)

enum { FEED_RING_DEFAULT = 65536, FEED_RING_BYTES_DEFAULT = 128 * 1024 * 1024 };

static void init_lists(struct board *b)
{
    for (size_t i = 0; i < STORE_BUCKETS; i++) {
        LIST_INIT(&b->open[i]);
    }
    LIST_INIT(&b->all_ops);
    LIST_INIT(&b->barrier.all);
    TAILQ_INIT(&b->queued);
    TAILQ_INIT(&b->ready);
    TAILQ_INIT(&b->unconfirmed);
    TAILQ_INIT(&b->barrier.flying);
    TAILQ_INIT(&b->barrier.next);
    confirms_init(b);
    STAILQ_INIT(&b->watch.list);
    awaits_init(&b->awaits);
    buf_init(&b->load.next_key);
    buf_init(&b->sweep.from);
    map_init(&b->load.strangers);
    map_init(&b->turns);
}

struct board *board_new(const struct bbs_config *config, const struct board_hooks *hooks)
{
    struct board *b = mem_zeroed(sizeof(*b));
    init_lists(b);
    b->config = *config;
    b->config.url = b->url = mem_text(config->url ? config->url : "");
    b->config.name = b->name = mem_text(config->name ? config->name : "");
    if (b->config.transactions_max == 0) {
        b->config.transactions_max = TRANSACTIONS_DEFAULT;
    }
    if (b->config.transactions_max > TRANSACTIONS_MAX) {
        b->config.transactions_max = TRANSACTIONS_MAX;
    }
    b->hooks = hooks ? *hooks : (struct board_hooks){0};
    b->feed = feed_new(config->feed_ring_changes ? config->feed_ring_changes : FEED_RING_DEFAULT,
                       config->feed_ring_bytes ? config->feed_ring_bytes : FEED_RING_BYTES_DEFAULT);
    b->load.retry_ns = b->watch.retry_ns = b->jobs.due_ns = NEVER_NS;
    b->heartbeats.unconfirmed_ns = NEVER_NS;
    return b;
}

void board_free(struct board *b)
{
    if (!b) {
        return;
    }
    SCOPED_ARENA(arena);
    struct effects nowhere;
    effects_init(&nowhere, &arena);
    b->ending = true;
    barrier_free(b, &nowhere);
    ops_free(b, &nowhere);
    confirms_free(b);
    commits_free(b);
    for (size_t i = 0; i < STORE_BUCKETS; i++) {
        while (!LIST_EMPTY(&b->open[i])) {
            store_forget(b, LIST_FIRST(&b->open[i])->id);
        }
    }
    heartbeats_free(b);
    sweep_free(b);
    board_jobs_free(b);
    verify_free(b);
    watch_done(b);
    load_done(b);
    fall_over(b);
    feed_free(b->feed);
    copy_free(b->copy);
    free(b->board_generation);
    free(b->url);
    free(b->name);
    free(b);
}

/* ---- what all may ask ---- */

bool board_ready(const struct board *b)
{
    return b->loaded && b->watch.open && !b->stop_ns;
}

const char *board_boot_id(const struct board *b)
{
    return b->boot_id;
}

const char *board_generation(const struct board *b)
{
    return b->board_generation ? b->board_generation : "";
}

struct moment board_now(const struct board *b)
{
    return b->now;
}

uint64_t board_next_id(struct board *b)
{
    return ++b->last_id;
}

char *board_new_guid(struct board *b, struct arena *a)
{
    char guid[GUID_BYTES];
    random_guid(&b->random, guid);
    return arena_strdup(a, guid);
}

struct cursor *board_feed(struct board *b, const Board__FeedRequest *request)
{
    return feed_reader(b->feed, request);
}

void board_state(const struct board *b, Board__BoardState *state)
{
    state->boot_id = (char *)(size_t)b->boot_id;
    state->board_generation = (char *)(size_t)board_generation(b);
    state->revision = b->revision;
    state->records = b->copy ? copy_count(b->copy) : 0;
    state->ops = b->ops;
    state->transactions = b->transactions;
    state->conflicts = b->conflicts;
    state->read_only = b->health.read_only;
    state->reloads = b->reloads;
    state->differences = b->differences;
    state->settled = b->settled;
    state->feed_readers = feed_reader_count(b->feed);
}

/* ---- the step ---- */

static void on_behind(struct await *a, bool reached, struct effects *out)
{
    (void)out;
    struct board *b = a->owner;
    if (!reached && b->loaded) {
        board_want_reload(b, "the copy was more than 5 s behind");
    }
}

/* "A copy more than 5 s behind is rebuilt" (design.md 2). While the watch is down it is not its
 * fault: the watch is opened again where it ended. */
static void mind_position(struct board *b)
{
    if (b->loaded && b->watch.open && b->known_revision > b->revision && !b->behind.waiting) {
        b->behind.wake = on_behind;
        b->behind.owner = b;
        await_start(&b->awaits, &b->behind, b->known_revision, b->now.mono_ns + BEHIND_MAX_NS);
    }
}

static void on_heartbeat(void *context, bool passed, struct effects *out)
{
    (void)out;
    struct board *b = context;
    b->heartbeat_waits = false;
    if (passed) {
        feed_heartbeat(b->feed, b->revision, heartbeat_revision(b));
    }
}

/* A heartbeat each second carries a revision that passed the read barrier. */
static void heartbeat_timer(struct board *b, struct effects *out)
{
    if (!b->loaded || b->stop_ns || feed_reader_count(b->feed) == 0) {
        return;
    }
    if (b->heartbeat_ns <= b->now.mono_ns && !b->heartbeat_waits) {
        b->heartbeat_ns = b->now.mono_ns + HEARTBEAT_NS;
        b->heartbeat_waits = true;
        barrier_wait(b, on_heartbeat, b, out);
    }
    effects_due(out, b->heartbeat_ns);
}

/* In good order: what is open is finished, then our keys are taken back; 2 s at most (design.md
 * 6). */
static void stop_timer(struct board *b, struct effects *out)
{
    if (!b->stop_ns) {
        return;
    }
    int64_t end_ns = b->stop_ns + STOP_MAX_NS, leave_ns = b->stop_ns + STOP_MAX_NS / 2;
    bool idle = b->op_count == 0 && commits_idle(b);
    if (!b->leaving && b->loaded && (idle || b->now.mono_ns >= leave_ns)) {
        b->leaving = true;
        heartbeats_leave(b, out);
    }
    if (!b->exited && (b->left || !b->loaded || b->now.mono_ns >= end_ns)) {
        b->exited = true;
        effects_exit(out, 0, "");
    }
    if (!b->exited) {
        effects_due(out, b->leaving ? end_ns : leave_ns);
    }
}

static void wake_reached(struct board *b, struct effects *out)
{
    struct await *a;
    while (b->loaded && out->count < EFFECTS_ENOUGH &&
           (a = awaits_reached(&b->awaits, b->revision))) {
        a->wake(a, true, out);
        reload_step(b, out);
    }
    if (out->count >= EFFECTS_ENOUGH) {
        effects_due(out, b->now.mono_ns); /* the rest in the next step */
    }
}

static void wake_late(struct board *b, struct effects *out)
{
    struct await *a;
    while (out->count < EFFECTS_ENOUGH && (a = awaits_late(&b->awaits, b->now.mono_ns))) {
        a->wake(a, false, out);
        reload_step(b, out);
    }
}

static void timers(struct board *b, struct effects *out)
{
    load_timer(b, out);
    fall_timer(b, out);
    watch_timer(b, out);
    heartbeats_timer(b, out);
    sweep_timer(b, out);
    removals_timer(b, out);
    board_jobs_timer(b, out);
    health_timer(b, out);
    verify_timer(b, out);
    heartbeat_timer(b, out);
}

static void set_due(struct board *b, struct effects *out)
{
    effects_due(out, awaits_due_ns(&b->awaits));
    effects_due(out, commits_due_ns(b));
    effects_due(out, heartbeats_due_ns(b));
    effects_due(out, sweep_due_ns(b));
    effects_due(out, removals_due_ns(b));
    effects_due(out, health_due_ns(b));
    effects_due(out, verify_due_ns(b));
    if (b->loaded && !b->stop_ns) {
        effects_due(out, b->jobs.due_ns);
    }
}

static void pump(struct board *b, struct effects *out)
{
    if (b->pumping || b->ending || !b->started) {
        return;
    }
    b->pumping = true;
    apply_changes(b, out);
    reload_step(b, out);
    wake_reached(b, out);
    wake_late(b, out);
    timers(b, out);
    ops_run(b, out);
    barrier_send(b, out);
    confirms_send(b, out);
    commits_send(b, out);
    mind_position(b);
    stop_timer(b, out);
    if (feed_take_wake(b->feed)) {
        effects_add(out, EFFECT_WAKE)->wake = BOARD_FEED_CHANNEL;
    }
    set_due(b, out);
    b->pumping = false;
}

void board_op(struct board *b, const struct op_row *row, const struct op_input *in,
              struct arena *arena, op_done *done, void *context, struct effects *out)
{
    op_start(b, row, in, arena, done, context, out);
    pump(b, out);
}

void board_barrier(struct board *b, struct arena *arena, board_read *read, void *context,
                   struct effects *out)
{
    barrier_read(b, arena, read, context, out);
    pump(b, out);
}

bool board_witness(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out)
{
    witness_heard(b, r, actor, name, out);
    reload_step(b, out);
    return b->fall.is;
}

static void start(struct board *b, struct effects *out)
{
    assert(!b->started);
    b->started = true;
    random_guid(&b->random, b->boot_id);
    feed_serves(b->feed, b->boot_id);
    reload_begin(b, NULL, out);
}

static void stop(struct board *b)
{
    if (!b->stop_ns) {
        b->stop_ns = b->now.mono_ns ? b->now.mono_ns : 1;
    }
}

bool board_step(struct board *b, const struct event *ev, struct effects *out)
{
    /* Another stream of numbers than the layer above draws from the same entropy. */
    static const uint64_t own_stream = 0xb0a2db0a2db0a2dbu;
    bool own = false;
    b->now = ev->now;
    random_seed(&b->random, (uint64_t[2]){ev->entropy[0] ^ own_stream, ev->entropy[1]});
    if (ev->kind == EVENT_START) {
        start(b, out);
    } else if (ev->kind == EVENT_STOP) {
        stop(b);
    } else if (ev->kind == EVENT_STORE) {
        own = store_answered(b, &ev->store, out);
    } else if (ev->kind == EVENT_WATCH) {
        own = watch_step(b, &ev->watch, out);
    }
    reload_step(b, out);
    pump(b, out);
    return own;
}

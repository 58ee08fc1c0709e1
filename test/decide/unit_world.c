#include "test/decide/unit_world.h"

#include "common/base/memory.h"
#include "test/decide/unit_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/unit_laws.h"

#include <stdlib.h>
#include <string.h>

static const struct moment now = {.mono_ns = 500 * SECOND_NS,
                                  .wall_ns = LAID_SYSTEM_NOW_S * SECOND_NS};

static void put_everywhere(struct unit_world *w, const char *key, const ProtobufCMessage *m)
{
    struct laid_board *all[] = {w->store, w->bbs[0], w->bbs[1]};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        laid_put(all[i], key, m, w->revision, w->revision, 0);
    }
    w->revision++;
}

void unit_world_init(struct unit_world *w, uint64_t seed, const char *texts)
{
    *w = (struct unit_world){.seed = seed, .revision = LAID_SYSTEM_TERM};
    arena_init(&w->arena);
    random_seed(&w->random, (uint64_t[2]){0x756e697473, seed});
    w->store = laid_new(now, LAID_SYSTEM_GENERATION);
    for (unsigned i = 0; i < UNIT_WORLD_BBS; i++) {
        w->bbs[i] = laid_new(now, LAID_SYSTEM_GENERATION);
    }
    Board__LeaderLockRecord *lead =
        arena_message(&w->arena, &board__leader_lock_record__descriptor);
    lead->role = arena_strdup(&w->arena, "converger");
    put_everywhere(w, key_lead(&w->arena, "converger"), &lead->base);
    char *rest = arena_printf(&w->arena,
                              "cell/c1 incarnation=1 identity=I\ncell/c2 incarnation=1 identity=I\n"
                              "cell/c3 incarnation=1 identity=I\n%s",
                              texts);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        const char *key;
        const ProtobufCMessage *m = unit_row(&w->arena, line, &key);
        put_everywhere(w, key, m);
    }
}

void unit_world_done(struct unit_world *w)
{
    laid_free(w->store);
    for (unsigned i = 0; i < UNIT_WORLD_BBS; i++) {
        laid_free(w->bbs[i]);
    }
    free(w->log);
    arena_done(&w->arena);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

void unit_turn_init(struct unit_turn *t, unsigned bbs)
{
    *t = (struct unit_turn){.bbs = bbs};
    arena_init(&t->arena);
}

void unit_turn_done(struct unit_turn *t)
{
    arena_done(&t->arena);
}

void unit_turn_move(struct unit_turn *t, const struct move_family *family, enum actor actor,
                    const char *peer, const char *text)
{
    const Board__Move *m = units_move(&t->arena, text);
    const struct move_row *row = move_row_named(family, m->move);
    struct validation v = {0};
    row->valid(&v, m);
    assert_true(validation_ok(&v));
    validation_done(&v);
    assert_true(move_permitted(family, row, actor));
    t->actor = actor;
    t->peer = arena_strdup(&t->arena, peer);
    t->op = row->op;
    t->request = &m->base;
}

void unit_world_decide(struct unit_world *w, struct unit_turn *t)
{
    struct op_input in = {.actor = t->actor,
                          .peer_name = t->peer ? t->peer : "",
                          .trace_id = "",
                          .boot_id = "boot",
                          .request = t->request,
                          .now = now};
    laid_at(w->bbs[t->bbs], w->revision - 1);
    if (w->heard[t->bbs] < w->log_count) {
        laid_at(w->bbs[t->bbs], w->log[w->heard[t->bbs]].revision - 1);
    }
    laid_decide_drawn(w->bbs[t->bbs], t->op, &in, &w->random, &t->arena, &t->plan);
}

/* ---- The store ------------------------------------------------------------------------------- */

static struct unit_world_entry *add_entry(struct unit_world *w)
{
    if (w->log_count == w->log_capacity) {
        w->log_capacity = w->log_capacity ? 2 * w->log_capacity : 256;
        w->log = mem_resized(w->log, w->log_capacity, sizeof(*w->log));
    }
    return &w->log[w->log_count++];
}

static void apply(struct laid_board *l, const struct unit_world_entry *e)
{
    if (e->after) {
        laid_put(l, e->key, e->after, e->revision, e->revision, now.mono_ns);
    } else {
        laid_remove(l, e->key);
    }
}

static void write(struct unit_world *w, const struct change *c)
{
    struct unit_world_entry *e = add_entry(w);
    const char *key = arena_strdup(&w->arena, c->key);
    const ProtobufCMessage *before = laid_message(w->store, &w->arena, key);
    *e = (struct unit_world_entry){key, before, c->message, w->revision};
    apply(w->store, e);
    e->after = laid_message(w->store, &w->arena, key); /* it outlives the turn */
}

/* ---- The laws -------------------------------------------------------------------------------- */

static const ProtobufCMessage *law_get(void *world, struct arena *a, const char *key)
{
    return laid_message(((struct unit_world *)world)->store, a, key);
}

static size_t law_keys(void *world, struct arena *a, const char *prefix, const char ***ret)
{
    return laid_keys(((struct unit_world *)world)->store, a, prefix, ret);
}

static void law_broken(void *world, const char *law, const char *key, const char *what)
{
    const struct unit_world *w = world;
    fail_msg("%s: %s: %s (seed %llu, commit %zu)", law, key, what, (unsigned long long)w->seed,
             w->commits);
}

static struct unit_law_board law_board(struct unit_world *w)
{
    return (struct unit_law_board){w, law_get, law_keys, law_broken};
}

static void hold_laws(struct unit_world *w, size_t first)
{
    SCOPED_ARENA(a);
    struct unit_law_board board = law_board(w);
    size_t count = w->log_count - first;
    struct unit_law_change *changes = ARENA_ARRAY(&a, count, struct unit_law_change);
    for (size_t i = 0; i < count; i++) {
        const struct unit_world_entry *e = &w->log[first + i];
        changes[i] = (struct unit_law_change){e->key, e->before, e->after};
    }
    unit_laws_hold(&board, changes, count);
}

void unit_world_is_empty(struct unit_world *w)
{
    struct unit_law_board board = law_board(w);
    unit_laws_empty(&board);
}

bool unit_world_commit(struct unit_world *w, struct unit_turn *t)
{
    const struct plan *p = &t->plan.plan;
    if (p->verdict != PLAN_COMMIT) {
        w->refusals += p->verdict == PLAN_REFUSE;
        return true;
    }
    if (!laid_passes(w->store, &t->plan.reads)) {
        w->conflicts++;
        return false;
    }
    size_t first = w->log_count;
    for (const struct change *c = p->changes; c; c = c->next) {
        write(w, c);
    }
    w->revision++;
    w->commits++;
    size_t count = w->log_count - first;
    w->changes_most = count > w->changes_most ? count : w->changes_most;
    hold_laws(w, first);
    return true;
}

void unit_world_hear(struct unit_world *w, unsigned bbs, size_t count)
{
    while (w->heard[bbs] < w->log_count && count > 0) {
        const struct unit_world_entry *e = &w->log[w->heard[bbs]++];
        apply(w->bbs[bbs], e);
        /* A transaction is heard of as a whole. */
        bool more = w->heard[bbs] < w->log_count && w->log[w->heard[bbs]].revision == e->revision;
        count -= !more;
    }
}

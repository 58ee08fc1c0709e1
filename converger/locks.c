/* The keeper of the locks of outside owners, as this process has seen them: since when the
 * present revision (design.md 5, Freshness and clocks; common/lifecycle/lock.def). One that is over
 * goes as soon as it is, for somebody waits for its name. Pure. */
#include "common/model/record.h"
#include "converger/due.h"
#include "converger/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* After it was asked to end and has not. */
#define AGAIN_NS (5 * SECOND_NS)

struct lock_seen {
    int64_t revision;
    int64_t due_ns; /* monotonic: over, or to be asked to end again; NEVER_NS = it never ends */
    char name[];
};

struct locks {
    struct kept kept;
    struct map by_name; /* -> struct lock_seen */
    struct due due;
};

static void init(void *state, const struct converger_config *config)
{
    (void)config;
    struct locks *l = state;
    map_init(&l->by_name);
    due_init(&l->due);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void forget(struct locks *l, struct lock_seen *s)
{
    if (s) {
        due_clear(&l->due, &s->due_ns, s->name);
        map_remove(&l->by_name, s->name);
        free(s);
    }
}

/* One that is for longer than the clock can tell is never over. */
static int64_t over_ns(int64_t ttl_s, int64_t now_ns)
{
    assert(now_ns >= 0);
    return ttl_s < (NEVER_NS - now_ns) / SECOND_NS ? now_ns + ttl_s * SECOND_NS : NEVER_NS;
}

/* A revision that was seen before keeps its age. One that this version cannot read is left
 * alone. */
static void learn(struct locks *l, struct arena *a, const char *name,
                  const struct followed *record)
{
    ProtobufCMessage *m;
    struct lock_seen *s = map_named(&l->by_name, name, offsetof(struct lock_seen, name));
    if (s->revision == record->mod_revision) {
        return;
    }
    s->due_ns = s->revision ? s->due_ns : NEVER_NS; /* it is new */
    if (record_decode(a, RECORD_LOCK, blob_bytes(record->record), &m, NULL) < 0) {
        forget(l, s);
        return;
    }
    s->revision = record->mod_revision;
    due_clear(&l->due, &s->due_ns, s->name);
    due_set(&l->due, &s->due_ns,
            over_ns(((const Board__LockRecord *)m)->ttl_s, l->kept.x->life.now.mono_ns), s->name,
            s);
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct locks *l = state;
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    if (name && record) {
        learn(l, &a, name, record);
    } else if (name) {
        forget(l, map_get(&l->by_name, name));
    }
}

static void done(void *state)
{
    struct locks *l = state;
    MAP_EACH(&l->by_name, n)
    {
        forget(l, map_value(n));
    }
}

/* In another board generation revisions mean nothing any more, and every lock has its whole time
 * again. */
static void reset(void *state)
{
    const struct converger *x = ((struct kept *)state)->x;
    if (strcmp(x->board_generation, x->life.feed_client.board_generation) != 0) {
        done(state);
    }
}

static void current(void *state)
{
    struct locks *l = state;
    SCOPED_ARENA(a);
    MAP_EACH(&l->by_name, n)
    {
        if (!feed_client_get(&l->kept.x->life.feed_client, key_lock(&a, map_key(n)))) {
            forget(l, map_value(n));
        }
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* Without room it is looked at again later. */
static void expire(struct locks *l, struct lock_seen *s, struct arena *a)
{
    assert(s->revision > 0 && s->due_ns <= l->kept.x->life.now.mono_ns);
    struct converger *x = l->kept.x;
    due_clear(&l->due, &s->due_ns, s->name);
    due_set(&l->due, &s->due_ns, x->life.now.mono_ns + AGAIN_NS, s->name, s);
    if (mover_room(&x->mover, 1)) {
        mover_add(&x->mover, &l->kept.owner, s->name, move_of_lock(a, s->name, s->revision));
    }
}

static void look(void *state, bool all, struct effects *out)
{
    (void)all;
    struct locks *l = state;
    int64_t due_ns;
    struct lock_seen *s;
    while ((s = due_next(&l->due, &due_ns)) && due_ns <= l->kept.x->life.now.mono_ns) {
        expire(l, s, out->arena);
    }
    effects_due(out, due_ns);
}

static void plan(void *state, struct plan_shown *ret)
{
    struct locks *l = state;
    MAP_EACH(&l->by_name, n)
    {
        const struct lock_seen *s = map_value(n);
        if (s->due_ns <= l->kept.x->life.now.mono_ns) {
            plan_show(ret, "over", move_of_lock(ret->arena, s->name, s->revision));
        }
    }
}

const struct keeper locks_keeper = {.state_size = sizeof(struct locks),
                                    .init = init,
                                    .done = done,
                                    .reset = reset,
                                    .change = change,
                                    .current = current,
                                    .look = look,
                                    .plan = plan};

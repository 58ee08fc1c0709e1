#include "converger/locks.h"

#include "common/model/freshness.h"
#include "common/model/record.h"

#include <stdlib.h>

struct lock_sighting {
    int64_t revision;
    int64_t since_ns; /* monotonic */
    int64_t ttl_s;
    int64_t again_ns; /* not to be asked before */
};

void locks_init(struct locks *l)
{
    map_init(&l->by_key);
}

void locks_forget(struct locks *l)
{
    map_done(&l->by_key, free);
}

void locks_done(struct locks *l)
{
    locks_forget(l);
}

/* One that this version cannot read is left alone. */
void locks_put(struct locks *l, const char *key, const struct followed *record, struct moment now)
{
    struct arena a;
    ProtobufCMessage *m;
    struct lock_sighting *s = map_get(&l->by_key, key);
    if (s && s->revision == record->mod_revision) {
        return;
    }
    arena_init(&a);
    if (record_decode(&a, RECORD_LOCK, blob_bytes(record->record), &m, NULL) < 0) {
        locks_gone(l, key);
        arena_done(&a);
        return;
    }
    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s) {
            abort();
        }
        map_put(&l->by_key, key, s);
    }
    *s = (struct lock_sighting){.revision = record->mod_revision,
                                .since_ns = now.mono_ns,
                                .ttl_s = ((const Board__LockRecord *)m)->ttl_s};
    arena_done(&a);
}

void locks_gone(struct locks *l, const char *key)
{
    free(map_remove(&l->by_key, key));
}

void locks_current(struct locks *l, const struct follower *f)
{
    MAP_EACH(&l->by_key, n)
    {
        if (!follower_get(f, map_key(n))) {
            free(map_remove(&l->by_key, map_key(n)));
        }
    }
}

/* One that is for longer than the clock can tell is never over. */
static int64_t over_ns(const struct lock_sighting *s)
{
    return s->ttl_s < (NEVER_NS - s->since_ns) / SECOND_NS ? s->since_ns + s->ttl_s * SECOND_NS
                                                           : NEVER_NS;
}

static int64_t due_ns(const struct lock_sighting *s)
{
    int64_t over = over_ns(s);
    return over > s->again_ns ? over : s->again_ns;
}

int64_t locks_due_ns(const struct locks *l)
{
    int64_t due = NEVER_NS;
    MAP_EACH(&l->by_key, n)
    {
        due = earlier_ns(due, due_ns(map_value(n)));
    }
    return due;
}

void locks_each_over(const struct locks *l, struct moment now,
                     void (*each)(void *context, const char *name, int64_t revision),
                     void *context)
{
    struct arena a;
    arena_init(&a);
    MAP_EACH(&l->by_key, n)
    {
        const struct lock_sighting *s = map_value(n);
        if (due_ns(s) <= now.mono_ns) {
            each(context, key_component(&a, map_key(n), 1), s->revision);
        }
    }
    arena_done(&a);
}

void locks_asked(struct locks *l, const char *name, struct moment now)
{
    struct arena a;
    arena_init(&a);
    struct lock_sighting *s = map_get(&l->by_key, key_lock(&a, name));
    if (s) {
        s->again_ns = now.mono_ns + LOCKS_AGAIN_NS;
    }
    arena_done(&a);
}

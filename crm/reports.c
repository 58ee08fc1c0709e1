#include "crm/reports.h"

#include "common/base/bytes.h"
#include "common/base/memory.h"
#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>

struct reported {
    struct arena arena;
    const Board__EdgeMove *pending; /* NULL = nothing is to be told */
    uint64_t told;                  /* hash of what was told last; 0 = nothing yet */
    int64_t told_ns;
    bool was_told;
};

static void reported_free(void *value)
{
    struct reported *x = value;
    arena_done(&x->arena);
    free(x);
}

void reports_init(struct crm_reports *r)
{
    map_init(&r->by_key);
}

void reports_done(struct crm_reports *r)
{
    if (r) {
        map_done(&r->by_key, reported_free);
    }
}

void reports_reset(struct crm_reports *r)
{
    map_done(&r->by_key, reported_free);
    map_init(&r->by_key);
}

static uint64_t hash_of(const Board__EdgeMove *move)
{
    SCOPED_ARENA(a);
    return bytes_hash(message_packed(&a, &move->base));
}

void reports_put(struct crm_reports *r, const char *key, const Board__EdgeMove *move)
{
    struct reported *x = map_get(&r->by_key, key);
    if (!x) {
        x = mem_zeroed(sizeof(*x));
        arena_init(&x->arena);
        map_put(&r->by_key, key, x);
    }
    if (!move->step && !x->pending && x->was_told && hash_of(move) == x->told) {
        return;
    }
    struct arena next;
    arena_init(&next);
    Board__EdgeMove *copy = (Board__EdgeMove *)message_copy(&next, &move->base);
    if (!copy->step && x->pending && x->pending->step) {
        copy->step = (Board__EdgeStep *)message_copy(&next, &x->pending->step->base);
    }
    arena_done(&x->arena);
    x->arena = next;
    x->pending = copy;
}

void reports_forget(struct crm_reports *r, const char *key)
{
    struct reported *x = map_remove(&r->by_key, key);
    if (x) {
        reported_free(x);
    }
}

/* 1. The first one at once.
 * 2. A step a second after the last one, of whichever kind.
 * 3. Health and use five seconds after it. */
static int64_t due_ns(const struct reported *x)
{
    return !x->pending        ? NEVER_NS
           : !x->was_told     ? 0                              /* 1 */
           : x->pending->step ? x->told_ns + REPORT_STEP_NS    /* 2 */
                              : x->told_ns + REPORT_HEALTH_NS; /* 3 */
}

int64_t reports_due_ns(const struct crm_reports *r)
{
    int64_t due = NEVER_NS;
    MAP_EACH(&r->by_key, n)
    {
        int64_t one = due_ns(map_value(n));
        due = one < due ? one : due;
    }
    return due;
}

static void note_told(struct reported *x, int64_t now_ns)
{
    assert(x->pending);
    Board__EdgeMove without = *x->pending;
    without.step = NULL;
    x->told = hash_of(&without);
    x->was_told = true;
    x->told_ns = now_ns;
    x->pending = NULL;
    arena_reset(&x->arena);
}

size_t reports_take(struct crm_reports *r, struct arena *a, int64_t now_ns,
                    struct crm_report **ret_list)
{
    struct crm_report *list = ARENA_ARRAY(a, REPORTS_AT_ONCE_MAX, struct crm_report);
    size_t count = 0;
    MAP_EACH(&r->by_key, n)
    {
        struct reported *x = map_value(n);
        if (count < REPORTS_AT_ONCE_MAX && due_ns(x) <= now_ns) {
            list[count++] = (struct crm_report){
                .key = arena_strdup(a, map_key(n)),
                .move = (const Board__EdgeMove *)message_copy(a, &x->pending->base)};
            note_told(x, now_ns);
        }
    }
    *ret_list = list;
    return count;
}

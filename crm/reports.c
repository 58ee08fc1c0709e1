#include "crm/reports.h"

#include "common/base/bytes.h"
#include "common/base/memory.h"
#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>

struct reported {
    uint8_t *pending; /* what is to be told, packed; NULL = nothing is */
    size_t size;
    bool steps;    /* there is a step in it */
    uint64_t told; /* hash of what was told last; 0 = nothing yet */
    int64_t told_ns;
    bool was_told;
};

static void reported_free(void *value)
{
    struct reported *x = value;
    free(x->pending);
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

void reports_retell(struct crm_reports *r, const char *key)
{
    struct reported *x = map_get(&r->by_key, key);
    if (x) {
        x->told = 0;
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

static Board__EdgeMove *pending_of(const struct reported *x, struct arena *a)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    assert(x->pending);
    return board__edge_move__unpack(&allocator, x->size, x->pending);
}

static void set_pending(struct reported *x, const Board__EdgeMove *move)
{
    size_t size = board__edge_move__get_packed_size(move);
    uint8_t *packed = mem_array(size + 1, 1);
    board__edge_move__pack(move, packed);
    free(x->pending);
    x->pending = packed;
    x->size = size;
    x->steps = move->step != NULL;
}

void reports_put(struct crm_reports *r, const char *key, const Board__EdgeMove *move)
{
    SCOPED_ARENA(a);
    struct reported *x = map_get(&r->by_key, key);
    if (!x) {
        x = mem_zeroed(sizeof(*x));
        map_put(&r->by_key, key, x);
    }
    if (!move->step && !x->pending && x->was_told && hash_of(move) == x->told) {
        return;
    }
    Board__EdgeMove next = *move;
    if (!next.step && x->pending && x->steps) {
        next.step = pending_of(x, &a)->step;
    }
    set_pending(x, &next);
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
    return !x->pending    ? NEVER_NS
           : !x->was_told ? 0                           /* 1 */
           : x->steps     ? x->told_ns + REPORT_STEP_NS /* 2 */
                          : x->told_ns + REPORT_HEALTH_NS;  /* 3 */
}

size_t reports_pending(const struct crm_reports *r)
{
    size_t count = 0;
    MAP_EACH(&r->by_key, n)
    {
        count += ((const struct reported *)map_value(n))->pending != NULL;
    }
    return count;
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

static void note_told(struct reported *x, const Board__EdgeMove *move, int64_t now_ns)
{
    Board__EdgeMove without = *move;
    without.step = NULL;
    x->told = hash_of(&without);
    x->was_told = true;
    x->told_ns = now_ns;
    free(x->pending);
    x->pending = NULL;
    x->size = 0;
    x->steps = false;
}

size_t reports_take(struct crm_reports *r, struct arena *a, int64_t now_ns, size_t most,
                    struct crm_report **ret_list)
{
    struct crm_report *list = ARENA_ARRAY(a, most, struct crm_report);
    size_t count = 0;
    MAP_EACH(&r->by_key, n)
    {
        struct reported *x = map_value(n);
        if (count < most && due_ns(x) <= now_ns) {
            const Board__EdgeMove *move = pending_of(x, a);
            list[count++] = (struct crm_report){arena_strdup(a, map_key(n)), move};
            note_told(x, move, now_ns);
        }
    }
    *ret_list = list;
    return count;
}

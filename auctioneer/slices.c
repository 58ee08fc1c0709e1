#include "auctioneer/slices.h"

#include "common/base/memory.h"
#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>

struct kept_record {
    struct arena arena;
    const Board__SliceRecord *record;
};

static void kept_free(void *value)
{
    struct kept_record *k = value;
    arena_done(&k->arena);
    free(k);
}

void slices_init(struct slices *s)
{
    map_init(&s->by_uid);
}

void slices_done(struct slices *s)
{
    map_done(&s->by_uid, kept_free);
}

static struct kept_record *kept_new(const Board__SliceRecord *record)
{
    struct kept_record *k = mem_zeroed(sizeof(*k));
    arena_init(&k->arena);
    k->record = (const Board__SliceRecord *)message_copy(&k->arena, &record->base);
    return k;
}

static bool reserves_less(const Board__SliceRecord *now, const Board__SliceRecord *before)
{
    const Board__NodeSize *n = now->node, *b = before->node;
    if (now->n_cells > 0 || before->n_cells > 0 || !n || !b) {
        return true; /* its own cells come or go */
    }
    return (int64_t)now->nodes * n->memory_mb < (int64_t)before->nodes * b->memory_mb ||
           (int64_t)now->nodes * n->disk_mb < (int64_t)before->nodes * b->disk_mb ||
           (int64_t)now->nodes * n->containers < (int64_t)before->nodes * b->containers ||
           n->n_placement_tags != b->n_placement_tags;
}

bool slices_put(struct slices *s, const char *uid, const Board__SliceRecord *record)
{
    struct kept_record *before = map_get(&s->by_uid, uid);
    bool less = before && reserves_less(record, before->record);
    map_put(&s->by_uid, uid, kept_new(record));
    if (before) {
        kept_free(before);
    }
    return less;
}

bool slices_gone(struct slices *s, const char *uid)
{
    struct kept_record *k = map_remove(&s->by_uid, uid);
    if (k) {
        kept_free(k);
    }
    return k != NULL;
}

void slices_reset(struct slices *s)
{
    map_done(&s->by_uid, kept_free);
    map_init(&s->by_uid);
}

const Board__SliceRecord **slices_list(const struct slices *s, struct arena *a, size_t *ret_count)
{
    const Board__SliceRecord **list = ARENA_ARRAY(a, s->by_uid.count, const Board__SliceRecord *);
    *ret_count = 0;
    MAP_EACH(&s->by_uid, n)
    {
        list[(*ret_count)++] = ((const struct kept_record *)map_value(n))->record;
    }
    assert(*ret_count == s->by_uid.count);
    return list;
}

#include "common/contract/read_set.h"

#include <assert.h>
#include <string.h>

void read_set_init(struct read_set *s, struct arena *arena)
{
    *s = (struct read_set){.arena = arena};
}

bool compare_equal(const struct compare *a, const struct compare *b)
{
    return a->kind == b->kind && a->revision == b->revision && a->members == b->members &&
           strcmp(a->key, b->key) == 0 && (!a->end || strcmp(a->end, b->end) == 0);
}

static void add(struct read_set *s, const struct compare *c)
{
    for (size_t i = 0; i < s->count; i++) {
        if (compare_equal(&s->list[i], c)) {
            return;
        }
    }
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 8;
        struct compare *list = ARENA_ARRAY(s->arena, capacity, struct compare);
        if (s->count) {
            memcpy(list, s->list, s->count * sizeof(*list));
        }
        s->list = list;
        s->capacity = capacity;
    }
    assert(s->count < s->capacity && *c->key);
    s->list[s->count] = *c;
    s->list[s->count].end = c->end ? arena_strdup(s->arena, c->end) : NULL;
    s->list[s->count++].key = arena_strdup(s->arena, c->key);
}

void read_set_add(struct read_set *s, enum compare_kind kind, const char *key, int64_t revision)
{
    add(s, &(struct compare){.kind = kind, .key = key, .revision = revision});
}

void read_set_add_range(struct read_set *s, const char *prefix, int64_t revision, int64_t members)
{
    add(s, &(struct compare){.kind = COMPARE_NOTHING_NEWER,
                             .key = prefix,
                             .revision = revision,
                             .members = members});
}

void read_set_add_gap(struct read_set *s, const char *from, const char *end)
{
    assert(strcmp(from, end) < 0);
    add(s, &(struct compare){.kind = COMPARE_GAP_EMPTY, .key = from, .end = end});
}

const char *compare_kind_name(enum compare_kind kind)
{
    static const char *const names[COMPARE_KIND_COUNT] = {
        [COMPARE_UNCHANGED] = "unchanged",
        [COMPARE_EXISTS] = "exists",
        [COMPARE_ABSENT] = "absent",
        [COMPARE_RANGE_EMPTY] = "range empty",
        [COMPARE_GAP_EMPTY] = "gap empty",
        [COMPARE_NOTHING_NEWER] = "nothing newer",
    };
    assert(kind < COMPARE_KIND_COUNT);
    return names[kind];
}

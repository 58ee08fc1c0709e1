#include "common/contract/read_set.h"

#include <assert.h>
#include <string.h>

void read_set_init(struct read_set *s, struct arena *arena)
{
    *s = (struct read_set){.arena = arena};
}

void read_set_add(struct read_set *s, enum compare_kind kind, const char *key, int64_t revision)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct compare *c = &s->list[i];
        if (c->kind == kind && c->revision == revision && strcmp(c->key, key) == 0) {
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
    s->list[s->count++] = (struct compare){
        .kind = kind, .key = arena_strdup(s->arena, key), .revision = revision};
}

const char *compare_kind_name(enum compare_kind kind)
{
    static const char *const names[COMPARE_KIND_COUNT] = {
        [COMPARE_UNCHANGED] = "unchanged",
        [COMPARE_EXISTS] = "exists",
        [COMPARE_ABSENT] = "absent",
        [COMPARE_RANGE_EMPTY] = "range empty",
        [COMPARE_NOTHING_NEWER] = "nothing newer",
    };
    assert(kind < COMPARE_KIND_COUNT);
    return names[kind];
}

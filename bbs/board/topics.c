#include "bbs/board/topics.h"

#include <string.h>

_Static_assert(RECORD_TYPE_COUNT <= 64, "types are a bit each");

/* FNV-1a, a byte at a time: so the hashes of all prefixes of a key are made in one walk. */
static const uint32_t hash_begin = 2166136261u;

static uint32_t hash_on(uint32_t hash, char c)
{
    return (hash ^ (uint8_t)c) * 16777619u;
}

static bool is_topic(const char *topic, const char *key, size_t size)
{
    return strncmp(topic, key, size) == 0 && !topic[size];
}

/* The slot of the first `size` bytes of `key`; a free one if they are no topic. */
static const char **slot_of(const struct topics *t, uint32_t hash, const char *key, size_t size)
{
    size_t at = hash & (t->slot_count - 1);
    while (t->slots[at] && !is_topic(t->slots[at], key, size)) {
        at = (at + 1) & (t->slot_count - 1);
    }
    return &t->slots[at];
}

void topics_init(struct topics *t, struct arena *a, size_t count)
{
    *t = (struct topics){.slot_count = count ? 2 : 0};
    while (t->slot_count < 2 * count) {
        t->slot_count *= 2;
    }
    t->slots = ARENA_ARRAY(a, t->slot_count, const char *);
}

void topics_add(struct topics *t, const char *topic)
{
    uint32_t hash = hash_begin;
    size_t size = 0;
    for (; topic[size]; size++) {
        hash = hash_on(hash, topic[size]);
    }
    *slot_of(t, hash, topic, size) = topic;
    t->types |= UINT64_C(1) << key_type(topic);
}

bool topics_match(const struct topics *t, enum record_type type, const char *key)
{
    if (!(t->types & UINT64_C(1) << type)) {
        return false;
    }
    uint32_t hash = hash_begin;
    for (size_t i = 0; key[i]; i++) {
        hash = hash_on(hash, key[i]);
        if ((key[i] == '/' || !key[i + 1]) && *slot_of(t, hash, key, i + 1)) {
            return true;
        }
    }
    return false;
}

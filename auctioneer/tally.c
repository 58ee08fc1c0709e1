#include "auctioneer/tally.h"

#include <assert.h>
#include <string.h>

/* At least twice as many slots as entries, so that chains stay short. */
static size_t slots_for(size_t entries)
{
    size_t capacity = 64;
    while (capacity < 2 * entries) {
        capacity *= 2;
    }
    return capacity;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ (x >> 29);
}

static uint64_t hash(const char *s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *s; s++) {
        h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
    }
    return mix(h);
}

/* ---- Names ----------------------------------------------------------------------------------- */

void names_init(struct numbered_names *n, struct arena *a, size_t expected)
{
    size_t capacity = slots_for(expected);
    *n = (struct numbered_names){
        .arena = a,
        .list = ARENA_ARRAY(a, capacity / 2, const char *),
        .slots = ARENA_ARRAY(a, capacity, uint32_t),
        .capacity = capacity,
    };
}

/* The slot of this name, or the free one where it belongs. */
static uint32_t *name_slot(const struct numbered_names *n, const char *name)
{
    size_t i = hash(name) & (n->capacity - 1);
    while (n->slots[i] && strcmp(n->list[n->slots[i] - 1], name) != 0) {
        i = (i + 1) & (n->capacity - 1);
    }
    return &n->slots[i];
}

static void names_grow(struct numbered_names *n)
{
    struct numbered_names larger;
    names_init(&larger, n->arena, n->capacity);
    for (size_t i = 0; i < n->count; i++) {
        names_add(&larger, n->list[i]);
    }
    *n = larger;
}

uint32_t names_add(struct numbered_names *n, const char *name)
{
    uint32_t *slot = name_slot(n, name);
    if (*slot) {
        return *slot - 1;
    }
    if (n->count == n->capacity / 2) {
        names_grow(n);
        slot = name_slot(n, name);
    }
    assert(n->count < n->capacity / 2);
    n->list[n->count++] = name;
    *slot = (uint32_t)n->count;
    return *slot - 1;
}

uint32_t names_find(const struct numbered_names *n, const char *name)
{
    uint32_t slot = *name_slot(n, name);
    assert(slot <= n->count);
    return slot ? slot - 1 : NAME_UNKNOWN;
}

/* ---- Tally ----------------------------------------------------------------------------------- */

void tally_init(struct tally *t, struct arena *a, size_t expected)
{
    size_t capacity = slots_for(expected);
    *t = (struct tally){
        .arena = a,
        .slots = ARENA_ARRAY(a, capacity, struct tally_entry),
        .capacity = capacity,
    };
}

static uint64_t key_of(uint32_t process, uint32_t cell)
{
    return ((uint64_t)process << 32 | cell) + 1;
}

static struct tally_entry *entry(const struct tally *t, uint64_t key)
{
    size_t i = mix(key) & (t->capacity - 1);
    while (t->slots[i].key && t->slots[i].key != key) {
        i = (i + 1) & (t->capacity - 1);
    }
    return &t->slots[i];
}

static void tally_grow(struct tally *t)
{
    struct tally larger;
    tally_init(&larger, t->arena, t->capacity);
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].key) {
            *entry(&larger, t->slots[i].key) = t->slots[i];
        }
    }
    larger.used = t->used;
    *t = larger;
}

void tally_add(struct tally *t, uint32_t process, uint32_t cell)
{
    uint64_t key = key_of(process, cell);
    struct tally_entry *e = entry(t, key);
    if (!e->key) {
        if (2 * t->used >= t->capacity) {
            tally_grow(t);
            e = entry(t, key);
        }
        e->key = key;
        t->used++;
    }
    assert(2 * t->used <= t->capacity);
    e->count++;
}

uint32_t tally_get(const struct tally *t, uint32_t process, uint32_t cell)
{
    return entry(t, key_of(process, cell))->count;
}

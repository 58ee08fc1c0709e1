#include "common/shell/id_table.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct id_slot {
    uint64_t id;
    void *value; /* NULL = free */
};

void id_table_init(struct id_table *t)
{
    *t = (struct id_table){0};
}

void id_table_done(struct id_table *t)
{
    free(t->slots);
    id_table_init(t);
}

/* Ids are often consecutive numbers: the multiplication spreads them. */
static size_t home(const struct id_table *t, uint64_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (t->capacity - 1);
}

/* The slot of this id, or the free one where it would stand. */
static size_t find(const struct id_table *t, uint64_t id)
{
    size_t i = home(t, id);
    while (t->slots[i].value && t->slots[i].id != id) {
        i = (i + 1) & (t->capacity - 1);
    }
    return i;
}

static void grow(struct id_table *t)
{
    struct id_table bigger = {.capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY};
    bigger.slots = mem_array(bigger.capacity, sizeof(*bigger.slots));
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].value) {
            bigger.slots[find(&bigger, t->slots[i].id)] = t->slots[i];
        }
    }
    bigger.count = t->count;
    free(t->slots);
    *t = bigger;
}

void *id_table_get(const struct id_table *t, uint64_t id)
{
    return t->count ? t->slots[find(t, id)].value : NULL;
}

void id_table_add(struct id_table *t, uint64_t id, void *value)
{
    assert(value);
    if (2 * (t->count + 1) > t->capacity) {
        grow(t);
    }
    size_t i = find(t, id);
    assert(!t->slots[i].value);
    t->slots[i] = (struct id_slot){.id = id, .value = value};
    t->count++;
}

void *id_table_remove(struct id_table *t, uint64_t id)
{
    if (!t->count) {
        return NULL;
    }
    size_t hole = find(t, id);
    void *value = t->slots[hole].value;
    if (!value) {
        return NULL;
    }
    t->slots[hole].value = NULL;
    t->count--;
    /* Moves back those that the hole would cut off from their home. */
    for (size_t i = (hole + 1) & (t->capacity - 1); t->slots[i].value;
         i = (i + 1) & (t->capacity - 1)) {
        size_t from_home = (i - home(t, t->slots[i].id)) & (t->capacity - 1);
        size_t from_hole = (i - hole) & (t->capacity - 1);
        if (from_home >= from_hole) {
            t->slots[hole] = t->slots[i];
            t->slots[i].value = NULL;
            hole = i;
        }
    }
    return value;
}

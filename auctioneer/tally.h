/* Two small tables of the decision: strings to numbers, and how many instances of a process a cell
 * holds. Both live in the arena of the decision. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* Strings to numbers 0, 1, 2 ... in the order of their first coming. */
struct numbered_names {
    struct arena *arena;
    const char **list; /* by number; borrowed */
    uint32_t *slots;   /* number + 1; 0 = free */
    size_t count;
    size_t capacity; /* of slots; a power of two */
};

#define NAME_UNKNOWN UINT32_MAX

/* Grows as needed; `expected` is about how many will come. */
void names_init(struct numbered_names *n, struct arena *a, size_t expected);
uint32_t names_add(struct numbered_names *n, const char *name);
uint32_t names_find(const struct numbered_names *n,
                    const char *name); /* NAME_UNKNOWN if never added */

/* How many instances of a process a cell holds. */
struct tally {
    struct arena *arena;
    struct tally_entry {
        uint64_t key; /* process and cell, never 0; 0 = free */
        uint32_t count;
    } * slots;
    size_t used;
    size_t capacity; /* a power of two */
};

/* An empty table in the arena, for `expected` pairs. Adding counts one more; a pair that was not
 * added has 0. */
void tally_init(struct tally *t, struct arena *a, size_t expected);
void tally_add(struct tally *t, uint32_t process, uint32_t cell);
uint32_t tally_get(const struct tally *t, uint32_t process, uint32_t cell);

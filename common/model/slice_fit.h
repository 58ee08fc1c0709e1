/* Slices of a cluster's room: whether all have it, and what runs in one (docs/edge.md, Slices).
 * Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SLICES_MAX = 256,     /* of a cluster */
    SLICE_NODES_MAX = 64, /* of a slice */
    SLICE_CELLS_MAX = 60, /* that one has whole: each is a record of its transaction */
    SLICE_USES_MAX = 256, /* of a slice */
};

/* MB, and how many containers. */
struct slice_room {
    int64_t memory_mb, disk_mb, containers;
};

/* A cell that is there to run what is new; borrowed. */
struct slice_cell {
    struct slice_room room; /* all that it has */
    const char *slice;      /* uid of the one that has it whole; "" = none */
    char *const *tags;      /* placement tags: first those that it requires, then optional ones */
    size_t tag_count, required_count;
};

/* A slice as it is, or is to be; borrowed. */
struct slice_want {
    const char *uid;
    uint32_t nodes;
    struct slice_room node; /* the size of one */
    char *const *tags;      /* that a node's cell must have */
    size_t tag_count;
    bool whole_cells; /* it has cells of its own, and no others */
};

/* For how many nodes of each slice there is room, by place in `wants`, in the arena. Nodes go to
 * the first cell, in the order given, that has room for them: the largest size first, of equal ones
 * the lower uid. A slice with cells of its own uses those alone, and no other one uses them. */
uint32_t *slice_fit(struct arena *a, const struct slice_cell *cells, size_t cell_count,
                    const struct slice_want *wants, size_t want_count);

/* What runs in a slice: of one owner, instances of a size. */
struct slice_load {
    const char *owner;
    int32_t instances;
    struct slice_room instance; /* containers is 1 */
};

/* Why these do not fit in so many nodes of the size; NULL = they do. Of each owner the definition
 * that needs most of a resource counts, for each resource. In the arena. */
const char *slice_load_fault(struct arena *a, const struct slice_load *loads, size_t count,
                             uint32_t nodes, const struct slice_room *node);

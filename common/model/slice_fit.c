#include "common/model/slice_fit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- The nodes of all slices ----------------------------------------------------------------- */

struct ordered_want {
    const struct slice_want *want;
    size_t at;
};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int largest_first(const void *a, const void *b)
{
    const struct slice_want *x = ((const struct ordered_want *)a)->want;
    const struct slice_want *y = ((const struct ordered_want *)b)->want;
    int order = compare(y->node.memory_mb, x->node.memory_mb);
    order = order ? order : compare(y->node.disk_mb, x->node.disk_mb);
    order = order ? order : compare(y->node.containers, x->node.containers);
    return order ? order : strcmp(x->uid, y->uid);
}

static bool is_among(char *const *tags, size_t count, const char *tag)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tags[i], tag) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether nodes of the slice may be on the cell at all. */
static bool may_have(const struct slice_want *w, const struct slice_cell *cell)
{
    for (size_t i = 0; i < w->tag_count; i++) {
        if (!is_among(cell->tags, cell->tag_count, w->tags[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < cell->required_count; i++) {
        if (!is_among(w->tags, w->tag_count, cell->tags[i])) {
            return false; /* it takes only what asks for the tag */
        }
    }
    return strcmp(cell->slice, w->whole_cells ? w->uid : "") == 0;
}

static bool take(struct slice_room *free, const struct slice_room *node)
{
    if (free->memory_mb < node->memory_mb || free->disk_mb < node->disk_mb ||
        free->containers < node->containers) {
        return false;
    }
    free->memory_mb -= node->memory_mb;
    free->disk_mb -= node->disk_mb;
    free->containers -= node->containers;
    return true;
}

uint32_t *slice_fit(struct arena *a, const struct slice_cell *cells, size_t cell_count,
                    const struct slice_want *wants, size_t want_count)
{
    uint32_t *placed = ARENA_ARRAY(a, want_count, uint32_t);
    struct slice_room *free = ARENA_ARRAY(a, cell_count, struct slice_room);
    struct ordered_want *order = ARENA_ARRAY(a, want_count, struct ordered_want);
    for (size_t i = 0; i < cell_count; i++) {
        free[i] = cells[i].room;
    }
    for (size_t i = 0; i < want_count; i++) {
        assert(wants[i].nodes <= SLICE_NODES_MAX);
        order[i] = (struct ordered_want){&wants[i], i};
    }
    qsort(order, want_count, sizeof(*order), largest_first);
    for (size_t i = 0; i < want_count; i++) {
        const struct slice_want *w = order[i].want;
        for (size_t k = 0; k < cell_count; k++) {
            while (placed[order[i].at] < w->nodes && may_have(w, &cells[k]) &&
                   take(&free[k], &w->node)) {
                placed[order[i].at]++;
            }
        }
    }
    return placed;
}

/* ---- What runs in one ------------------------------------------------------------------------ */

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The definition of this owner that is the first of the list. */
static bool is_first_of_owner(const struct slice_load *loads, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(loads[i].owner, loads[at].owner) == 0) {
            return false;
        }
    }
    return true;
}

static struct slice_room used_by(const struct slice_load *loads, size_t count)
{
    struct slice_room used = {0};
    for (size_t i = 0; i < count; i++) {
        struct slice_room own = {0};
        for (size_t k = i; is_first_of_owner(loads, i) && k < count; k++) {
            if (strcmp(loads[k].owner, loads[i].owner) == 0) {
                int64_t n = loads[k].instances;
                own.memory_mb = most(own.memory_mb, n * loads[k].instance.memory_mb);
                own.disk_mb = most(own.disk_mb, n * loads[k].instance.disk_mb);
                own.containers = most(own.containers, n);
            }
        }
        used.memory_mb += own.memory_mb;
        used.disk_mb += own.disk_mb;
        used.containers += own.containers;
    }
    return used;
}

static const char *more_than(struct arena *a, const char *of, int64_t wanted, const char *unit,
                             int64_t has)
{
    return arena_printf(a, "not enough %s: %lld%s wanted, %lld%s in it", of, (long long)wanted,
                        unit, (long long)has, unit);
}

/* 1. No instance is larger than a node.
 * 2. All together are not larger than all nodes. */
const char *slice_load_fault(struct arena *a, const struct slice_load *loads, size_t count,
                             uint32_t nodes, const struct slice_room *node)
{
    for (size_t i = 0; i < count; i++) { /* 1 */
        const struct slice_room *one = &loads[i].instance;
        if (one->memory_mb > node->memory_mb || one->disk_mb > node->disk_mb) {
            return arena_printf(a,
                                "an instance of %lld MiB memory and %lld MiB disk is larger than a "
                                "node, of %lld and %lld MiB",
                                (long long)one->memory_mb, (long long)one->disk_mb,
                                (long long)node->memory_mb, (long long)node->disk_mb);
        }
    }
    struct slice_room used = used_by(loads, count); /* 2 */
    struct slice_room all = {node->memory_mb * nodes, node->disk_mb * nodes,
                             node->containers * nodes};
    return used.memory_mb > all.memory_mb
               ? more_than(a, "memory", used.memory_mb, " MiB", all.memory_mb)
           : used.disk_mb > all.disk_mb ? more_than(a, "disk", used.disk_mb, " MiB", all.disk_mb)
           : used.containers > all.containers
               ? more_than(a, "containers", used.containers, "", all.containers)
               : NULL;
}

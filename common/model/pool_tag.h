/* The placement tag of a node pool: "pool:<uid>/<path:name>#<epoch>", as
 * "pool:6f0c-2a//:main#1", or "pool:6f0c-2a//api:#2" of a service's own. A cell of the pool has it
 * in its record, and what may run there bears it (docs/systems.md, Node pools). Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_tag {
    const char *uid;  /* of the system */
    const char *name; /* path:name; "/api:" is a service's own */
    uint32_t epoch;   /* from 1 */
};

/* In the arena. Nothing is empty, the uid has no "/", and the epoch is 1 at least: asserted. */
const char *pool_tag(struct arena *a, const char *uid, const char *name, uint32_t epoch);

/* The tag of a slice that has whole cells, "slice:<uid>" (docs/edge.md, Slices): its cells have it
 * as those of a pool have theirs. In the arena. */
const char *slice_tag(struct arena *a, const char *uid);

/* The uid in such a tag, a part of it; NULL = it is none. */
const char *slice_tag_uid(const char *tag);

/* Whether a placement tag is one of node pools or slices, well formed or not: nobody else may give
 * such. */
bool pool_tag_is(const char *tag);

/* False unless it is the tag of a pool, as pool_tag() makes it. The texts are in the arena. */
bool pool_tag_parse(struct arena *a, const char *tag, struct pool_tag *ret);

/* Whether what has these placement tags may be on a cell of this pool (its record's; "" = of none):
 * a cell of a pool takes only what bears its tag, and that goes nowhere else. */
bool pool_tag_fits(const char *cell_pool, char *const *tags, size_t count);

/* The instance type that a definition gives to cells of no pool. */
#define POOL_SHARED_TYPE "shared"

enum {
    POOL_CELLS_MAX = 256,     /* of one pool, those of all epochs together */
    POOL_EPOCHS_MAX = 4,      /* at the same time */
    POOL_TYPE_BYTES_MAX = 63, /* of an instance type */
};

/* NULL = it is an instance type, 1 to 63 of a-z 0-9 -; else what is wrong, constant text. */
const char *pool_type_fault(const char *instance_type);

/* The optional placement tag of a cell of that type, "type:<instance type>", in the arena. */
const char *pool_type_tag(struct arena *a, const char *instance_type);

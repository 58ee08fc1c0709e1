/* Paths of the components of a system: "/" is the root, "/store/api" a component two levels below
 * (docs/systems.md, Paths). They are compared by segments everywhere: "/a" is above "/a/b", and has
 * nothing to do with "/ab". Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    COMPONENT_PATH_BYTES_MAX = 512,
    COMPONENT_PATH_SEGMENTS_MAX = 16,
    COMPONENT_NAME_BYTES_MAX = 63, /* of one segment */
};

/* NULL = it is a path; else what is wrong with it, a sentence in the arena that names it. Only
 * paths that pass are given to the functions below; all others assert. */
const char *component_path_fault(struct arena *a, const char *path);

/* The same of one segment, which is a component's name: 1 to 63 of A-Z a-z 0-9 - _ . */
const char *component_name_fault(struct arena *a, const char *name);

/* The same of "path:name", the name of a secret or of a node pool; `may_be_empty`: "path:", a pool
 * of a service's own. */
const char *component_subname_fault(struct arena *a, const char *text, bool may_be_empty);

/* The number of segments; of "/" 0. */
size_t component_path_depth(const char *path);

/* Whether `path` is `top` or below it. */
bool component_path_within(const char *path, const char *top);

/* Whether one is the other, above it or below it. */
bool component_path_related(const char *one, const char *other);

/* Segment by segment, in byte order; what is above comes first. Below, at or above 0. */
int component_path_compare(const char *one, const char *other);

/* The path one level up; of "/" NULL. */
const char *component_path_parent(struct arena *a, const char *path);

/* The last segment; of "/" "". Within `path`. */
const char *component_path_leaf(const char *path);

/* The path of `name` in the component at `path`. */
const char *component_path_child(struct arena *a, const char *path, const char *name);

/* The first n segments as a path, n at most its depth. */
const char *component_path_prefix(struct arena *a, const char *path, size_t n);

/* Its segments in reverse order with dots, lower case, and the system's id behind:
 * "api.store.shop". Of "/" the id alone. */
const char *component_path_host(struct arena *a, const char *path, const char *system);

/* The path that stands in "path:name". */
const char *component_subname_path(struct arena *a, const char *text);

/* The name in "path:name", within `text`. */
const char *component_subname_leaf(const char *text);

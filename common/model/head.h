/* What is to stand in a system: an overlay of trees that never change (docs/systems.md). A root
 * says that a tree stands at and below its path; of two, the one with the longer path counts. So a
 * subtree is replaced by one small entry, whatever stands in it. Pure: each change gives a new
 * record of the next generation. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>

enum { HEAD_ROOTS_MAX = 4096, SYSTEM_SERVICES_MAX = 10000 };

/* The root that says what stands at the path; NULL = none, so nothing does. Its tree may be empty:
 * nothing stands there either. */
const Board__Root *head_root(const Board__HeadRecord *h, const char *path);

/* Whether it is this tree that counts at the path. */
bool head_has(const Board__HeadRecord *h, const char *tree, const char *path);

/* The roots at and below the path, in order. Gives their number. */
size_t head_roots_within(struct arena *a, const Board__HeadRecord *h, const char *path,
                         Board__Root ***ret);

/* The roots that say what stands at and below the path: the one that counts at it, and those below.
 * Gives their number. */
size_t head_roots_of(struct arena *a, const Board__HeadRecord *h, const char *path,
                     const Board__Root ***ret);

/* With this tree at the path, and none of the roots that were at and below it. The texts are
 * borrowed. */
Board__HeadRecord *head_put(struct arena *a, const Board__HeadRecord *h, const char *path,
                            const char *tree, const char *build);

/* With these roots, all at or below the path, in the place of those that were there: what
 * head_roots_within() gave before. They are borrowed. */
Board__HeadRecord *head_restore(struct arena *a, const Board__HeadRecord *h, const char *path,
                                Board__Root *const *roots, size_t count);

/* With every service told of it. It stays of its generation. */
Board__HeadRecord *head_told(struct arena *a, const Board__HeadRecord *h);

/* With nothing: a teardown's. */
Board__HeadRecord *head_cleared(struct arena *a, const Board__HeadRecord *h);

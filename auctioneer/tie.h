/* Which of equal cells wins: ranks that differ, drawn from entropy for each decision, so that no
 * cell draws all that comes one after another (design.md 5, Score). The same entropy gives the same
 * ranks. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* The ranks 0 to count - 1 by cell, each order of them as likely as any other. In the arena. */
uint32_t *tie_ranks(struct arena *a, const uint64_t entropy[2], size_t count);

/* The same with nothing drawn: the lower cell has the lower rank. */
uint32_t *tie_ranks_in_order(struct arena *a, size_t count);

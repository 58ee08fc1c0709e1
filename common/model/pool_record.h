/* What the record of a node pool tells (docs/systems.md, Node pools). Pure. */
#pragma once

#include "board.pb-c.h"

#include <stddef.h>

/* The newest epoch that may take what is new; NULL = there is none, for the pool is absent (NULL),
 * being deleted, or of a newer version. Borrowed. */
const Board__PoolEpoch *pool_newest(const Board__PoolRecord *pool);

/* How many cells it has, those of all epochs together. */
size_t pool_cells(const Board__PoolRecord *pool);

/* Which root filesystems the cells have, in words. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "models/cells.pb-c.h"

enum { ROOTFS_SHOWN_MAX = 12 }; /* names in a sentence */

/* "busybox, alpine", in the order in which the cell tells them; "" when it has none. A scheme of
 * which it has whatever name is asked for: "busybox, any docker". `cell` NULL: it is not known. */
const char *rootfs_of_cell(struct arena *a, const Models__CellPresence *cell);

/* Why no cell can have an instance with this root filesystem: that none of them has it, the nearest
 * name, and the names that they have. NULL when one has it, be it lost, and when no cell is known.
 */
const char *rootfs_problem(struct arena *a, const Board__CellsStatus *cells, const char *rootfs);

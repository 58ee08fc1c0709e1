/* What the bbs command line shows of cells. Pure: messages in, text out. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include "board.pb-c.h"

/* The table of `bbs cells`; below it, while cells are held, which they are, since when, until when,
 * and what an operator can do. */
void cells_table(struct arena *a, const Board__CellsStatus *cells, int64_t now_ns, struct buf *out);

/* What `bbs cells confirm` or `keep` has done. */
const char *limiter_text(struct arena *a, const Board__LimiterRecord *limiter);

/* The same with the cell of this id alone. */
Board__CellsStatus *cells_only(struct arena *a, const Board__CellsStatus *cells,
                               const char *cell_id);

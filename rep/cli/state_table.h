/* What `rep state` and `rep containers` show of a CellState. Pure. */
#pragma once

#include "cell.pb-c.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"

/* Names and values, one a line. */
void rep_state_table(struct arena *a, const Cell__CellState *state, struct buf *out);

/* A row for each container, and beneath it what its checks found, by now on the wall clock. */
void rep_containers_table(struct arena *a, const Cell__CellState *state, int64_t now_ns,
                          struct buf *out);

/* What `rep metrics` shows: what each running container uses of what it may. */
void rep_metrics_table(struct arena *a, const Cell__CellMetrics *metrics, struct buf *out);

/* What the board says of the cells of a dry run beside what they tell themselves: which node pool
 * has them, and which machine each one is. Cells are sorted by id, without double ones. Pure. */
#pragma once

#include "auctioneer/why.h"
#include "board.pb-c.h"
#include "common/base/err.h"

/* A cell of which nothing is told keeps the placement tags that it tells, those of a pool among
 * them. */
void simulate_pools(struct arena *a, struct why_cell *cells, size_t cell_count,
                    Board__CellStatus *const *told, size_t told_count);

/* A machine that is down is of a cell that is gone, or was made anew: what has its name now is none
 * yet. */
void simulate_machines(struct why_cell *cells, size_t cell_count, Board__MachineEntry *const *told,
                       size_t told_count);

/* The tag of the node pool that `name` means: a tag that some cell has, or a pool's name, "/:main",
 * the newest epoch of it. ERR_INVALID: no cell is of such a pool, or pools of several systems have
 * the name. */
int simulate_pool_tag(struct arena *a, const struct why_cell *cells, size_t cell_count,
                      const char *name, const char **ret_tag, struct err *err);

/* What the cells have of a unit service: its guid, and the number after the highest. One that no
 * cell knows of has its name for a guid, and begins at 0. */
struct simulated_service {
    const char *guid;
    uint32_t next;
};
struct simulated_service simulate_service(struct arena *a, const struct why_cell *cells,
                                          size_t cell_count, const char *name);

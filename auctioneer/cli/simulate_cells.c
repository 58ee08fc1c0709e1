#include "auctioneer/cli/simulate_cells.h"

#include "auctioneer/cells.h"
#include "auctioneer/machines.h"
#include "common/model/pool_tag.h"
#include "common/model/unit_name.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *id, const void *cell)
{
    return strcmp(id, ((const struct why_cell *)cell)->id);
}

static struct why_cell *cell_named(struct why_cell *cells, size_t count, const char *id)
{
    return count ? bsearch(id, cells, count, sizeof(*cells), by_id) : NULL;
}

/* ---- Node pools ------------------------------------------------------------------------------ */

void simulate_pools(struct arena *a, struct why_cell *cells, size_t cell_count,
                    Board__CellStatus *const *told, size_t told_count)
{
    for (size_t i = 0; i < told_count; i++) {
        const Board__CellStatus *status = told[i];
        struct why_cell *cell =
            status->presence ? cell_named(cells, cell_count, status->presence->cell_id) : NULL;
        if (!cell || !cell->state) {
            continue;
        }
        cell->state = cell_state_in_pool(a, cell->state, status->pool);
        if (status->pool_leaves && !(cell->unusable && *cell->unusable)) {
            cell->unusable = CELL_POOL_LEAVES_TEXT;
        }
    }
}

/* NULL: the cell is of no pool that `name` may mean. */
static const char *tag_meant(struct arena *a, const Cell__CellState *state, const char *name,
                             struct pool_tag *ret)
{
    for (size_t i = 0; i < state->n_placementtags; i++) {
        const char *tag = state->placementtags[i];
        if (pool_tag_parse(a, tag, ret) &&
            (strcmp(tag, name) == 0 || strcmp(ret->name, name) == 0)) {
            return tag;
        }
    }
    return NULL;
}

int simulate_pool_tag(struct arena *a, const struct why_cell *cells, size_t cell_count,
                      const char *name, const char **ret_tag, struct err *err)
{
    const char *best = NULL;
    struct pool_tag best_pool = {0}, pool;
    for (size_t i = 0; i < cell_count; i++) {
        const char *tag = cells[i].state ? tag_meant(a, cells[i].state, name, &pool) : NULL;
        if (!tag) {
            continue;
        }
        if (best && strcmp(best_pool.uid, pool.uid) != 0) {
            return err_set(err, ERR_INVALID,
                           "--pool %.60s: two systems have such a pool; give the tag, %.90s or "
                           "%.90s",
                           name, best, tag);
        }
        if (!best || pool.epoch > best_pool.epoch) {
            best = tag;
            best_pool = pool;
        }
    }
    if (!best) {
        return err_set(err, ERR_INVALID,
                       "--pool %.100s: no cell is of such a node pool; bbs cells shows which are",
                       name);
    }
    *ret_tag = best;
    return 0;
}

/* ---- Machines -------------------------------------------------------------------------------- */

void simulate_machines(struct why_cell *cells, size_t cell_count, Board__MachineEntry *const *told,
                       size_t told_count)
{
    for (size_t i = 0; i < told_count; i++) {
        const Board__MachineRecord *m = told[i]->machine;
        struct why_cell *cell =
            m && !told[i]->down ? cell_named(cells, cell_count, m->cell_id) : NULL;
        if (cell && (!cell->machine.is || cell->machine.number < m->number)) {
            cell->machine = machine_sight_of(m);
        }
    }
}

struct simulated_service simulate_service(struct arena *a, const struct why_cell *cells,
                                          size_t cell_count, const char *name)
{
    struct simulated_service s = {.guid = name};
    struct unit_name unit;
    for (size_t i = 0; i < cell_count; i++) {
        const Cell__CellState *state = cells[i].state;
        for (size_t k = 0; state && k < state->n_units; k++) {
            if (unit_name_parse(a, state->units[k]->unit, &unit) &&
                strcmp(unit.service, name) == 0) {
                s.guid = state->units[k]->service_guid;
                s.next =
                    unit.number >= s.next && unit.number < UINT32_MAX ? unit.number + 1 : s.next;
            }
        }
    }
    return s;
}

#include "common/model/pool_record.h"

#include "common/lifecycle/pool.h"

#include <assert.h>

const Board__PoolEpoch *pool_newest(const Board__PoolRecord *pool)
{
    int state = pool ? lifecycle_state(&pool_lifecycle, pool->state) : POOL_NONE;
    if (state <= POOL_NONE || state == POOL_DELETING || pool->n_epochs == 0) {
        return NULL;
    }
    const Board__PoolEpoch *last = pool->epochs[pool->n_epochs - 1];
    return last->released ? NULL : last;
}

size_t pool_cells(const Board__PoolRecord *pool)
{
    size_t count = 0;
    assert(pool);
    for (size_t i = 0; i < pool->n_epochs; i++) {
        count += pool->epochs[i]->n_cells;
    }
    return count;
}

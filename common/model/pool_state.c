#include "common/model/pool_state.h"

#include "common/lifecycle/pool.h"
#include "common/model/pool_record.h"

#include <assert.h>

static bool is_short(const struct pool_facts *f)
{
    return f->serving < f->wanted;
}

int pool_state_of(const struct pool_facts *f)
{
    assert(f->wanted >= 0 && f->serving >= 0 && f->serving <= f->cells && f->occupied >= 0);
    if (f->deleting) {
        return POOL_DELETING; /* 0 */
    }
    if (f->epochs == 0) {
        return POOL_PENDING; /* 1 */
    }
    if (is_short(f) && f->overdue && !f->held[0]) {
        return POOL_FAILED; /* 2 */
    }
    if (f->epochs > 1) {
        return POOL_UPDATING; /* 3 */
    }
    return f->cells != f->wanted || f->serving != f->wanted ? POOL_SCALING : POOL_STABLE; /* 4, 5 */
}

/* ---- In words -------------------------------------------------------------------------------- */

static const char *cells_text(int32_t count)
{
    return count == 1 ? "cell" : "cells";
}

static const char *short_text(struct arena *a, const struct pool_facts *f, bool failed)
{
    const char *needs = arena_printf(a, "needs %d %s of type %s, %d %s there", (int)f->wanted,
                                     cells_text(f->wanted), f->type, (int)f->serving,
                                     f->serving == 1 ? "is" : "are");
    const char *start =
        failed ? arena_printf(a,
                              ", for more than %d s: start cells with "
                              "--optional-placement-tag type:%s%s",
                              POOL_SHORT_S, f->type, f->occupied ? "" : ", or empty some")
               : "";
    const char *occupied =
        f->occupied
            ? arena_printf(a,
                           "; %d more %s: empty %s with rep evacuate, and end units that "
                           "stay with bbs units destroy-unit",
                           (int)f->occupied,
                           f->occupied == 1 ? "has other work on it" : "have other work on them",
                           f->occupied == 1 ? "it" : "some")
            : "";
    return arena_printf(a, "%s%s%s", needs, start, occupied);
}

static const char *surplus_text(struct arena *a, int32_t count)
{
    return arena_printf(a, "%d %s more than wanted: %s when nothing runs there", (int)count,
                        cells_text(count), count == 1 ? "it goes" : "they go");
}

static const char *deleting_text(struct arena *a, const struct pool_facts *f)
{
    int32_t left = f->cells + f->old_cells;
    return left > 0 ? arena_printf(a, "%d %s to give back: when nothing of it runs there",
                                   (int)left, cells_text(left))
                    : "it has given its cells back";
}

static const char *unheld_text(struct arena *a, const struct pool_facts *f)
{
    switch (pool_state_of(f)) {
    case POOL_DELETING:
        return deleting_text(a, f);
    case POOL_PENDING:
        return "nobody has looked at it yet";
    case POOL_STABLE:
        return "";
    default:
        break;
    }
    if (is_short(f)) {
        return short_text(a, f, pool_state_of(f) == POOL_FAILED);
    }
    if (f->epochs == 1) {
        return surplus_text(a, f->cells - f->wanted);
    }
    return arena_printf(a, "%d %s of before to give back: when nothing is to run there",
                        (int)f->old_cells, cells_text(f->old_cells));
}

const char *pool_state_text(struct arena *a, const struct pool_facts *f)
{
    const char *text = unheld_text(a, f);
    return f->held[0] && text[0] ? arena_printf(a, "%s; %s", text, f->held) : text;
}

/* ---- The record ------------------------------------------------------------------------------ */

bool pool_is_ready(const Board__PoolRecord *pool)
{
    const Board__PoolEpoch *e = pool_newest(pool);
    assert(pool->wanted >= 0);
    return e && e->n_cells >= (size_t)pool->wanted;
}

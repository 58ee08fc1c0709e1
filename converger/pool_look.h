/* What is to be done about a node pool now: one move, or none (docs/systems.md, Node pools). The
 * first that holds:
 *
 *   1. its system was not confirmed in this board generation: nothing but rules 5 and 9
 *   2. it goes and has no epoch: remove
 *   3. retire an epoch that nothing names: an older one, or any of one that goes
 *   4. release a cell on which nothing is, or that has no record, of an epoch that is over
 *   5. it does not go, and its state is another than the record's: observe
 *   6. fewer of its cells that serve stay than are wanted: keep one that was to go and serves, the
 *      first by name; fewer serve, and one is free: assign, the one in the zone where it has
 *      fewest, then the first by name
 *   7. release a cell of the newest epoch that has no record any more; or, of more than are wanted,
 *      one on which nothing is: one that does not serve, then the one in the zone where it has
 *      most, then the last by name
 *   8. more of its cells stay than are wanted, each with work: mark one, which takes nothing new
 *      from then on; in the order of 7
 *   9. what is said of it is something else: observe, a second after the last one
 *
 * An epoch is named by each service that runs a revision on its cells, or is to, and by each run
 * whose Task goes there. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/map.h"
#include "common/contract/moment.h"

#include "board.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_STEP_NS (1 * SECOND_NS)

/* A cell that has a record. */
struct pool_cell {
    char *zone;     /* "" = none */
    char *pool;     /* the tag of the pool that has it; "" = none */
    char **tags;    /* its optional placement tags */
    size_t tag_count;
    bool picky;     /* it takes only what asks for its placement tags */
    bool serves;    /* present, and not being emptied */
    bool used;      /* something is on it */
    bool leaves;    /* its pool gives it back when nothing is on it */
    bool asked;     /* a move that gives it to a pool is on its way */
    char id[];
};

struct pool_look {
    const Board__PoolRecord *record; /* of a state of this version */
    struct moment now;
    const struct map *cells;  /* id -> struct pool_cell */
    const struct map *named;  /* tags of epochs that are named */
    bool unconfirmed;         /* its system is not, in this board generation */
    /* Monotonic, of this process. */
    int64_t short_ns;   /* fewer serve than are wanted since then */
    int64_t observe_ns; /* when it was last observed; 0 = never */
};

/* `move` without a term and a revision; NULL = nothing is to be done. It is in the arena. */
struct pool_answer {
    Board__Move *move;
    bool settled;   /* only a change of a record makes anything due; else it is looked at again */
};

/* Gives the move that is due now. */
void pool_look_at(struct arena *a, const struct pool_look *l, struct pool_answer *ret);

/* Whether fewer of its cells serve than are wanted: then it may fail in time. */
bool pool_is_short(const struct pool_look *l);

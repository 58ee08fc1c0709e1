/* The state of a node pool, a function of its cells (docs/systems.md, Node pools). Pure.
 *
 * The first that holds:
 *   0. its life is over                                          deleting
 *   1. it has no epoch yet                                       pending
 *   2. fewer of its cells serve than are wanted, for too long    failed
 *   3. it has several epochs                                     updating
 *   4. as many serve or are in it as are not wanted              scaling
 *   5. otherwise                                                 stable */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pool may have too few cells for so long. */
enum { POOL_SHORT_S = 600 };

struct pool_facts {
    bool deleting;
    size_t epochs;     /* that it has */
    const char *type;  /* of the cells of its newest epoch */
    int32_t wanted;    /* cells */
    int32_t cells;     /* of the newest epoch */
    int32_t serving;   /* of these: present, and not being emptied */
    int32_t old_cells; /* of its other epochs; of all of them when it goes */
    int32_t occupied;  /* cells that it could take if nothing ran there */
    bool overdue;      /* fewer serve than are wanted, for POOL_SHORT_S */
    const char *held;  /* why nothing is done to it, a clause; "" = it is not held */
};

/* POOL_<STATE> of common/lifecycle/pool.h. */
int pool_state_of(const struct pool_facts *f);

/* The same in a sentence for people, "" when nothing is to be said. */
const char *pool_state_text(struct arena *a, const struct pool_facts *f);

/* Whether its newest epoch has as many cells as are wanted: then services roll to it and runs
 * begin. Not of one that is being deleted. */
bool pool_is_ready(const Board__PoolRecord *pool);

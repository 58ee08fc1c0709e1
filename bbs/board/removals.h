/* Marks of removals that nobody needs any more */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/moment.h"

#include <stdbool.h>

struct board;

#define REMOVAL_KEPT_NS (86400 * SECOND_NS) /* however long a cell is away */
enum { REMOVALS_MAX = 10000 };              /* on the board; the oldest go */

struct removals {
    int64_t next_ns;
    uint64_t call_id; /* of the open transaction; 0 = none */
    bool more;        /* than it deletes */
};

/* Looks for marks that are over and deletes them, when that is due; the next due time. */
void removals_timer(struct board *b, struct effects *out);
int64_t removals_due_ns(const struct board *b);

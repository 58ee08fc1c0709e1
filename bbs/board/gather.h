/* What a view of the board is made of (view.c) */
#pragma once

#include "bbs/board/copy.h"

struct view {
    struct board *board;
    struct arena *arena;
    struct read_set *reads; /* NULL: nothing is noted */
    unsigned nested;        /* ops that read through it for one plan; 0 = one alone */
};

/* The record decoded into the arena; NULL if it cannot be decoded. */
const struct seen *seen_of(struct arena *a, struct version *item);

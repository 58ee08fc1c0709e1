/* The list that makes a copy (load.c), and how the copy is given up and taken over (reload.c) */
#pragma once

#include "bbs/board/page.h"
#include "common/base/map.h"
#include "common/contract/effect.h"

#include <stdbool.h>

struct board;

enum { LOAD_PAGE_BYTES = 8 * 1024 * 1024 }; /* that a page should have: less than the shell takes */

struct load {
    bool active;
    uint64_t call_id;
    struct copy *copy;
    int64_t revision; /* 0 before the first page */
    int64_t asked_ns; /* when that was asked for */
    unsigned part;
    struct buf next_key;
    struct page_size page;
    unsigned failures;
    int64_t retry_ns; /* NEVER_NS: not waiting */
    struct map strangers; /* unknown top-level prefixes */
    bool complete;        /* the copy is whole: reload_step() takes it */
    const struct version *board_generation; /* of the copy then */
};

/* Lists the board into load.copy, from the beginning, until load.complete. */
void load_begin(struct board *b, struct effects *out);
void load_timer(struct board *b, struct effects *out);
void load_done(struct board *b);

/* Gives up the copy and loads it again; `why` is logged unless it is NULL. */
void reload_begin(struct board *b, const char *why, struct effects *out);

/* Takes a copy that is complete, and loads it again if that is wanted. After every call that may
 * have noted either. */
void reload_step(struct board *b, struct effects *out);

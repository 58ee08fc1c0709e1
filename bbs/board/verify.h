/* The slow list that verifies the copy */
#pragma once

#include "bbs/board/await.h"
#include "bbs/board/page.h"
#include "common/base/arena.h"
#include "common/base/map.h"
#include "common/contract/effect.h"

struct board;

enum { TOUCHED_MAX = 200000 }; /* keys that change during a pass */

/* The slow list that verifies the copy. */
struct verify {
    bool active;
    int64_t next_ns;       /* when the next pass, or the next page of this one, begins */
    int64_t ended_ns;      /* when the last pass ended */
    uint64_t call_id;
    unsigned part;         /* of the key space */
    char *from;            /* the page begins after this key; "" = at the start of the part */
    struct page_size size;
    const Etcd__RangeResponse *page; /* waits for the copy to reach its revision */
    struct arena page_arena;
    struct await wait;
    struct map touched;    /* keys that changed since the pass began */
};

/* Begins a pass or asks for its next page, when that is due; the next due time. */
void verify_timer(struct board *b, struct effects *out);
int64_t verify_due_ns(const struct board *b);
/* There is reason to doubt the copy: the next pass begins now, unless one has just ended. */
void verify_soon(struct board *b);
/* A key of the copy changed. */
void verify_touched(struct board *b, const char *key);
/* The copy was loaded again: a pass that was under way ends. */
void verify_reset(struct board *b);
void verify_free(struct board *b);

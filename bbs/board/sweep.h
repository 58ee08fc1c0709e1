/* What bbs that are gone have left on the board */
#pragma once

#include "bbs/board/compare.h"
#include "bbs/board/store.h"
#include "common/base/bytes.h"

struct sweep {
    int64_t next_ns;
    uint64_t call_id;
    struct buf from;     /* causes from this key on are to be looked at; empty = all */
    char *orphan;        /* boot id of causes without a heartbeat key; NULL = none is known */
    int64_t orphan_ns;   /* since when */
};

/* Looks for what is left, and deletes it, when that is due; the next due time. */
void sweep_timer(struct board *b, struct effects *out);
int64_t sweep_due_ns(const struct board *b);
void sweep_free(struct board *b);
/* Deletes a bbs's heartbeat key and causes if the compare about its heartbeat key holds (NULL: in
 * any case). */
void sweep_bbs(struct board *b, const char *boot_id, const struct compare *heartbeat,
               store_done *done, struct effects *out);

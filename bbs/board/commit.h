/* Transactions, their slots, and the settling of unknown outcomes (cause.c) */
#pragma once

#include "bbs/board/ops.h"

enum {
    TRANSACTIONS_MAX = 256, /* most slots a bbs may be configured to have */
    TRANSACTIONS_DEFAULT = 16,
    BATCH_LOOK_AHEAD = 256, /* ready ops looked at for one batch */
    BATCH_WORTH = 64,       /* ready records that are sent although others fly */
};

#define GROUP_WAIT_NS (5 * MILLISECOND_NS) /* most that a ready op waits for the next batch */

enum slot_state {
    SLOT_IDLE,
    SLOT_FLYING,   /* a transaction with it is on its way */
    SLOT_VOIDING,  /* the outcome is unknown: being settled */
    SLOT_WAITING,  /* the same, before the next try */
};

struct slot;

/* `landed_revision` > 0: the transaction landed at that revision; 0: it never did and never will;
 * -1: nobody can tell any more (the slot's key was deleted). */
typedef void slot_settled(struct slot *s, int64_t landed_revision, struct effects *out);

struct slot {
    struct board *board;
    unsigned number;
    enum slot_state state;
    int64_t mod_revision; /* of its key as we know it; 0 = not there */
    uint64_t sequence;    /* of its last transaction */
    unsigned failures;
    struct await retry;
    slot_settled *settled; /* whom slot_settle() tells */
    struct op_list ops;   /* that travel with it */
    struct batch *batch;  /* what they made, for its failure reads */
};

/* Sends what is ready, as long as there are free slots. */
void commits_send(struct board *b, struct effects *out);
int64_t commits_due_ns(const struct board *b);
void commits_free(struct board *b);
bool commits_idle(const struct board *b); /* no transaction is open or unsettled */

/* The Range at this place of a failure branch; NULL if none is there. */
const Etcd__RangeResponse *txn_range(const Etcd__TxnResponse *r, size_t at);
/* Whether the batch's failure reads, which begin at place `first`, show that what `c` read has
 * moved. */
bool batch_moved(const struct batch *batch, const struct commit *c, const Etcd__TxnResponse *r,
                 size_t first);

/* The compares that every transaction has; in `arena`. */
Etcd__Compare *board_generation_compare(struct board *b, struct arena *arena);
Etcd__Compare *slot_compare(const struct slot *s, struct arena *arena);

/* Settles the slot whose transaction ended unknown: voids it under the compare that it is
 * unchanged. `settled` is called once, when that is known. */
void slot_settle(struct slot *s, slot_settled *settled, struct effects *out);

/* The read barrier: who waits until the copy is as fresh as the store */
#pragma once

#include "bbs/board/await.h"
#include "bbs/board/board.h"

#include <sys/queue.h>

enum { BARRIER_WAITERS_MAX = 16384 }; /* ops and reads; more are answered 503 */

#define BARRIER_TIMEOUT_NS (1 * SECOND_NS)

typedef void barrier_done(void *context, bool passed, struct effects *out);

struct barrier_waiter {
    TAILQ_ENTRY(barrier_waiter) link;
    LIST_ENTRY(barrier_waiter) all;
    struct await await;
    struct board *board;
    barrier_done *done;
    void *context;
    bool queued; /* in one of the lists below */
    bool flying;
};

TAILQ_HEAD(barrier_waiters, barrier_waiter);

struct barrier {
    uint64_t call_id;               /* 0 = none in flight */
    struct barrier_waiters flying;  /* wait for the answer of that call */
    struct barrier_waiters next;    /* came later: wait for the next call */
    LIST_HEAD(, barrier_waiter) all;
    size_t waiting;
    int64_t retry_ns;               /* no call before */
};

/* Passes the read barrier: done once, with true from a copy that is as fresh as the store was at
 * this call, or false after 1 s. Never from within. */
void barrier_wait(struct board *b, barrier_done *done, void *context, struct effects *out);
/* The same for board_barrier(). */
void barrier_read(struct board *b, struct arena *arena, board_read *read, void *context,
                  struct effects *out);
void barrier_send(struct board *b, struct effects *out);
void barrier_free(struct board *b, struct effects *nowhere);

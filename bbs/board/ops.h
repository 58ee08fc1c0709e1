/* Ops at work: the states of an op, and how its transaction tells it of its end */
#pragma once

#include "bbs/board/await.h"
#include "bbs/board/batch.h"
#include "bbs/board/op.h"

#include <sys/queue.h>

enum {
    OPS_MAX = 16384,   /* open at once, 16 KiB each; more are answered 503 */
    CONFLICTS_MAX = 8, /* of one op, then UNAVAILABLE */
};

#define OP_DEADLINE_NS (5 * SECOND_NS)
#define WATCH_PATIENCE_NS (200 * MILLISECOND_NS) /* then a commit answers from its own result */

enum op_state {
    OP_TURN,     /* others with its target come first */
    OP_QUEUED,   /* to be gathered and decided */
    OP_CATCH_UP, /* the copy must reach a revision first */
    OP_CONFIRM,  /* its answer waits for the next transaction that confirms */
    OP_CONFIRMING, /* which travels */
    OP_READY,    /* waits for a transaction */
    OP_FLYING,   /* travels, or its outcome is being settled */
    OP_LANDED,   /* committed: waits for the watch */
    OP_OVER,
};

struct op {
    TAILQ_ENTRY(op) link; /* in the queue, the ready list, its turn's or its slot's list */
    LIST_ENTRY(op) all;
    struct board *board;
    struct arena *arena;
    const struct op_row *row;
    struct op_input in;
    struct random random;
    op_done *done;
    void *context;
    uint64_t id;
    enum op_state state;
    struct turn *turn;
    struct await life; /* answers UNAVAILABLE at the op's deadline */
    struct await wait; /* for a revision of the copy */
    bool answered;
    /* What etcd has confirmed last, and what it refused last: `list` NULL = nothing. */
    struct reads_seen {
        const struct compare *list;
        size_t count;
    } confirmed, refused;
    unsigned conflicts;
    unsigned board_generation_number; /* of the board when it was gathered */
    struct plan *plan;
    struct commit commit;
    int64_t ready_ns;
    int64_t revision;  /* of its commit */
    int64_t landed_ns; /* when that was known */
    bool notified;     /* its notices were given */
};

TAILQ_HEAD(op_list, op);

/* The first, which is out of the list then; NULL if there is none. */
static inline struct op *op_list_take(struct op_list *list)
{
    struct op *op = TAILQ_FIRST(list);
    if (op) {
        TAILQ_REMOVE(list, op, link);
    }
    return op;
}

/* As board_op(); it is run by the next ops_run(). */
void op_start(struct board *b, const struct op_row *row, const struct op_input *in,
              struct arena *arena, op_done *done, void *context, struct effects *out);

/* Runs queued ops until there are none, or the step has done enough. */
void ops_run(struct board *b, struct effects *out);

/* How a transaction with this op in it ended (commit.c and confirm.c tell): committed at
 * `revision`; confirmed: what it read stood so at `revision`, it decides again once the copy has
 * that; lost: what it read moved, likewise; left: nothing of its own moved, it travels again;
 * failed: answered UNAVAILABLE with this text. */
void op_committed(struct op *op, int64_t revision, struct effects *out);
void op_confirmed(struct op *op, int64_t revision);
void op_lost(struct op *op, int64_t revision, struct effects *out);
void op_left(struct op *op);
/* What it read is to be confirmed: its op->commit has the compares, and no writes. Ends in
 * op_confirmed, op_lost, or op_failed after 1 s. */
void op_unconfirmed(struct op *op);
void op_failed(struct op *op, const char *text, struct effects *out);

/* The board generation is another: what was gathered from the old one is gathered again, what was
 * committed in it is answered UNAVAILABLE. What is in flight is judged when its answer comes. */
void ops_new_board_generation(struct board *b);

/* Every op ends UNAVAILABLE; what that would have done goes into `nowhere`. */
void ops_free(struct board *b, struct effects *nowhere);

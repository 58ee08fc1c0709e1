/* etcd went back: what is known of it (fall.c), how it is proved and marked (witness.c) */
#pragma once

#include "board.pb-c.h"
#include "common/contract/effect.h"
#include "common/lifecycle/actor.h"
#include "etcd.pb-c.h"

#include <stdbool.h>

struct board;

struct fall {
    bool is;         /* found: nothing is served in this board generation any more */
    char *reason;    /* how it is known */
    char *text;      /* for who asks: what happened and what to do */
    int64_t say_ns;  /* when it is logged again */
    bool marked;     /* on the board, for every bbs */
    uint64_t mark_id;
    char *cell;      /* the one cell that has said so; NULL = none */
    int64_t cell_ns; /* when */
};

/* It is known by this reason (copied); reload_step() loads the copy again, and so waits for the
 * board generation. */
void fall_found(struct board *b, const char *reason, struct effects *out);
/* Another board generation, or the board ends. */
void fall_over(struct board *b);
void fall_timer(struct board *b, struct effects *out);

/* As board_witness(): calls fall_found() if it is proved. */
void witness_heard(struct board *b, const Board__FeedRequest *r, enum actor actor, const char *name,
                   struct effects *out);
/* Marks the board generation that stands at `kv`, if that is still to be done. */
void fall_mark(struct board *b, const Etcd__KeyValue *kv, struct effects *out);

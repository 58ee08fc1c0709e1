/* Answers that commit nothing: what they rest on is confirmed first */
#pragma once

#include "bbs/board/ops.h"

enum { CONFIRM_CALLS = 4 }; /* that travel at once */

struct confirm_call {
    bool flying;
    unsigned board_generation_number; /* of the board when it was sent */
    struct op_list ops;  /* that travel with it */
    struct batch *batch; /* what they read, for its failure reads */
};

struct confirms {
    struct confirm_call calls[CONFIRM_CALLS];
    int64_t retry_ns;    /* no call before */
};

void confirms_init(struct board *b);
/* Asks etcd about the ops that wait, as many at once as calls are free. */
void confirms_send(struct board *b, struct effects *out);
void confirms_free(struct board *b);

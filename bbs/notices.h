/* Notices to auctioneer and reps once a plan is committed (design.md 2; behaviour.md 8.2 to 8.4,
 * 13.3); callbacks of tasks are bbs/callbacks.h. They are hints: a failure is only logged, for the
 * feed and the stopping mark repeat what they say. Pure. */
#pragma once

#include "bbs/board/board.h"
#include "common/contract/plan.h"

#include <sys/queue.h>

struct bbs;

/* More waiting starts than STARTS_WAITING_MAX are dropped, of LRPs and of tasks alike, more stops
 * at once than STOP_CALLS_MAX, more cancels than CANCEL_CALLS_MAX and more refreshes than
 * REFRESH_CALLS_MAX too. START_CALLS_MAX calls tell of LRPs, as many of tasks. A refresh looks at
 * REFRESH_INDICES_MAX indices; the converger sees to those behind. */
enum {
    STARTS_WAITING_MAX = 4096,
    START_CALLS_MAX = 8,
    STOP_CALLS_MAX = 256,
    CANCEL_CALLS_MAX = 256,
    REFRESH_CALLS_MAX = 256,
    REFRESH_INDICES_MAX = 1024,
    NOTICE_CALLS_MAX =
        2 * START_CALLS_MAX + STOP_CALLS_MAX + CANCEL_CALLS_MAX + REFRESH_CALLS_MAX
};

#define NOTICE_TIMEOUT_NS (10 * SECOND_NS)

/* Not yet sent. */
struct start_notices {
    TAILQ_HEAD(, start_notice) list;
    unsigned count;
};

struct notice_call {
    uint64_t id; /* 0 = unused */
    enum notice_kind kind;
};

struct notices {
    struct start_notices starts; /* of LRPs */
    struct start_notices tasks;
    struct notice_call calls[NOTICE_CALLS_MAX];
};

void notices_init(struct notices *n);
void notices_done(struct notices *n);

/* Takes one; starts are sent by notices_send at the end of the step, those of one trace
 * together. */
void notices_add(struct bbs *b, const struct notice *notice, const char *trace_id,
                 struct effects *out);
void notices_send(struct bbs *b, struct effects *out);

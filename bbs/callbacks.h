/* Completion callbacks: this bbs makes a task that is over Resolving, POSTs its outcome to its
 * completion_callback_url and deletes it (behaviour.md 13.4; docs/tasks.md, Completion). A task
 * whose callback failed, or whose bbs died, stays on the board: the converger kicks it, and some
 * bbs calls again. Pure. */
#pragma once

#include "bbs/bbs.h"
#include "common/base/map.h"

#include <sys/queue.h>

struct bbs;

/* The defaults of struct callback_limits (bbs/bbs.h). The delete of what was delivered is tried
 * CALLBACK_DELETES_MAX times while the board answers nothing. */
enum {
    CALLBACKS_MAX = 1000,
    CALLBACKS_WAITING_MAX = 4096,
    CALLBACK_BYTES_MAX = 32 * 1024 * 1024,
    CALLBACK_ATTEMPTS_MAX = 3,
    CALLBACK_DELETES_MAX = 3,
};

#define CALLBACK_TIMEOUT_NS (10 * SECOND_NS)
#define CALLBACK_PAUSE_NS (1 * SECOND_NS) /* before a delete is tried again */

TAILQ_HEAD(callback_list, callback);

struct callbacks {
    struct callback_limits limits;
    struct map by_guid;           /* of the task -> struct callback: one a task */
    struct callback_list waiting; /* to begin */
    unsigned waiting_count;
    struct callback_list open; /* begun: between the move to Resolving and its end */
    unsigned open_count;
    size_t bytes; /* of their records */
    struct callback_list pausing; /* open ones, to delete again; in the order of their times */
};

/* A limit that is 0 is the default. */
void callbacks_init(struct callbacks *c, const struct callback_limits *limits);
void callbacks_done(struct callbacks *c);

/* The task is Completed and has a URL; it begins with callbacks_run at the end of the step. While
 * one of the same task is under way, when that has come to its end. */
void callbacks_add(struct bbs *b, const char *task_guid, const char *trace_id,
                   struct effects *out);
void callbacks_run(struct bbs *b, struct effects *out);

/* Completion callbacks: a task that is over is made Resolving by this bbs, its outcome is POSTed to
 * its completion_callback_url, and then it is deleted (behaviour.md 13.4; docs/tasks.md,
 * Completion). What is not heard, or forgotten by a bbs that dies, stays on the board: the converger
 * kicks it and has it delivered again. Pure. */
#ifndef BBS_CALLBACKS_H
#define BBS_CALLBACKS_H

#include "bbs/board/board.h"

#include <sys/queue.h>

struct bbs;
struct callback;

/* At most CALLBACKS_MAX at once, each from its move to Resolving to its end, or fewer whose records
 * have CALLBACK_BYTES_MAX together; more wait, and more than CALLBACKS_WAITING_MAX of those are left
 * to the converger. One is tried CALLBACK_ATTEMPTS_MAX times without a pause; the delete of what was
 * delivered, while the board answers nothing, CALLBACK_DELETES_MAX times. */
enum {
    CALLBACKS_MAX = 1000,
    CALLBACKS_WAITING_MAX = 4096,
    CALLBACK_BYTES_MAX = 32 * 1024 * 1024,
    CALLBACK_ATTEMPTS_MAX = 3,
    CALLBACK_DELETES_MAX = 3,
};

#define CALLBACK_TIMEOUT_NS (10 * SECOND_NS) /* of each attempt */
#define CALLBACK_PAUSE_NS (1 * SECOND_NS)    /* before a delete is tried again */

TAILQ_HEAD(callback_list, callback);

struct callbacks {
    struct callback_list waiting; /* to begin */
    unsigned waiting_count;
    struct callback_list pausing; /* to delete again; in the order of their times */
    struct callback *open[CALLBACKS_MAX]; /* begun; NULL = unused */
    unsigned open_count;
    size_t bytes; /* of their records */
};

void callbacks_init(struct callbacks *c);
void callbacks_done(struct callbacks *c);

/* The task is Completed and has a URL; it begins with callbacks_run at the end of the step. */
void callbacks_add(struct bbs *b, const char *task_guid, const char *trace_id,
                   struct effects *out);
void callbacks_run(struct bbs *b, struct effects *out);

/* True if the answer was to one of its calls. */
bool callbacks_answered(struct bbs *b, const struct response *response, struct effects *out);

#endif

/* For how long a task may be in each state before somebody does something about it (behaviour.md
 * 14.2, docs/tasks.md), by what a process has seen of it (sighting.h). */
#pragma once

#include <stdint.h>

/* Settings (settings.def); in a converger's configuration 0 = the cluster's. */
struct task_times {
    int64_t expire_pending_ns;   /* Pending since it was created: it is failed */
    int64_t unplaced_after_ns;   /* Pending and unchanged: the auctioneer is asked again */
    int64_t loss_ns;             /* Running on an absent cell: it is failed */
    int64_t kick_ns;             /* Resolving: Completed again; Completed with a callback URL: the
                                    callback is tried again */
    int64_t expire_completed_ns; /* Completed without a URL: it goes, unless the task says otherwise
                                    (keep_s) */
    int64_t undelivered_ns;      /* Completed with one: it goes */
    int64_t max_retries;         /* rejections after which the next one fails it */
};

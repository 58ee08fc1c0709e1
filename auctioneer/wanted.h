/* What a job asks of a cell: a counted, immutable copy of the part of a definition that the auction
 * looks at. All instances of a process share one; a task has one of its own. Pure. */
#pragma once

#include "auctioneer/schedule.h"
#include "cell.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct wanted {
    unsigned references;
    enum job_kind kind;
    int32_t instances, memory_mb, disk_mb, max_pids; /* `instances` of an LRP */
    const char *guid;                                /* of the process, or the task */
    const char *domain, *root_fs;
    const char *definition_id; /* "" of a task */
    int64_t created_at;     /* of a task, the offer (docs/tasks.md, Once); 0 = not known */
    int32_t rejections;
    char **tags;
    size_t tag_count;
    char **drivers; /* of its volume mounts */
    size_t driver_count;
};

/* One reference, the caller's. */
struct wanted *wanted_of_lrp(const Models__DesiredLRP *lrp); /* its scheduling part */
struct wanted *wanted_of_task(const Models__Task *task);
struct wanted *wanted_of_hint(const Cell__Task *task); /* rep-auctioneer.md 3 */

/* The job of one instance, or of the task; borrows from `w`. */
struct job wanted_job(const struct wanted *w, int32_t index);

/* Another reference, and one less; the last one frees it. */
struct wanted *wanted_ref(struct wanted *w);
void wanted_unref(struct wanted *w); /* accepts NULL */

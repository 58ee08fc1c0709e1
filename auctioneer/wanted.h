/* What a job asks of a cell: a counted, immutable copy of the part of a definition that the auction
 * looks at. All instances of a process share one; a task and a unit have one of their own. Pure. */
#pragma once

#include "auctioneer/schedule.h"
#include "board.pb-c.h"
#include "cell.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct wanted {
    unsigned references;
    enum job_kind kind;
    int32_t instances, memory_mb, disk_mb, max_pids; /* `instances` of an LRP */
    const char *guid; /* of the process, the task, or the unit's service */
    const char *domain, *root_fs;
    const char *definition_id; /* "" of a task */
    /* Of a task, the offer (docs/tasks.md, Once); 0 = not known. Of a unit, of its record. */
    int64_t created_at;
    int64_t revision; /* of a unit's record */
    const char *unit; /* "web/3"; "" of anything else, as its guid */
    const char *unit_guid;
    struct machine_wish machine; /* of a unit */
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

/* Of a record of this revision; one reference likewise. */
struct wanted *wanted_of_unit(const Board__UnitRecord *unit, int64_t mod_revision);

/* The index of a unit of this number; those that do not fit share the last. */
int32_t wanted_unit_index(uint32_t number);

/* The job of one instance, of the task or the unit; borrows from `w`. */
struct job wanted_job(const struct wanted *w, int32_t index);

/* Another reference, and one less; the last one frees it. */
struct wanted *wanted_ref(struct wanted *w);
void wanted_unref(struct wanted *w); /* accepts NULL */

/* What waits for time in the lifecycle of a task (common/lifecycle/task.def): what the bbs decides
 * the converger's moves by, and what the converger plans them by (behaviour.md 14.2;
 * docs/tasks.md). Pure. */
#pragma once

#include "common/model/sighting.h"
#include "models/task.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* A task and the cell that runs it, as far as time counts. */
struct task_facts {
    int8_t state; /* enum task_state; -1 = one of a newer version */
    bool has_url; /* somebody is to be notified when it is over */
    bool absent;  /* its cell is LOST, or has no record */
    int64_t updated_ns, completed_ns; /* wall clock of who wrote it */
    int64_t keep_ns;                  /* what the task says; NEVER_NS = nothing */
    struct sighting seen, made;       /* as it stands, its creation */
    struct sighting cell_seen;        /* the cell's record; without one the same as `seen` */
};

/* The state in task.def; TASK_NONE for NULL, -1 for one that this version does not know. */
int task_state(const Models__Task *task);

/* Who is to be notified when it is over: "" = nobody. */
const char *task_callback_url(const Models__Task *task);

/* What the record says. How it was seen, and the cell, are the caller's to add. */
void task_facts_of(const Models__Task *task, struct task_facts *ret);

/* How much is left until the task has been in its state for `limit_ns`; not positive: it has;
 * NEVER_NS: time does not matter. */
typedef int64_t task_left(const struct task_facts *f, int64_t limit_ns, struct moment now);

/* Pending since it was made, for longer than the limit. */
task_left task_pending_left_ns;
/* Since its last change: what is asked again, so that early does no harm. */
task_left task_unchanged_left_ns;
/* Running on a cell that is absent: since both stand so. */
task_left task_absent_left_ns;
/* Completed without a callback URL: by what the task says itself, or the limit. */
task_left task_kept_left_ns;
/* Completed with one: somebody waits for the outcome, so that keep_s does not shorten it. */
task_left task_awaited_left_ns;
/* The same, to be delivered again: since its last change. */
task_left task_undelivered_left_ns;

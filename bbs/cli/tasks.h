/* What the bbs command line shows of tasks. Pure: messages in, text out. */
#pragma once

#include "bbs/cli/name.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "models/task.pb-c.h"
#include "models/task_requests.pb-c.h"

/* Which tasks are wanted; NULL = whatever they have. */
struct task_selection {
    const char *name;  /* or task_guid */
    const char *state; /* "pending", "running", "completed", "resolving", "succeeded", "failed" */
    const char *cell;  /* as task_cell() */
    /* Over since then or longer, on the wall clock; 0 = whatever they have. */
    int64_t over_before_ns;
};

/* Those of `tasks` that are selected, the newest last; gives their number. */
size_t tasks_selected(struct arena *a, Models__Task *const *tasks, size_t count,
                      const struct task_selection *selection, Models__Task ***ret_found);

/* Of those of one name, the newest last: the only one that is not over; else, when all are over,
 * the newest. NULL when several are not over, or there is none. */
Models__Task *task_meant(Models__Task *const *named, size_t count);

/* Puts those first that `bbs tasks --rm` deletes, and gives their number. The others stay: they are
 * not over, or somebody waits for how they ended, and deletes them then. */
size_t tasks_to_remove(Models__Task **tasks, size_t count);

/* The cell that it runs on, or ran on when it ended; "" = none. One that was rejected keeps the id
 * of the cell that did so, where it does not run. */
const char *task_cell(const Models__Task *task);

/* Whether it has ended: nothing of how it ended changes any more. */
bool task_is_over(const Models__Task *task);

/* "PENDING", "RUNNING", "SUCCEEDED", "FAILED", and with " (resolving)" */
const char *task_state_text(struct arena *a, const Models__Task *task);

/* Why it failed, "-" when nobody said; of a result that could not be read, with its file. */
const char *task_failure_text(struct arena *a, const Models__Task *task);

/* The table of `bbs tasks`: a row for each, with why it waits or failed below it. */
void tasks_table(struct arena *a, Models__Task *const *tasks, size_t count, int64_t now_ns,
                 bool terminal, struct buf *out);

/* What `bbs task` shows: names and values, one a line, and the result at the end. */
void task_text(struct arena *a, const Models__Task *task, int64_t now_ns, struct buf *out);

/* What `bbs run --wait` says at the end: how it ended, why, and its result. */
void task_outcome_text(struct arena *a, const char *name, const Models__Task *task,
                       struct buf *out);

/* Of a task that is not there any more while it is waited for, as far as its request tells: it is
 * over, and its callback was made, or the time for which it is kept has passed since it was
 * seen last, or else somebody deleted it. `unseen_s`: since then. */
const char *task_gone_text(struct arena *a, const char *name,
                           const Models__DesireTaskRequest *request, int64_t unseen_s);

/* One line while it is waited for: "backup: RUNNING on cell-1". */
const char *task_progress_text(struct arena *a, const char *name, const Models__Task *task);

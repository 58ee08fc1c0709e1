/* The same for tasks: "Harmonising tasks with containers" of docs/tasks.md as one pure function. A
 * is this container's attempt on this cell; everybody else is O, the same cell with another attempt
 * included. */
#pragma once

#include "models/error.pb-c.h"
#include "models/task.pb-c.h"
#include "rep/container/harmonise.h"

/* The container's side. */
enum harmony_task {
    TASK_NOT_EXECUTING, /* RESERVED, INITIALIZING or CREATED, and the note does not say executing */
    TASK_EXECUTING,     /* RUNNING, or CREATED with that note */
    TASK_REJECTABLE,    /* COMPLETED, not executed, and another cell may fare better */
    TASK_FINISHED,      /* COMPLETED otherwise */
    TASK_WITHOUT,       /* no container and no reservation of the task */
    HARMONY_TASK_COUNT
};

/* The record's side, as this container sees it. */
enum harmony_task_record {
    TASK_RECORD_IS_UNSEEN, /* the feed shows no record of this cell; what stands there is not known
                            */
    TASK_RECORD_IS_NONE,   /* a bbs answered that there is none */
    TASK_RECORD_IS_PENDING,
    TASK_RECORD_IS_RUNNING_ON_A, /* without a container: on this cell, by any attempt */
    TASK_RECORD_IS_RUNNING_ON_O,
    TASK_RECORD_IS_COMPLETED,
    TASK_RECORD_IS_RESOLVING,
    TASK_RECORD_IS_FOREIGN, /* a state of a later version: left alone */
    HARMONY_TASK_RECORD_COUNT
};

/* The table. Every pair has an answer. */
struct harmony harmonise_task(enum harmony_task container, enum harmony_task_record record);

/* What is asked of bbs where the table, on the feed's word alone, would delete: a container goes
 * only after an answer that passed the read barrier. What is asked of a record that is unseen. */
enum harmony_action harmony_task_question(enum harmony_task container);

/* What to do when bbs refused `refused` with an error of this type, and the record that stands
 * there is now known as `record`. As the table says; where it would ask for the refused move again,
 * and the type says that this is final, the container goes; else NOTHING: it is repeated later. */
struct harmony harmonise_task_refused(enum harmony_task container, enum harmony_task_record record,
                                      enum harmony_action refused, Models__Error__Type type);

/* How the record looks to the container of this attempt on cell `cell_id`; `attempt` NULL: to a
 * cell that has no container of it. `created_at`: of the record that granted the container's start
 * (ns; 0 = not granted, or no container). A record of another one is of a task that was desired
 * again; the container's own is gone: NONE. `record` may be NULL: NONE. */
enum harmony_task_record harmony_task_record_of(const Models__Task *record, const char *attempt,
                                                int64_t created_at, const char *cell_id);

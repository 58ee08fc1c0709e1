/* Runs of jobs (docs/rest.md, Jobs; common/lifecycle/job_run.def): what clients ask, and the
 * moves of the converger. A run is a snapshot of the job at the moment of the request, and one Task
 * that is executed once. Pure.
 *
 * Refused: ResourceNotFound, there is no such system, no such job or no such run; ResourceConflict,
 * the system is not open, a secret is not set, or there are too many; ResourceExists, another run
 * has the id. plan->record is then the SystemRecord; NULL = there is none. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/nested.h"
#include "bbs/board/speaker.h"
#include "bbs/secret/secret.h"
#include "models/task.pb-c.h"

#include "board.pb-c.h"
#include "system_api.pb-c.h"

enum {
    /* Of one system, over or not. A soft bound: the count is not compared, so requests at the same
     * time may pass it by a few; each run is a record of its own, and bounded. */
    JOB_RUNS_MAX = 1000,
    JOB_RUNS_KEPT = 200, /* that are over; older ones go by and by, and after so long: */
    JOB_RUN_KEPT_DAYS = 30,
    JOB_RUN_ID_BYTES_MAX = 63,
    JOB_RUN_WORDS_MAX = 256, /* of a command */
    JOB_RUN_VARIABLES_MAX = 256,
    JOB_RUN_SECRETS_MAX = 32,
    JOB_RUN_BYTES_MAX = 256 * 1024, /* of its record, beside the outcome */
    JOB_RUN_MESSAGE_BYTES_MAX = 8192, /* of why it waits */
};

#define JOB_RUN_OWNER_KIND "jobrun"

/* Board__JobRunRequest, Board__CancelJobRunRequest; plan->record is the JobRunRecord. The same
 * request again is answered by the same run. */
extern const struct op_row run_job_row;
extern const struct op_row cancel_job_row;

/* What is wrong with a request, for its route. */
void valid_run_job(struct validation *v, const Board__JobRunRequest *request);
void valid_cancel_job(struct validation *v, const Board__CancelJobRunRequest *request);

/* Moves of the converger: queue, note, observe, finish, delete, remove, forget. */
extern const struct move_family jobrun_moves;

/* ---- for the rows ---------------------------------------------------------------------------- */

struct job_run_snapshot {
    struct speaker by; /* of moves */
    const char *board_generation;
    const Board__SystemRecord *system; /* NULL = none, or another of that id */
    const Board__JobRunRecord *run;    /* as it stands; NULL = none */
    const Models__Task *task;          /* of it; NULL = none */
    const char *task_guid;             /* of queue: free for it */
    struct nested_op *desire;          /* of queue: of the Task */
    const Board__PoolRecord *pool;     /* of queue: that it is to run in; NULL = none */
    const char *pool_name; /* of run: path:name; "" = shared cells */
    /* Of run: */
    const Board__ComponentRecord *component; /* that stands at the path; NULL = none */
    const Models__TaskDefinition *merged;    /* of the job and the request; NULL = it is no job */
    size_t name_count;                       /* secrets that `merged` needs */
    struct secret_values values;             /* of them */
    size_t count;                  /* runs of the system; of forget: those over later than it */
};

/* The job's task with the command and environment of the request, in the arena. */
Models__TaskDefinition *job_run_merged(struct arena *a, const Models__TaskDefinition *task,
                                       const Board__JobRunRequest *request);

/* The guid of its Task: "<system>_<path>-<beginning of the id>", or the whole id. */
char *job_run_task_guid(struct arena *a, const Board__JobRunRecord *run, bool whole);

/* A copy in that state; what it is over by. */
Board__JobRunRecord *job_run_changed(struct arena *a, const Board__JobRunRecord *before, int to,
                                     struct moment now);

/* Its Task goes, with whatever executes it: nothing without one. */
void job_run_drop_task(struct plan *p, const Models__Task *task);

/* For tests. */
void run_job_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void cancel_job_decide(const void *snapshot, const struct op_input *in, struct plan *p);

#include "converger/run_look.h"

#include "common/lifecycle/job_run.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/task.h"

#include <assert.h>

static bool is_over(int state)
{
    return state == JOB_RUN_SUCCEEDED || state == JOB_RUN_FAILED;
}

/* 1. Its system goes, or is gone: delete; once it is deleting and has no Task, remove.
 * 2. pending: queue, when its pool is there and nothing stands against it; note, when the pool is
 *    not and that is not said yet.
 * 3. queued, and a cell has the Task: observe.
 * 4. queued or running, and the Task is over or gone: finish.
 * 5. over, and kept for long enough, or more of them are over: forget. */
const char *run_look(const struct run_facts *f, struct moment now, int64_t *ret_due_ns)
{
    static const int64_t kept_ns = RUN_KEPT_DAYS * 86400 * SECOND_NS;
    bool gone = f->system == SYSTEM_NONE || f->system == SYSTEM_DELETING;
    *ret_due_ns = NEVER_NS;
    if (f->state <= JOB_RUN_NONE) {
        return NULL;
    }
    if (f->state == JOB_RUN_DELETING) { /* 1 */
        return f->task == TASK_NONE ? "remove" : NULL;
    }
    if (gone) {
        return "delete";
    }
    if (f->state == JOB_RUN_PENDING) { /* 2 */
        bool tells = f->confirmed && !f->pool_ready && !f->told;
        return f->confirmed && f->pool_ready ? "queue" : tells ? "note" : NULL;
    }
    if (!is_over(f->state)) {
        bool ended = f->task == TASK_NONE || f->task == TASK_COMPLETED || f->task == TASK_RESOLVING;
        bool taken = f->state == JOB_RUN_QUEUED && f->task == TASK_RUNNING;
        return taken ? "observe" /* 3 */ : ended ? "finish" /* 4 */ : NULL;
    }
    int64_t left_ns = f->completed_at + kept_ns - now.wall_ns; /* 5 */
    assert(is_over(f->state));
    if (left_ns <= 0 || f->later >= RUNS_KEPT) {
        return "forget";
    }
    *ret_due_ns = now.mono_ns + left_ns;
    return NULL;
}

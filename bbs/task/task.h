/* Tasks: desire, and the moves of a Task record, which are the rows of moves.def (behaviour.md 13,
 * 14.2; docs/tasks.md; common/lifecycle/task.def). The Diego paths and /v1/board/apply come here
 * alike, as a Board__Move that names a task. Each decision is a pure function of the snapshot; its
 * rules are numbered in its own file. A record that was read is never written to: a change starts
 * from a copy. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/settings.h"
#include "common/model/task_guards.h"
#include "models/task.pb-c.h"
#include "models/task_requests.pb-c.h"

/* A Task may be this large, beside what its transaction needs; a new one leaves room for its
 * outcome: a result of 51200 bytes (what reps allow) and two reasons. */
enum {
    TASK_BYTES_MAX = RECORD_MAX_BYTES - 64 * 1024,
    TASK_OUTCOME_BYTES_MAX = 64 * 1024,
};

/* All that a decision about a task rests on. */
struct task_snapshot {
    const Models__Task *task;      /* as it stands; NULL = none */
    int64_t revision;              /* its mod-revision */
    struct sighting seen, made;    /* by this process: as it stands, its creation */
    const Board__CellRecord *cell; /* of disappear: of the cell that runs it; NULL = none */
    struct sighting cell_seen;
    struct speaker by;
    const struct task_times *times; /* in force; of a move that reads no settings the default */
};

/* Models__DesireTaskRequest. */
extern const struct op_row desire_task_row;

/* The moves of moves.def; their snapshot is a struct task_snapshot. */
extern const struct move_family task_moves;

/* For tests; `snapshot` is a struct task_snapshot. */
void task_desire_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* ---- for the rows ---------------------------------------------------------------------------- */

/* The guards of task.def that hold (guards.c). */
uint32_t no_guards(const struct move_turn *t);
uint32_t offer_guards(const struct move_turn *t);
uint32_t reject_guards(const struct move_turn *t);
uint32_t complete_guards(const struct move_turn *t);
uint32_t revision_guards(const struct move_turn *t);
uint32_t awaited_guards(const struct move_turn *t);
uint32_t expired_guards(const struct move_turn *t);
uint32_t gone_guards(const struct move_turn *t);
uint32_t stuck_guards(const struct move_turn *t);
uint32_t kept_guards(const struct move_turn *t);

/* What the moves do, and two refusals (moves.c). */
void task_start(const struct move_turn *t);
void task_cancel(const struct move_turn *t);
void task_fail(const struct move_turn *t);
void task_reject(const struct move_turn *t);
void task_complete(const struct move_turn *t);
void task_resolving(const struct move_turn *t);
void task_delete(const struct move_turn *t);
void task_expire(const struct move_turn *t);
void task_ask(const struct move_turn *t);
void task_disappear(const struct move_turn *t);
void task_kick(const struct move_turn *t);
void task_deliver(const struct move_turn *t);
void task_refuse_reject(const struct move_turn *t);
void task_refuse_complete(const struct move_turn *t);

/* The task that the move is about. */
const Models__Task *turn_task(const struct move_turn *t);

/* For how long a task must have been in its state for this move of the converger: what the move
 * says, or `setting_ns`. */
int64_t task_limit_ns(const struct move_turn *t, int64_t setting_ns);

/* The settings of the snapshot. */
const struct task_times *turn_times(const struct move_turn *t);

/* "Cannot transition from <the task's state> to <state>" (behaviour.md 4). */
void task_refuse_transition(const struct move_turn *t, int to);

/* A copy in the state that the move leads to; its updated_at is now and never falls. */
Models__Task *task_change(const struct move_turn *t);

/* The copy is over, for that reason; `reason` is cut (behaviour.md 10.1). It runs on no cell any
 * more. */
Models__Task *task_completed(const struct move_turn *t, bool failed, const char *reason,
                             const char *result);

/* Puts it, which becomes what the answer shows, or refuses what would not fit: InvalidRequest. */
void task_put(const struct move_turn *t, const Models__Task *task);

/* task_put of one that is now over; who is to be called back is. */
void task_over(const struct move_turn *t, const Models__Task *task);

/* Tasks: desire, and the moves of a Task record, which are the rows of moves.def (behaviour.md 13,
 * 14.2; docs/tasks.md; common/lifecycle/task.def). The Diego paths and /v1/board/apply come here alike, as
 * a Board__Move that names a task. Each decision is a pure function of the snapshot; its rules are
 * numbered in its own file. A record that was read is never written to: a change starts from a copy. */
#ifndef BBS_TASK_TASK_H
#define BBS_TASK_TASK_H

#include "bbs/lrp/move.h"
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
    struct move_snapshot by;       /* who speaks: only what move_gather_actor reads */
};

/* Models__DesireTaskRequest. */
extern const struct op_row desire_task_row;

/* The row of a move's name when the move names a task; NULL when nobody knows it. */
const struct move_row *task_row_named(const char *name);

/* The decisions, for tests; `snapshot` is a struct task_snapshot. */
void task_desire_decide(const void *snapshot, const struct op_input *in, struct plan *p);
#define TASK_MOVE(name, news, valid, reads)                                                        \
    void task_##name##_decide(const void *snapshot, const struct op_input *in, struct plan *p);
#include "bbs/task/moves.def"

/* ---- for them -------------------------------------------------------------------------------- */

/* The state in task.def; TASK_NONE for NULL, -1 for one that this version does not know. */
int task_state(const Models__Task *task);

/* The move, its caller allowed to speak and its task there; otherwise NULL, and the plan is refused:
 * ResourceNotFound without a task; ResourceConflict when the move is about one of the same guid that
 * was desired at another time (docs/tasks.md, Once). The answer shows the task. */
const Board__Move *task_move(const struct task_snapshot *s, const struct op_input *in,
                             struct plan *p);

/* Who is to be told when it is over: "" = nobody. */
const char *task_callback_url(const Models__Task *task);

/* AWAITED: it has a callback URL, and is over for less than TASK_KEEP_UNDELIVERED_NS, as `forget`
 * counts it. */
bool task_awaited(const struct task_snapshot *s, struct moment now);

/* For how long a task must have been in its state for this move of the converger: what the move says,
 * or the default. */
int64_t task_limit_ns(const struct op_input *in, int64_t default_ns);

/* SAME_CELL, SAME_ATTEMPT, OTHER_ATTEMPT and SAME_OFFER between this move and that task. */
uint32_t task_guards(const Models__Task *task, const Board__Move *m);

/* "Cannot transition from <the task's state> to <state>" (behaviour.md 4). */
void task_refuse_transition(struct plan *p, const Models__Task *task, int to);

/* A copy in that state; its updated_at is now and never falls. */
Models__Task *task_change(struct arena *a, const Models__Task *before, int state,
                          struct moment now);

/* The copy is over, for that reason; `reason` is cut (behaviour.md 10.1). It runs on no cell any
 * more. */
Models__Task *task_completed(struct arena *a, const Models__Task *before, bool failed,
                             const char *reason, const char *result, struct moment now);

/* Puts it, which becomes what the answer shows, or refuses what would not fit: InvalidRequest. */
void task_put(struct plan *p, const struct op_input *in, const Models__Task *task,
              const char *name);

/* task_put of one that is now over; who is to be called back is. */
void task_over(struct plan *p, const struct op_input *in, const Models__Task *task,
               const char *name);

void task_delete(struct plan *p, const struct op_input *in, const Models__Task *task,
                 const char *name);

#endif

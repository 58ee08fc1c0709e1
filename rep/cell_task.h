/* The life of a task on its cell (docs/tasks.md): reserved, granted by "start", prepared, noted as
 * executing, started, over, its outcome told, deleted. Nothing here is asked of the driver or of
 * bbs but by the table of harmonise_task.h; a task's process is started at most once (S3). */
#ifndef REP_CELL_TASK_H
#define REP_CELL_TASK_H

#include "board.pb-c.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/harmonise.h"

struct container;
struct rep;

/* Of a call: its answer shows a whole task for each, which may have a megabyte and 16 when decoded
 * (APPLY_DECODED_MAX). */
enum { TASK_MOVES_A_CALL_MAX = 3 };

/* The name of the task's container: its guid, or what stands for one that is longer than the names
 * that drivers take (common/contract/driver.h). */
const char *cell_task_container_name(struct arena *a, const char *task_guid);

/* The next step of this task, which has no operation and is not being deleted. False: its container
 * is gone. */
bool cell_task_look_at(struct rep *r, struct container *c, struct effects *out);

/* The end of PREPARE, NOTE, START or READ; its operation is over already. */
void cell_task_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                    struct effects *out);

/* An earlier rep left it, to be adopted in this state: before its phase follows, and after. */
void cell_task_found(struct container *c, enum container_state state);
void cell_task_adopted(struct container *c);

/* Its process ended with status 0; its phase is COMPLETED by now. */
void cell_task_succeeded(struct container *c);

/* A bbs says that it is not wanted any more: it is stopped and deleted. Unknown, or here by another
 * attempt than `attempt` (NULL or "": whichever it is): nothing. */
void cell_task_cancel(struct rep *r, const char *task_guid, const char *attempt,
                      struct effects *out);

/* ---- records and moves ---- */

/* The record at this key of the feed changed. */
void cell_task_record(struct rep *r, const char *key, struct effects *out);

/* The "no container" rows for it; when to come back, NEVER_NS if not. */
int64_t cell_task_stray(struct rep *r, const char *key, struct effects *out);

/* The message of a move for this container, or of "complete" for a record without one: NULL when
 * that is not so any more. */
Board__Move *cell_task_move(const struct rep *r, struct arena *a, struct container *c,
                            enum harmony_action action);
Board__Move *cell_task_stray_move(const struct rep *r, struct arena *a, const char *key);

/* What a bbs said of this task. */
void cell_task_learn(struct rep *r, const char *task_guid, const Board__MoveResult *result);

/* It answered this move of the container, for good or ill. */
void cell_task_settled(struct rep *r, struct container *c, enum harmony_action action,
                       const Board__MoveResult *result, struct effects *out);

#endif

/* The life of a task on its cell (docs/tasks.md): reserved, granted by "start", prepared, noted as
 * executing, started, over, its outcome reported, deleted. It asks the driver and bbs for nothing
 * but what the table of harmonise_task.h says; its process starts at most once (S3). */
#pragma once

#include "rep/container/kind.h"

extern const struct container_kind task_kind;

/* A bbs says that it is not wanted any more: it is stopped and deleted. Unknown, or here by another
 * attempt than `attempt` (NULL or "": whichever it is): nothing. */
void cell_task_cancel(struct rep *r, const char *task_guid, const char *attempt,
                      struct effects *out);

/* ---- offer.c */

/* Reserves the task that is offered (rep-auctioneer.md 2.2), draws an attempt and keeps the offer.
 * True, too, for one that is reserved here already for this offer, and whose start is not known to
 * be granted; one that was granted is of no use to the work. False: nothing is reserved. */
bool cell_task_reserve(struct rep *r, const Cell__Task *task, struct effects *out);

/* ---- moves.c: members of task_kind; and what a bbs said of the task at this key */

/* As the members of struct container_kind (rep/container/kind.h). */
Board__Move *cell_task_move(const struct rep *r, struct arena *a, struct container *c,
                            struct move_order *o);
void cell_task_learn(struct rep *r, const char *key, const Board__MoveResult *result);
enum harmony_action cell_task_stray(const struct rep *r, const char *key);
Board__Move *cell_task_stray_move(const struct rep *r, struct arena *a, struct move_order *o);
bool cell_task_stray_settled(struct rep *r, const struct move_order *o,
                             const Board__MoveResult *result);

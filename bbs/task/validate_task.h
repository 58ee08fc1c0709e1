/* What a request about a task must fulfil before anything is decided: behaviour.md 13.2 and the
 * lengths of 18, with the exact messages in the exact order. Pure. */
#pragma once

#include "bbs/lrp/validate.h"
#include "models/task_requests.pb-c.h"

/* Note what is wrong with a request. */
void valid_desire_task(struct validation *v, const Models__DesireTaskRequest *request);
void valid_task_guid(struct validation *v, const char *task_guid); /* only that it is there */

/* Moves, from Diego's paths and from /v1/board/apply (moves.def). */
void valid_task_named(struct validation *v, const Board__Move *move);   /* says which task */
void valid_task_by_cell(struct validation *v, const Board__Move *move); /* and which cell has it */
void valid_task_with_reason(struct validation *v, const Board__Move *move); /* and why */

/* What a request about a task must fulfil before anything is decided: behaviour.md 13.2 and the
 * lengths of 18, with the exact messages in the exact order. Pure. */
#ifndef BBS_TASK_VALIDATE_TASK_H
#define BBS_TASK_VALIDATE_TASK_H

#include "bbs/lrp/validate.h"
#include "models/task_requests.pb-c.h"

void valid_desire_task(struct validation *v, const Models__DesireTaskRequest *request);
void valid_task_guid(struct validation *v, const char *task_guid); /* only that it is there */

/* Moves, from Diego's paths and from /v1/board/apply. */
void valid_task_start(struct validation *v, const Board__Move *move);
void valid_task_cancel(struct validation *v, const Board__Move *move);
void valid_task_fail(struct validation *v, const Board__Move *move);
void valid_task_reject(struct validation *v, const Board__Move *move);
void valid_task_complete(struct validation *v, const Board__Move *move);
void valid_task_resolving(struct validation *v, const Board__Move *move);
void valid_task_delete(struct validation *v, const Board__Move *move);
void valid_task_expire(struct validation *v, const Board__Move *move);
void valid_task_disappear(struct validation *v, const Board__Move *move);
void valid_task_kick(struct validation *v, const Board__Move *move);
void valid_task_ask(struct validation *v, const Board__Move *move);
void valid_task_deliver(struct validation *v, const Board__Move *move);
void valid_task_forget(struct validation *v, const Board__Move *move);

#endif

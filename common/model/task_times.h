/* For how long a task may be in each state before somebody does something about it (behaviour.md
 * 14.2, docs/tasks.md), by what a process has seen of it (sighting.h). */
#ifndef COMMON_MODEL_TASK_TIMES_H
#define COMMON_MODEL_TASK_TIMES_H

#include "common/model/sighting.h"

#define TASK_EXPIRE_PENDING_NS (30 * 60 * SECOND_NS) /* Pending: it is failed */
#define TASK_LOSS_NS (60 * SECOND_NS)                /* its cell is absent: it is failed */
#define TASK_KICK_NS (45 * SECOND_NS)                /* Resolving: back to Completed */
#define TASK_KEEP_NS (24 * 60 * 60 * SECOND_NS)      /* Completed, without a callback URL */
#define TASK_KEEP_UNDELIVERED_NS (7 * TASK_KEEP_NS)  /* Completed, with one */

enum { TASK_MAX_RETRIES = 3 }; /* rejections after which the next one fails it */

#endif

/* The one operation of a container at a time: a verb of its driver, and when it is tried again. */
#pragma once

#include "rep/container/container.h"

struct rep;

/* How long a verb of the driver may take. */
#define PREPARE_TIMEOUT_NS (60 * SECOND_NS)
#define START_TIMEOUT_NS (30 * SECOND_NS)
#define SIGNAL_TIMEOUT_NS (5 * SECOND_NS)
#define NOTE_TIMEOUT_NS (5 * SECOND_NS)
#define READ_TIMEOUT_NS (5 * SECOND_NS)
#define PORTS_TIMEOUT_NS (5 * SECOND_NS)
#define PULL_TIMEOUT_NS (20 * 60 * SECOND_NS)
/* A runtime that hangs is passed by within it (rep/shim/remove.c); the next one goes on with what
 * is left to delete. */
#define REMOVE_TIMEOUT_NS (30 * SECOND_NS)

/* Tries of PREPARE or START that end uncertain before the container counts as failed. */
enum { LAUNCH_ATTEMPTS_MAX = 3 };
#define LAUNCH_UNANSWERED "the container's driver did not answer in time"

/* A verb for this container; it is then its one operation. The effect, for filling in. */
struct verb_call *operation_verb(struct rep *r, struct container *c, enum container_op op,
                                 struct effects *out);

/* The end of PREPARE or START; the operation is over already. `start`: what a text that tells of a
 * failed START calls it. */
void operation_launched(struct rep *r, struct container *c, const struct verb_answer *answer,
                        const char *start, struct effects *out);

/* The present step failed: nothing is tried before a back-off. */
void operation_retry_later(struct rep *r, struct container *c);

/* Its back-off is not over: it comes again. */
bool operation_must_wait(struct rep *r, struct container *c);

/* A running one of which a stop was asked, or that is not healthy: the next signal when it is due.
 * */
void operation_signal(struct rep *r, struct container *c, struct effects *out);

/* Has what the driver keeps of this guid removed, of which no container is known; nobody waits for
 * it. */
void operation_remove(struct rep *r, const char *guid, struct effects *out);

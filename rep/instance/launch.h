/* From a claimed reservation to a running container: fetch the DesiredLRP, allot ports, PREPARE,
 * START. Each step begins when reconcile() finds that the record still is this container's. */
#ifndef REP_INSTANCE_LAUNCH_H
#define REP_INSTANCE_LAUNCH_H

#include "common/contract/effect.h"
#include "common/contract/event.h"

struct container;
struct rep;

/* Tries of PREPARE or START that end uncertain before the instance counts as crashed. */
enum { LAUNCH_ATTEMPTS_MAX = 3 };
#define LAUNCH_UNANSWERED "the container's driver did not answer in time"

/* The next step of a container in INITIALIZING or CREATED without an operation. */
void launch_continue(struct rep *r, struct container *c, struct effects *out);

/* The end of PREPARE or START; the container's operation is over already. */
void launch_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out);

#endif

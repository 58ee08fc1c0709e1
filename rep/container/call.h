/* The call of a driver's verb for a container. Pure. */
#pragma once

#include "rep/container/container.h"

struct rep;

/* With an id of its own, and this long until its deadline; it holds nothing else of the container
 * up. The effect, for filling in. */
struct verb_call *container_call(struct rep *r, const struct container *c, enum verb verb,
                                 int64_t timeout_ns, struct effects *out);

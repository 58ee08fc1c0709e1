/* Who may ask what: the words of a refusal that all roles share (docs/certificates.md). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/event.h"
#include "common/lifecycle/actor.h"

/* For `remedy`, where there is no other. */
#define CALLER_REMEDY "use one with OU client"

/* Of an organisational unit that a refusal repeats, in bytes; the rest is cut. */
enum { CALLER_UNIT_SHOWN_BYTES = 64 };

/* Why this request is refused: whom the route is for, which organisational unit the caller's
 * certificate has. `callers` is the route's set. `remedy` is what an ordinary client
 * with another certificate can do, and is added for such a caller alone. One line, without its end,
 * in printable ASCII as far as it repeats the certificate. */
const char *caller_refusal(struct arena *a, const struct request *q, actor_set callers,
                           const char *remedy);

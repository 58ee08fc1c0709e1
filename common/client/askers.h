/* Who waits for the answer to which call: an answer finds its asker by the call's id. Pure. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdbool.h>
#include <sys/queue.h>

enum { ASKERS_BUCKETS = 64 };

/* Called once, with the answer or how the call failed. The asker is forgotten by then: it may ask
 * again from within. */
typedef void asker_answered(void *context, const struct response *r, struct effects *out);

struct askers {
    LIST_HEAD(, asker) buckets[ASKERS_BUCKETS];
};

void askers_init(struct askers *s);
/* Nobody is called. */
void askers_done(struct askers *s);

/* The call `id` (not 0, unique among the open ones) was given away; `context` must live until it is
 * answered. Askers bound how many calls they have open. */
void askers_add(struct askers *s, uint64_t id, asker_answered *answered, void *context);

/* Gives the answer to who waits for it. False if nobody does. */
bool askers_answer(struct askers *s, const struct response *r, struct effects *out);

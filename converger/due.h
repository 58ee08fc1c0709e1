/* Things that are due by time, and which of them is next. Each has a slot with its time; NEVER_NS =
 * not by time. Pure. */
#pragma once

#include "common/base/map.h"
#include "common/contract/moment.h"

struct due {
    struct map by_time; /* time and name -> the thing */
};

void due_init(struct due *d);
void due_done(struct due *d);

/* It is due at `due_ns` unless it is so sooner. `name` is its own among all of them. */
void due_set(struct due *d, int64_t *slot, int64_t due_ns, const char *name, void *thing);

/* It is not due by time any more. */
void due_clear(struct due *d, int64_t *slot, const char *name);

/* The next one and when; NULL and NEVER_NS = there is none. */
void *due_next(const struct due *d, int64_t *ret_ns);

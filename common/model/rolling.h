/* How a service's instances are replaced (docs/systems.md, Services): the numbers that Rolling
 * says, "25%" or "3", and what they come to for so many instances. Pure. */
#pragma once

#include "common/base/arena.h"

#include "board.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ROLLING_READY_S = 15,
    ROLLING_DEADLINE_S = 600,
    ROLLING_SECONDS_MAX = 24 * 60 * 60,
    ROLLING_NUMBER_MAX = 100000,
};

/* What a Rolling comes to. Never are both numbers 0. */
struct rolling_bounds {
    int32_t surge;       /* so many instances more than wanted, at most */
    int32_t unavailable; /* so many fewer are available than wanted, at most */
    int64_t ready_ns;    /* an instance is available when it was ready for so long */
    int64_t deadline_ns; /* without progress for so long it has failed */
};

/* NULL = all is well; else what is wrong with it, a sentence in the arena. What is empty or 0 is
 * not said, and is well. */
const char *rolling_fault(struct arena *a, const Board__Rolling *r);

/* For so many wanted instances, at least 0. NULL says nothing; what is malformed counts as not
 * said. Surge is rounded up, unavailable down; if both come to 0, surge is 1. */
void rolling_bounds_of(const Board__Rolling *r, int32_t wanted, struct rolling_bounds *ret);

/* Time as an input: both clocks of the instant at which an event is handed to a role. */
#pragma once

#include <stdint.h>

struct moment {
    int64_t mono_ns; /* monotonic; for every wait and deadline */
    int64_t wall_ns; /* since 1970; only for what is written down */
};

#define MICROSECOND_NS INT64_C(1000)
#define MILLISECOND_NS INT64_C(1000000)
#define SECOND_NS INT64_C(1000000000)

/* "Not due": greater than every instant. */
#define NEVER_NS INT64_MAX

static inline int64_t earlier_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

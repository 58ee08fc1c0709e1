/* Destinations of egress rules as ranges of IPv4 addresses, and what of them is one range. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Most destinations of one container, counted as they are written. */
enum { EGRESS_DESTINATIONS_MAX = 10000 };

/* In host byte order, both included. */
struct address_range {
    uint32_t first, last;
};

/* The destinations of one rule ("A", "A/PREFIX", "A-B", several by commas), sorted, those that
 * touch or overlap made one; the array is in the arena. IPv6 ones are left out: no container has
 * such an address. Gives their number, 0 when only those were there; -ERR_INVALID with err for what
 * is none of that. */
int egress_ranges(struct arena *a, const char *const *destinations, size_t count,
                  struct address_range **ret_ranges, struct err *err);

/* How many a list holds, commas counted. */
size_t egress_destinations(const char *const *destinations, size_t count);

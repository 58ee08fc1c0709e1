/* What a container's log says of what an egress rule with `log` let through, and how much of it.
 * Pure. */
#pragma once

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define EGRESS_SOURCE "EGRESS" /* of these lines */

enum { EGRESS_LINES_A_SECOND = 10, EGRESS_LINE_BYTES = 96 };

/* The beginning of a packet, its IPv4 head first, as "tcp 10.254.0.2:43120 to 192.0.2.1:80"; of
 * other protocols than tcp, udp and icmp the number. False: it is no packet of IPv4. */
bool egress_line(struct bytes packet, char out[EGRESS_LINE_BYTES]);

/* Of one container. Zeroed at first. */
struct egress_limit {
    int64_t since_ns; /* the second that is counted began then */
    unsigned said, unsaid;
};

/* Whether one more line is to be said at this time (monotonic); *ret_unsaid: so many were not said
 * before it, of which nobody has told yet. */
bool egress_limit_take(struct egress_limit *l, int64_t now_ns, unsigned *ret_unsaid);

/* Why the auctioneer has found no cell for an instance or a task, in sentences. Pure. */
#pragma once

#include "auction.pb-c.h"
#include "common/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { UNPLACED_LINES_MAX = 10 };

/* Writes the lines, which live in the arena, and gives their number. It is one that is nowhere, or
 * was so when the auctioneer was asked: then a line says what has become of it. */
size_t unplaced_lines(struct arena *a, const Auction__Why *why,
                      const char *ret_lines[UNPLACED_LINES_MAX]);

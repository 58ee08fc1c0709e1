/* What the history keeps of a frame of the board's feed. Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "test/chaos/workload/routes_io.h"

#include <jansson.h>

/* A line without "bbs" and "at"; NULL of records that the judge does not look at. Of an instance
 * *ret_route is filled; otherwise its process is "". */
json_t *event_line(struct arena *a, const Board__FeedFrame *frame, struct route *ret_route);

/* What a check of an instance found last, for people. Pure. */
#pragma once

#include "cell.pb-c.h"
#include "common/base/arena.h"

/* "http :8080/health passed 3s ago in 12 ms, next in 27s", "... failed 3s ago: WHY; next in 500ms",
 * "... is awaited". Printable, in the arena; `now_ns` by the wall clock. */
const char *check_text(struct arena *a, const Cell__CheckOutcome *check, int64_t now_ns);

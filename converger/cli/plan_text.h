/* What `converger plan` and `converger once` show. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "converge.pb-c.h"

#include <stdbool.h>

/* A row for each pass: how many repairs, and the first of them; and notes; or the plan as JSON on
 * one line. NULL is an empty plan. */
int converger_plan_text(struct arena *a, const Converge__Plan *plan, bool json, struct buf *out,
                        struct err *err);

/* The same of the answer of GET /plan. ERR_INVALID when the body is no such thing. */
int converger_plan_json_text(struct arena *a, struct bytes body, bool json, struct buf *out,
                             struct err *err);

/* What `crm plan` shows. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

/* Of the answer of GET /plan: a row an object, and notes; or JSON on one line. ERR_INVALID when the
 * body is no such thing. */
int crm_plan_text(struct arena *a, struct bytes body, bool json, struct buf *out, struct err *err);

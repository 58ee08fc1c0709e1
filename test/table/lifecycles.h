/* Every lifecycle there is: those of the kinds of records, in the order of records.def, and the
 * container's, which is on no board. */
#pragma once

#include "common/lifecycle/lifecycle.h"
#include "common/model/keys.h"

enum { LIFECYCLES_MAX = RECORD_TYPE_COUNT + 1 };

size_t lifecycle_count(void);
const struct lifecycle *lifecycle_at(size_t n); /* n < lifecycle_count() */

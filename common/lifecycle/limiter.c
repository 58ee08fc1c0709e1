#include "common/lifecycle/limiter.h"

#define LIFECYCLE_PREFIX LIMITER
#define LIFECYCLE_DEF "common/lifecycle/limiter.def"
#define LIFECYCLE_VARIABLE limiter_lifecycle
#define LIFECYCLE_NAME "limiter"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/pool.h"

#define LIFECYCLE_PREFIX POOL
#define LIFECYCLE_DEF "common/lifecycle/pool.def"
#define LIFECYCLE_VARIABLE pool_lifecycle
#define LIFECYCLE_NAME "pool"
#include "common/lifecycle/lifecycle_table.h"

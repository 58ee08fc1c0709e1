#include "common/lifecycle/lock.h"

#define LIFECYCLE_PREFIX LOCK
#define LIFECYCLE_DEF "common/lifecycle/lock.def"
#define LIFECYCLE_VARIABLE lock_lifecycle
#define LIFECYCLE_NAME "lock"
#include "common/lifecycle/lifecycle_table.h"

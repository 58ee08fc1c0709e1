#include "common/lifecycle/leader_lock.h"

#define LIFECYCLE_PREFIX LEADER_LOCK
#define LIFECYCLE_DEF "common/lifecycle/leader_lock.def"
#define LIFECYCLE_VARIABLE leader_lock_lifecycle
#define LIFECYCLE_NAME "leader_lock"
#include "common/lifecycle/lifecycle_table.h"

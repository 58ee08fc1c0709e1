#include "common/lifecycle/system.h"

#define LIFECYCLE_PREFIX SYSTEM
#define LIFECYCLE_DEF "common/lifecycle/system.def"
#define LIFECYCLE_VARIABLE system_lifecycle
#define LIFECYCLE_NAME "system"
#include "common/lifecycle/lifecycle_table.h"

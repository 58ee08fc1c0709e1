#include "common/lifecycle/tracked.h"

#define LIFECYCLE_PREFIX TRACKED
#define LIFECYCLE_DEF "common/lifecycle/tracked.def"
#define LIFECYCLE_VARIABLE tracked_lifecycle
#define LIFECYCLE_NAME "tracked"
#include "common/lifecycle/lifecycle_table.h"

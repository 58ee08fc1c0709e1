#include "common/lifecycle/container.h"

#define LIFECYCLE_PREFIX PHASE
#define LIFECYCLE_DEF "common/lifecycle/container.def"
#define LIFECYCLE_VARIABLE container_lifecycle
#define LIFECYCLE_NAME "container"
#include "common/lifecycle/lifecycle_table.h"

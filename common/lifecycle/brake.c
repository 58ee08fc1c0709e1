#include "common/lifecycle/brake.h"

#define LIFECYCLE_PREFIX BRAKE
#define LIFECYCLE_DEF "common/lifecycle/brake.def"
#define LIFECYCLE_VARIABLE brake_lifecycle
#define LIFECYCLE_NAME "brake"
#include "common/lifecycle/lifecycle_table.h"

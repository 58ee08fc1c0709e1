#include "common/lifecycle/cloudlet.h"

#define LIFECYCLE_PREFIX CLOUDLET
#define LIFECYCLE_DEF "common/lifecycle/cloudlet.def"
#define LIFECYCLE_VARIABLE cloudlet_lifecycle
#define LIFECYCLE_NAME "cloudlet"
#include "common/lifecycle/lifecycle_table.h"

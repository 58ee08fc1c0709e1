#include "common/lifecycle/cloudlet_info.h"

#define LIFECYCLE_PREFIX CLOUDLET_INFO
#define LIFECYCLE_DEF "common/lifecycle/cloudlet_info.def"
#define LIFECYCLE_VARIABLE cloudlet_info_lifecycle
#define LIFECYCLE_NAME "cloudlet_info"
#include "common/lifecycle/lifecycle_table.h"

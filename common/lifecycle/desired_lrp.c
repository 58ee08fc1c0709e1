#include "common/lifecycle/desired_lrp.h"

#define LIFECYCLE_PREFIX DESIRED_LRP
#define LIFECYCLE_DEF "common/lifecycle/desired_lrp.def"
#define LIFECYCLE_VARIABLE desired_lrp_lifecycle
#define LIFECYCLE_NAME "desired_lrp"
#include "common/lifecycle/lifecycle_table.h"

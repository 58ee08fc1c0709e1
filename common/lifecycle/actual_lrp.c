#include "common/lifecycle/actual_lrp.h"

#define LIFECYCLE_PREFIX ACTUAL_LRP
#define LIFECYCLE_DEF "common/lifecycle/actual_lrp.def"
#define LIFECYCLE_VARIABLE actual_lrp_lifecycle
#define LIFECYCLE_NAME "actual_lrp"
#include "common/lifecycle/lifecycle_table.h"

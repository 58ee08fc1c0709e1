#include "common/lifecycle/unit_status.h"

#define LIFECYCLE_PREFIX UNIT_STATUS
#define LIFECYCLE_DEF "common/lifecycle/unit_status.def"
#define LIFECYCLE_VARIABLE unit_status_lifecycle
#define LIFECYCLE_NAME "unit_status"
#include "common/lifecycle/lifecycle_table.h"

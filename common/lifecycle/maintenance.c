#include "common/lifecycle/maintenance.h"

#define LIFECYCLE_PREFIX MAINTENANCE
#define LIFECYCLE_DEF "common/lifecycle/maintenance.def"
#define LIFECYCLE_VARIABLE maintenance_lifecycle
#define LIFECYCLE_NAME "maintenance"
#include "common/lifecycle/lifecycle_table.h"

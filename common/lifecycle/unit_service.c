#include "common/lifecycle/unit_service.h"

#define LIFECYCLE_PREFIX UNIT_SERVICE
#define LIFECYCLE_DEF "common/lifecycle/unit_service.def"
#define LIFECYCLE_VARIABLE unit_service_lifecycle
#define LIFECYCLE_NAME "unit_service"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/service.h"

#define LIFECYCLE_PREFIX SERVICE
#define LIFECYCLE_DEF "common/lifecycle/service.def"
#define LIFECYCLE_VARIABLE service_lifecycle
#define LIFECYCLE_NAME "service"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/unit.h"

#define LIFECYCLE_PREFIX UNIT
#define LIFECYCLE_DEF "common/lifecycle/unit.def"
#define LIFECYCLE_VARIABLE unit_lifecycle
#define LIFECYCLE_NAME "unit"
#include "common/lifecycle/lifecycle_table.h"

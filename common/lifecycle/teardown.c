#include "common/lifecycle/teardown.h"

#define LIFECYCLE_PREFIX TEARDOWN
#define LIFECYCLE_DEF "common/lifecycle/teardown.def"
#define LIFECYCLE_VARIABLE teardown_lifecycle
#define LIFECYCLE_NAME "teardown"
#include "common/lifecycle/lifecycle_table.h"

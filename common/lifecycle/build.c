#include "common/lifecycle/build.h"

#define LIFECYCLE_PREFIX BUILD
#define LIFECYCLE_DEF "common/lifecycle/build.def"
#define LIFECYCLE_VARIABLE build_lifecycle
#define LIFECYCLE_NAME "build"
#include "common/lifecycle/lifecycle_table.h"

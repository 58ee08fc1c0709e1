#include "common/lifecycle/slice.h"

#define LIFECYCLE_PREFIX SLICE
#define LIFECYCLE_DEF "common/lifecycle/slice.def"
#define LIFECYCLE_VARIABLE slice_lifecycle
#define LIFECYCLE_NAME "slice"
#include "common/lifecycle/lifecycle_table.h"

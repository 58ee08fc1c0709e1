#include "common/lifecycle/progress.h"

#define LIFECYCLE_PREFIX PROGRESS
#define LIFECYCLE_DEF "common/lifecycle/progress.def"
#define LIFECYCLE_VARIABLE progress_lifecycle
#define LIFECYCLE_NAME "progress"
#include "common/lifecycle/lifecycle_table.h"

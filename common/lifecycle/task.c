#include "common/lifecycle/task.h"

#define LIFECYCLE_PREFIX TASK
#define LIFECYCLE_DEF "common/lifecycle/task.def"
#define LIFECYCLE_VARIABLE task_lifecycle
#define LIFECYCLE_NAME "task"
#include "common/lifecycle/lifecycle_table.h"

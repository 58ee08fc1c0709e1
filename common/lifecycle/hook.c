#include "common/lifecycle/hook.h"

#define LIFECYCLE_PREFIX HOOK_RUN
#define LIFECYCLE_DEF "common/lifecycle/hook.def"
#define LIFECYCLE_VARIABLE hook_lifecycle
#define LIFECYCLE_NAME "hook"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/setting.h"

#define LIFECYCLE_PREFIX SETTING
#define LIFECYCLE_DEF "common/lifecycle/setting.def"
#define LIFECYCLE_VARIABLE setting_lifecycle
#define LIFECYCLE_NAME "setting"
#include "common/lifecycle/lifecycle_table.h"

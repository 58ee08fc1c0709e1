#include "common/lifecycle/machine.h"

#define LIFECYCLE_PREFIX MACHINE
#define LIFECYCLE_DEF "common/lifecycle/machine.def"
#define LIFECYCLE_VARIABLE machine_lifecycle
#define LIFECYCLE_NAME "machine"
#include "common/lifecycle/lifecycle_table.h"

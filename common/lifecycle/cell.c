#include "common/lifecycle/cell.h"

#define LIFECYCLE_PREFIX CELL
#define LIFECYCLE_DEF "common/lifecycle/cell.def"
#define LIFECYCLE_VARIABLE cell_lifecycle
#define LIFECYCLE_NAME "cell"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/relation.h"

#define LIFECYCLE_PREFIX RELATION
#define LIFECYCLE_DEF "common/lifecycle/relation.def"
#define LIFECYCLE_VARIABLE relation_lifecycle
#define LIFECYCLE_NAME "relation"
#include "common/lifecycle/lifecycle_table.h"

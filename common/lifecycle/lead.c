#include "common/lifecycle/lead.h"

#define LIFECYCLE_PREFIX LEAD
#define LIFECYCLE_DEF "common/lifecycle/lead.def"
#define LIFECYCLE_VARIABLE lead_lifecycle
#define LIFECYCLE_NAME "lead"
#include "common/lifecycle/lifecycle_table.h"

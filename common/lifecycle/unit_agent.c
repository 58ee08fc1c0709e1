#include "common/lifecycle/unit_agent.h"

#define LIFECYCLE_PREFIX UNIT_AGENT
#define LIFECYCLE_DEF "common/lifecycle/unit_agent.def"
#define LIFECYCLE_VARIABLE unit_agent_lifecycle
#define LIFECYCLE_NAME "unit_agent"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/domain.h"

#define LIFECYCLE_PREFIX DOMAIN
#define LIFECYCLE_DEF "common/lifecycle/domain.def"
#define LIFECYCLE_VARIABLE domain_lifecycle
#define LIFECYCLE_NAME "domain"
#include "common/lifecycle/lifecycle_table.h"

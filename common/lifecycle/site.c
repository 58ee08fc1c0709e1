#include "common/lifecycle/site.h"

#define LIFECYCLE_PREFIX SITE
#define LIFECYCLE_DEF "common/lifecycle/site.def"
#define LIFECYCLE_VARIABLE site_lifecycle
#define LIFECYCLE_NAME "site"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/deploy.h"

#define LIFECYCLE_PREFIX DEPLOY
#define LIFECYCLE_DEF "common/lifecycle/deploy.def"
#define LIFECYCLE_VARIABLE deploy_lifecycle
#define LIFECYCLE_NAME "deploy"
#include "common/lifecycle/lifecycle_table.h"

#include "common/lifecycle/member.h"

#define LIFECYCLE_PREFIX MEMBER
#define LIFECYCLE_DEF "common/lifecycle/member.def"
#define LIFECYCLE_VARIABLE member_lifecycle
#define LIFECYCLE_NAME "member"
#include "common/lifecycle/lifecycle_table.h"

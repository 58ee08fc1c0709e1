#include "common/lifecycle/job.h"

#define LIFECYCLE_PREFIX JOB
#define LIFECYCLE_DEF "common/lifecycle/job.def"
#define LIFECYCLE_VARIABLE job_lifecycle
#define LIFECYCLE_NAME "job"
#include "common/lifecycle/lifecycle_table.h"

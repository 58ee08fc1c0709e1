#include "common/lifecycle/job_run.h"

#define LIFECYCLE_PREFIX JOB_RUN
#define LIFECYCLE_DEF "common/lifecycle/job_run.def"
#define LIFECYCLE_VARIABLE job_run_lifecycle
#define LIFECYCLE_NAME "job_run"
#include "common/lifecycle/lifecycle_table.h"

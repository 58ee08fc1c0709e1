/* The lifecycle of a job run: job_run.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* JOB_RUN_<STATE>, JOB_RUN_TRIGGER_<TRIGGER>, JOB_RUN_IF_<GUARD>. */
#define LIFECYCLE_PREFIX JOB_RUN
#define LIFECYCLE_DEF "common/lifecycle/job_run.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle job_run_lifecycle;

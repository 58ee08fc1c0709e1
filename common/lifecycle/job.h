/* The lifecycle of a job: job.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* JOB_<STATE>, JOB_TRIGGER_<TRIGGER>, JOB_IF_<GUARD>. */
#define LIFECYCLE_PREFIX JOB
#define LIFECYCLE_DEF "common/lifecycle/job.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle job_lifecycle;

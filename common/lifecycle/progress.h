/* The lifecycle of what is told of an operation: progress.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* PROGRESS_<STATE>, PROGRESS_TRIGGER_<TRIGGER>, PROGRESS_IF_<GUARD>. */
#define LIFECYCLE_PREFIX PROGRESS
#define LIFECYCLE_DEF "common/lifecycle/progress.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle progress_lifecycle;

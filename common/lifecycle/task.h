/* The lifecycle of a Task record: task.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* TASK_<STATE>, TASK_TRIGGER_<TRIGGER>, TASK_IF_<GUARD>. */
#define LIFECYCLE_PREFIX TASK
#define LIFECYCLE_DEF "common/lifecycle/task.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle task_lifecycle;

/* The lifecycle of one run of a unit's hook: hook.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* HOOK_RUN_<STATE>, HOOK_RUN_TRIGGER_<TRIGGER>, HOOK_RUN_IF_<GUARD>. */
#define LIFECYCLE_PREFIX HOOK_RUN
#define LIFECYCLE_DEF "common/lifecycle/hook.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle hook_lifecycle;

/* The lifecycle of a system: system.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* SYSTEM_<STATE>, SYSTEM_TRIGGER_<TRIGGER>, SYSTEM_IF_<GUARD>. */
#define LIFECYCLE_PREFIX SYSTEM
#define LIFECYCLE_DEF "common/lifecycle/system.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle system_lifecycle;

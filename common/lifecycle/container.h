/* The lifecycle of a container as its rep keeps it: container.def says it. Its states are called
 * phases, for `enum container_state` is the driver's view. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* PHASE_<STATE>, PHASE_TRIGGER_<TRIGGER>. */
#define LIFECYCLE_PREFIX PHASE
#define LIFECYCLE_DEF "common/lifecycle/container.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle container_lifecycle;

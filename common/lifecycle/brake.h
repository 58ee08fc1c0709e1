/* The lifecycle of the mass-loss brake: brake.def says it. */
#ifndef COMMON_LIFECYCLE_BRAKE_H
#define COMMON_LIFECYCLE_BRAKE_H

#include "common/lifecycle/lifecycle.h"

/* BRAKE_<STATE>, BRAKE_TRIGGER_<TRIGGER>, BRAKE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX BRAKE
#define LIFECYCLE_DEF "common/lifecycle/brake.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle brake_lifecycle;

#endif

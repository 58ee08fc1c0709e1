/* The lifecycle of an object of a site: tracked.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* TRACKED_<STATE>, TRACKED_TRIGGER_<TRIGGER>, TRACKED_IF_<GUARD>. */
#define LIFECYCLE_PREFIX TRACKED
#define LIFECYCLE_DEF "common/lifecycle/tracked.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle tracked_lifecycle;

/* The lifecycle of a build: build.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* BUILD_<STATE>, BUILD_TRIGGER_<TRIGGER>, BUILD_IF_<GUARD>. */
#define LIFECYCLE_PREFIX BUILD
#define LIFECYCLE_DEF "common/lifecycle/build.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle build_lifecycle;

/* The lifecycle of the mass-loss limiter: limiter.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* LIMITER_<STATE>, LIMITER_TRIGGER_<TRIGGER>, LIMITER_IF_<GUARD>. */
#define LIFECYCLE_PREFIX LIMITER
#define LIFECYCLE_DEF "common/lifecycle/limiter.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle limiter_lifecycle;

/* The lifecycle of a slice of a cluster: slice.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* SLICE_<STATE>, SLICE_TRIGGER_<TRIGGER>, SLICE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX SLICE
#define LIFECYCLE_DEF "common/lifecycle/slice.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle slice_lifecycle;

/* The lifecycle of a teardown: teardown.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* TEARDOWN_<STATE>, TEARDOWN_TRIGGER_<TRIGGER>, TEARDOWN_IF_<GUARD>. */
#define LIFECYCLE_PREFIX TEARDOWN
#define LIFECYCLE_DEF "common/lifecycle/teardown.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle teardown_lifecycle;

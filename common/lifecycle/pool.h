/* The lifecycle of a node pool: pool.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* POOL_<STATE>, POOL_TRIGGER_<TRIGGER>, POOL_IF_<GUARD>. */
#define LIFECYCLE_PREFIX POOL
#define LIFECYCLE_DEF "common/lifecycle/pool.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle pool_lifecycle;

/* The lifecycle of a lock of an outside owner: lock.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* LOCK_<STATE>, LOCK_TRIGGER_<TRIGGER>, LOCK_IF_<GUARD>. */
#define LIFECYCLE_PREFIX LOCK
#define LIFECYCLE_DEF "common/lifecycle/lock.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle lock_lifecycle;

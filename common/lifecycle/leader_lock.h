/* The lifecycle of a leader's lock: leader_lock.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* LEADER_LOCK_<STATE>, LEADER_LOCK_TRIGGER_<TRIGGER>, LEADER_LOCK_IF_<GUARD>. */
#define LIFECYCLE_PREFIX LEADER_LOCK
#define LIFECYCLE_DEF "common/lifecycle/leader_lock.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle leader_lock_lifecycle;

/* The lifecycle of a unit's status: unit_status.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* UNIT_STATUS_<STATE>, UNIT_STATUS_TRIGGER_<TRIGGER>, UNIT_STATUS_IF_<GUARD>. */
#define LIFECYCLE_PREFIX UNIT_STATUS
#define LIFECYCLE_DEF "common/lifecycle/unit_status.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle unit_status_lifecycle;

/* The lifecycle of a unit: unit.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* UNIT_<STATE>, UNIT_TRIGGER_<TRIGGER>, UNIT_IF_<GUARD>. */
#define LIFECYCLE_PREFIX UNIT
#define LIFECYCLE_DEF "common/lifecycle/unit.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle unit_lifecycle;

/* The lifecycle of a unit service: unit_service.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* UNIT_SERVICE_<STATE>, UNIT_SERVICE_TRIGGER_<TRIGGER>, UNIT_SERVICE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX UNIT_SERVICE
#define LIFECYCLE_DEF "common/lifecycle/unit_service.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle unit_service_lifecycle;

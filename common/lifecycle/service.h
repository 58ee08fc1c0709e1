/* The lifecycle of a service: service.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* SERVICE_<STATE>, SERVICE_TRIGGER_<TRIGGER>, SERVICE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX SERVICE
#define LIFECYCLE_DEF "common/lifecycle/service.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle service_lifecycle;

/* The lifecycle of the maintenance of a site: maintenance.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* MAINTENANCE_<STATE>, MAINTENANCE_TRIGGER_<TRIGGER>, MAINTENANCE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX MAINTENANCE
#define LIFECYCLE_DEF "common/lifecycle/maintenance.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle maintenance_lifecycle;

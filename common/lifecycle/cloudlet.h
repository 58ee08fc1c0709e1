/* The lifecycle of a site: cloudlet.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* CLOUDLET_<STATE>, CLOUDLET_TRIGGER_<TRIGGER>, CLOUDLET_IF_<GUARD>. */
#define LIFECYCLE_PREFIX CLOUDLET
#define LIFECYCLE_DEF "common/lifecycle/cloudlet.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle cloudlet_lifecycle;

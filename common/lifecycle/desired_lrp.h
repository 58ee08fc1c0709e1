/* The lifecycle of a DesiredLRP: desired_lrp.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* DESIRED_LRP_<STATE>, DESIRED_LRP_TRIGGER_<TRIGGER>, DESIRED_LRP_IF_<GUARD>. */
#define LIFECYCLE_PREFIX DESIRED_LRP
#define LIFECYCLE_DEF "common/lifecycle/desired_lrp.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle desired_lrp_lifecycle;

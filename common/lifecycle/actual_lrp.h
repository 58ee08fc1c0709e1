/* The lifecycle of an ActualLRP record: actual_lrp.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* ACTUAL_LRP_<STATE>, ACTUAL_LRP_TRIGGER_<TRIGGER>, ACTUAL_LRP_IF_<GUARD>. */
#define LIFECYCLE_PREFIX ACTUAL_LRP
#define LIFECYCLE_DEF "common/lifecycle/actual_lrp.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle actual_lrp_lifecycle;

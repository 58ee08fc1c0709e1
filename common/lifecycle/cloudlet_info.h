/* The lifecycle of what a CRM says of itself: cloudlet_info.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* CLOUDLET_INFO_<STATE>, CLOUDLET_INFO_TRIGGER_<TRIGGER>, CLOUDLET_INFO_IF_<GUARD>. */
#define LIFECYCLE_PREFIX CLOUDLET_INFO
#define LIFECYCLE_DEF "common/lifecycle/cloudlet_info.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle cloudlet_info_lifecycle;

/* The lifecycle of a cluster that is a site: site.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* SITE_<STATE>, SITE_TRIGGER_<TRIGGER>, SITE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX SITE
#define LIFECYCLE_DEF "common/lifecycle/site.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle site_lifecycle;

/* The lifecycle of a leader's lock: lead.def says it. */
#ifndef COMMON_LIFECYCLE_LEAD_H
#define COMMON_LIFECYCLE_LEAD_H

#include "common/lifecycle/lifecycle.h"

/* LEAD_<STATE>, LEAD_TRIGGER_<TRIGGER>, LEAD_IF_<GUARD>. */
#define LIFECYCLE_PREFIX LEAD
#define LIFECYCLE_DEF "common/lifecycle/lead.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle lead_lifecycle;

#endif

/* The lifecycle of a domain: domain.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* DOMAIN_<STATE>, DOMAIN_TRIGGER_<TRIGGER>, DOMAIN_IF_<GUARD>. */
#define LIFECYCLE_PREFIX DOMAIN
#define LIFECYCLE_DEF "common/lifecycle/domain.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle domain_lifecycle;

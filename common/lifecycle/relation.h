/* The lifecycle of a relation: relation.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* RELATION_<STATE>, RELATION_TRIGGER_<TRIGGER>, RELATION_IF_<GUARD>. */
#define LIFECYCLE_PREFIX RELATION
#define LIFECYCLE_DEF "common/lifecycle/relation.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle relation_lifecycle;

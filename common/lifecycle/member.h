/* The lifecycle of a membership: member.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* MEMBER_<STATE>, MEMBER_TRIGGER_<TRIGGER>, MEMBER_IF_<GUARD>. */
#define LIFECYCLE_PREFIX MEMBER
#define LIFECYCLE_DEF "common/lifecycle/member.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle member_lifecycle;

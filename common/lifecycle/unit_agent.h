/* The lifecycle of a unit's agent in its rep: unit_agent.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* UNIT_AGENT_<STATE>, UNIT_AGENT_TRIGGER_<TRIGGER>, UNIT_AGENT_IF_<GUARD>. */
#define LIFECYCLE_PREFIX UNIT_AGENT
#define LIFECYCLE_DEF "common/lifecycle/unit_agent.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle unit_agent_lifecycle;

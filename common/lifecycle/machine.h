/* The lifecycle of a machine: machine.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* MACHINE_<STATE>, MACHINE_TRIGGER_<TRIGGER>, MACHINE_IF_<GUARD>. */
#define LIFECYCLE_PREFIX MACHINE
#define LIFECYCLE_DEF "common/lifecycle/machine.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle machine_lifecycle;

/* The lifecycle of a cell's record: cell.def says it. */
#pragma once

#include "common/lifecycle/lifecycle.h"

/* CELL_<STATE>, CELL_TRIGGER_<TRIGGER>, CELL_IF_<GUARD>. */
#define LIFECYCLE_PREFIX CELL
#define LIFECYCLE_DEF "common/lifecycle/cell.def"
#include "common/lifecycle/lifecycle_enums.h"

extern const struct lifecycle cell_lifecycle;

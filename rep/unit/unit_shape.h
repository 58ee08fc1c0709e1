/* What of a charm a container is made from, and what of it COMMAND is: by these an agent tells what
 * an upgrade changes (docs/units.md, An upgrade). Pure. */
#pragma once

#include "common/base/arena.h"
#include "models/desired_lrp.pb-c.h"

#include <stdbool.h>

/* Its root filesystem, ports and all else but what a unit has of its own (memory, disk, processes),
 * what COMMAND is, and its environment. A digest in the arena: two that are equal need no other
 * container. */
const char *unit_shape(struct arena *a, const Models__DesiredLRP *run);

/* COMMAND is something. */
bool unit_has_command(const Models__DesiredLRP *run);

/* The program of COMMAND, with its arguments, its environment and its limits, likewise; "" = none.
 */
const char *unit_command(struct arena *a, const Models__DesiredLRP *run);

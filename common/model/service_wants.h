/* What changes of a service in place, without a new revision (docs/systems.md, Services). Pure. */
#pragma once

#include "models/desired_lrp.pb-c.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* Whether the DesiredLRP of its target has the routes, annotation, metric tags and policies that
 * the service wants. */
bool service_wants_met(const Board__ServiceRecord *service, const Models__DesiredLRP *desired);

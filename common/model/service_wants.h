/* Whether a DesiredLRP has what its service wants of the target: routes, annotation, metric tags and
 * policies, which change in place, without a new revision (docs/systems.md, Services). Pure. */
#pragma once

#include "models/desired_lrp.pb-c.h"

#include "board.pb-c.h"

#include <stdbool.h>

bool service_wants_met(const Board__ServiceRecord *service, const Models__DesiredLRP *desired);

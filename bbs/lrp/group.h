/* ActualLRPs as groups, the deprecated view (behaviour.md 10.5): which records of an index are
 * shown, and for which a group stands. Pure. */
#pragma once

#include "models/actual_lrp.pb-c.h"

#include <stdbool.h>

/* Of an index with an ORDINARY and a SUSPECT record in these states ("" = there is none): whether
 * the SUSPECT one is the group's `instance`. Best first: ORDINARY RUNNING, SUSPECT RUNNING, SUSPECT
 * CLAIMED, ORDINARY in any other state. */
bool group_shows_suspect(const char *ordinary, const char *suspect);

/* The one record that a group stands for when it is filtered by cell; NULL = none. */
const Models__ActualLRP *group_resolve(const Models__ActualLRPGroup *group);

/* What holds of units and relations after every commit (docs/units.md): of the records as they
 * stand, and of what this commit has changed. Fails the test with the law that does not hold.
 *
 *   V1   a life never goes back, a guid is first seen alive, and no record changes its guid
 *   V2   who is dead is in no relation and has no subordinate; a subordinate's principal is there
 *        and not dead
 *   V3   each reference leads to a record of that guid
 *   V4   what is said twice is said alike: both ways of a relation, a membership, a machine's unit,
 *        a subordinate
 *   V5   a dying relation has a member, a dying service a unit or a relation
 *   V6   a relation is alive only if its services are; a machine that is not alive has no unit; a
 *        unit's machine never changes
 *   V7   a principal has one subordinate of a service at most, and a member of a container scope
 *        sits on the principal of that scope
 *   V8   no new membership of a unit or relation that is not alive, no new unit or relation of a
 *        service that is not
 *   V13  a commit changes 64 records at most */
#pragma once

#include "test/decide/unit_world.h"

void unit_laws_hold(const struct unit_world *w, const struct unit_world_entry *changes,
                    size_t count);

/* Nothing is left but machines, their cells, and sequences (V11). */
void unit_laws_empty(const struct unit_world *w);

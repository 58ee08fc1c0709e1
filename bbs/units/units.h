/* Units and relations (docs/units.md, Decisions): moves of reps, leaders, clients and jobs about a
 * unit, a membership and a relation, and the requests of clients. Pure.
 *
 * Of a unit (common/lifecycle/unit.def)
 *   destroy  it becomes dying and its memberships depart; one whose agent has never reported goes
 *            at once. Not alive any more: nothing. At most UNIT_SCOPES_AT_ONCE memberships
 *   die      it is in no relation and has no subordinate
 *   remove   its record goes, and what names it; the last of a dying service takes that with it
 * Of a membership (common/lifecycle/member.def); the guid of the unit is said
 *   enter    with its first settings. A principal that enters a relation of container scope has a
 *            subordinate of the other service, or brings one by the number that is said
 *   publish  what a hook has set, once a hook
 *   leave    the last one takes a dying relation with it. No member: nothing
 * Of a relation (common/lifecycle/relation.def)
 *   destroy  it becomes dying, or goes when nobody is in it */
#pragma once

#include "bbs/board/move_family.h"

#include "board.pb-c.h"

enum { UNIT_SCOPES_AT_ONCE = 16 };

extern const struct move_family unit_moves;
extern const struct move_family member_moves;
extern const struct move_family relation_moves;

/* A client wants two ends related. Refused: a service that is not there or not alive; an end that
 * is not its charm's; ends that do not fit; a relation that stands. */
extern const struct op_row relate_units_row;
void valid_relate_units(struct validation *v, const Board__RelateUnitsRequest *request);

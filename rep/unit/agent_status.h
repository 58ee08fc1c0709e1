/* What a unit's agent reports of it (docs/units.md, The agent). Pure. */
#pragma once

#include "rep/unit/agent.h"

/* The status of the unit, which is here and not Dead, as it should be; NULL if the board has it so,
 * or has none, or would not take it. `j` is the journal as the board has it, `w` its world, `next`
 * what hook_next() says of that.
 * `ret_fails`: it says that a hook has failed, which is another move than to report; it
 * stays untouched where there is no status. */
Board__UnitStatusRecord *agent_status_due(struct arena *a, const struct agent_facts *f,
                                          const Rep__UnitNote *j, const struct hook_world *w,
                                          const struct hook_step *next,
                                          bool *ret_fails);

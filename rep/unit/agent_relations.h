/* The rows of a unit's agent that look at the relations of its service (docs/units.md, The agent):
 * 4, whether it has to go, and 13, what it enters. Pure. */
#pragma once

#include "rep/unit/agent.h"

/* A step with nothing but these. */
struct agent_step agent_step_of(int row, enum agent_act act, const char *why);
struct agent_step agent_wait(int row, const char *why);

/* Why a unit that is Alive has to go; NULL = it has not. */
const char *agent_reason(const struct agent_facts *f);

/* Of a unit that is Alive and has started: the first relation that can be entered; else what the
 * first one waits for. */
struct agent_step agent_enter_next(const struct agent_facts *f);

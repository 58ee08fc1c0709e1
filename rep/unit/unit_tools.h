/* Who knows the units of the cell, for the face of their hooks (tools_face.h): what a hook runs,
 * what its tools see, and what they change. What a tool has changed is in the container's note in
 * memory at once, and on the disk before the tool is answered (docs/units.md, Tools). */
#pragma once

#include "rep/unit/cell_unit.h"
#include "rep/unit/tools_face.h"

/* Where a container has them: rep-hook with a link a tool; the socket's directory; its token. */
#define UNIT_TOOLS_PATH "/.corkboard/tools"
#define UNIT_SOCKET_PATH "/.corkboard/socket"
#define UNIT_TOKEN_PATH "/.corkboard/token"

/* The container is to have them, if this cell does. Borrows. */
void unit_tools_give(struct rep *r, const Rep__UnitOf *of, struct container_spec *spec,
                     struct arena *a);

/* The face asks this one about units. The rep is borrowed. */
void unit_tools_init(struct rep *r);

/* The hook that this journal notes begins: what its tools see of the board is frozen, as it is now.
 * It is what the agent saw that decided for the hook, and stands before the note is written. A hook
 * that the charm does not have needs nothing. It is held in memory alone, till the hook ends: so of
 * UNIT_HOOKS_MAX units at most. */
void unit_tools_freeze(struct rep *r, struct cell_unit *u, const struct container *c,
                       const Rep__UnitNote *journal);

/* For each look while a hook is noted. One that an earlier rep began has lost what was frozen:
 * it is frozen anew as soon as the board is known as it is, and stays so to the hook's end. Who the
 * hook is about the journal says, and that one is there or not as at the begin
 * (unit_knowledge_tools()). And if tools have changed something, and nothing else is under way with
 * the container, its note is written. */
void unit_tools_look(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out);

/* Nothing is asked of this unit's hook any more, or its container has gone: who waits is told.
 * `begins`: the next one is being noted, and what was frozen for it stays. */
void unit_tools_done(struct rep *r, struct cell_unit *u, bool begins, struct effects *out);

/* A note of the container is on the disk, or is not: who waits for it is answered. True: it was
 * written for tools, and is what is in memory. */
bool unit_tools_noted(struct rep *r, struct cell_unit *u, struct container *c,
                      const struct verb_answer *answer, struct effects *out);

/* As the charm calls it: "install", "db-relation-changed"; in the arena. NULL: its relation is not
 * known. */
const char *unit_hook_name(const struct unit_knowledge *k, struct arena *a, const char *service,
                           const Rep__UnitNoteHook *h);

/* The charm has a hook of that name; NULL is none. */
bool unit_charm_has_hook(const Board__Charm *charm, const char *name);

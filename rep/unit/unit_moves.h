/* The moves by which a unit's agent does what it says (docs/units.md, Decisions): a Board.Move
 * each, as bbs/units takes it. Pure. Results live in the arena and borrow from what is given.
 * Whoever sends one sets its incarnation. Each may be sent again: what is done already is nothing.
 */
#pragma once

#include "common/model/moves.h"
#include "rep/unit/agent.h"
#include "rep/unit/unit_knowledge.h"

/* The first settings of a member: what others reach it by. */
struct unit_address {
    const char *address; /* of the cell; "" = not known */
    uint32_t port;       /* of the host, of the first mapping; 0 = none */
};

/* The unit is of this cell for ever. `adopts`: it has the unit's container already. */
Board__Move *unit_move_assign(struct arena *a, const Board__UnitRecord *unit, bool adopts);

/* Its status is this: report, or fail. `revision`: of the status that was looked at, by which bbs
 * knows which resolution was done. */
Board__Move *unit_move_report(struct arena *a, struct unit_name name, const char *guid,
                              const Board__UnitStatusRecord *status, uint64_t revision);
Board__Move *unit_move_fail(struct arena *a, struct unit_name name, const char *guid,
                            const Board__UnitStatusRecord *status, uint64_t revision);

/* The unit, or a subordinate of it, ends: destroy, die, remove. */
Board__Move *unit_move_end(struct arena *a, const char *move, struct unit_name name,
                           const char *guid);

/* It enters the relation, with `child` if `brings_child`. */
Board__Move *unit_move_enter(struct arena *a, const Board__UnitRecord *unit,
                             const Board__RelationRecord *relation, struct unit_address address,
                             bool brings_child, uint32_t child);

/* `member` is the key of its membership, as its unit_scope record has it. */
Board__Move *unit_move_leave(struct arena *a, const char *member, const char *guid);

/* What its hooks have set, over what stands there (`own`). The number of the hook is one more than
 * that of the record: one that comes late changes nothing. NULL: it stands there already; then
 * journal_published(). */
Board__Move *unit_move_publish(struct arena *a, const char *member, const char *guid,
                               const Board__RelationSettingsRecord *own, const Rep__UnitNote *j,
                               uint32_t relation);

/* 1 to 64 numbers of the sequence of a subordinate service. */
Board__Move *unit_move_numbers(struct arena *a, const Board__UnitServiceRecord *service,
                               uint32_t count);

/* The move of a step's act, of facts by unit_knowledge_facts(), at that moment: of REMOVE, DIE,
 * DESTROY, DESTROY_CHILD, PUBLISH, LEAVE, NUMBERS and ENTER; NULL for other acts, and for what was
 * published already. After PUBLISH the board is looked at again: it is done when that gives NULL.
 */
Board__Move *unit_move_of_act(struct arena *a, const struct unit_knowledge *k,
                              const struct agent_facts *f, const struct agent_step *s,
                              struct unit_address address);

/* The move that reports the status of a step; NULL if it has none. */
Board__Move *unit_move_of_status(struct arena *a, const struct agent_facts *f,
                                 const struct agent_step *s);

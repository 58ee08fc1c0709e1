/* What the decisions about units share (docs/units.md, Decisions): changes by the lifecycles, and
 * whom a move means. Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/unit_name.h"

#include "board.pb-c.h"

/* No plan about units has more changes. */
enum { UNITS_RECORDS_MAX = 64 };

/* A change by a lifecycle, which must lead there: a record in state `from` becomes `message`, or
 * goes (NULL). Gives the state that it leads to. */
int life_change(struct plan *p, const struct op_input *in, const struct lifecycle *l, int from,
                int trigger, uint32_t guards, const char *key, const ProtobufCMessage *message);

/* State by the text in a record; its `none` without one. */
int life_of(const struct lifecycle *l, const char *state);

/* The caller's cell is that of the unit, of the same identity. */
bool unit_is_own(const Board__UnitRecord *unit, const struct speaker *by, const char *peer_name);

/* The move means this unit: false and refused if it is gone, or another one has its name by now. A
 * rep always says whose guid it means. */
bool unit_is_meant(const struct move_turn *t, const Board__UnitRecord *unit);

/* A copy of the unit in the other life. */
Board__UnitRecord *unit_in_life(struct arena *a, const Board__UnitRecord *before, int life,
                                struct moment now);

/* A membership of a dying unit says so, if it does not yet; `member` may be NULL: it has left. */
void unit_depart_put(struct plan *p, const struct op_input *in, const char *key,
                     const Board__RelationMemberRecord *member);

/* The tag of a unit that waits for a machine, in place of its life. */
#define UNIT_PLACE_UNASSIGNED "unassigned"

/* The status of a unit that is made: its agent has said nothing yet. */
void unit_status_put_pending(struct plan *p, const struct op_input *in, struct unit_name name,
                             const Board__UnitRecord *unit);

/* What is wrong with a map as clients and reps bring it, a sentence: it is in byte order, each key
 * once, within the bounds of a configuration. NULL = nothing. */
const char *unit_settings_list_fault(struct arena *a, Board__UnitSetting *const *list,
                                     size_t count);

/* True: there is no such service, or it is not alive, and the plan is refused; `what`: what is not
 * done with it then, a sentence. */
bool unit_service_refused(const Board__UnitServiceRecord *s, const char *name, const char *what,
                          struct plan *p);

/* Of a record. */
struct unit_name unit_name_of(const Board__UnitRecord *unit);

/* What the plan has become is within its bound. */
void units_plan_check(const struct plan *p);

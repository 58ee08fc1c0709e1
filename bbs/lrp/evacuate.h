/* What the moves of an evacuation have in common (behaviour.md 11). Their plans say with
 * keep_container whether the rep lets the container run. Pure. */
#ifndef BBS_LRP_EVACUATE_H
#define BBS_LRP_EVACUATE_H

#include "bbs/lrp/move.h"

/* The target: the record, of whatever presence, whose instance key is the move's; NULL if none. */
const Models__ActualLRP *evacuate_target(const struct move_snapshot *s, const Board__Move *m);

/* The guards that hold between the move and `record`, which may be NULL: move_guards, and whether
 * it is EVACUATING, SUSPECT, replaced, or to stay. */
uint32_t evacuate_guards(const struct move_snapshot *s, const struct op_input *in,
                         const Models__ActualLRP *record);

/* The common beginning: the caller may speak, and there is a target, which becomes the plan's
 * record. NULL: the plan is refused; keep_container is then true only if `keep` and a target may
 * exist. */
const Models__ActualLRP *evacuate_begin(const struct move_snapshot *s, const struct op_input *in,
                                        bool keep, struct plan *p);

/* The record of the target goes; the plan shows none. */
void evacuate_delete(struct plan *p, const struct op_input *in, const Models__ActualLRP *target,
                     const char *name);

#endif

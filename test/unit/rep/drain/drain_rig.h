/* A cell that is emptied, on a rep_rig: how it is asked for, and what the board hears and answers.
 */
#pragma once

#include "test/unit/rep/rep_rig.h"

/* SIGTERM. */
void drain_rig_term(struct rep_rig *g);

/* POST /evacuate by a caller of this kind, at the listener for this machine's tools or at the
 * other; and the first reply that is kept then. */
void drain_rig_send(struct rep_rig *g, bool admin, const char *unit);
struct reply drain_rig_post(struct rep_rig *g, bool admin, const char *unit);

/* The board has heard of it, as it was asked: an answer without a record. */
void drain_rig_answer(struct rep_rig *g, uint64_t call_id);

/* The board is told that it evacuates, with its limit; and answers. */
void drain_rig_told(struct rep_rig *g);

/* Its record is asked to go; once it has, the process ends with 0. */
void drain_rig_leaves(struct rep_rig *g);

/* What an earlier rep has kept, with so much left by the clocks that the rig starts at. */
struct kept_evacuation drain_rig_kept(int64_t mono_s, int64_t wall_s, const char *boot,
                                      bool handed_on);

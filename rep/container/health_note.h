/* What the note of an instance says of its checks: made from its definition, and read back from a
 * disk. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/desired_lrp.pb-c.h"
#include "rep_note.pb-c.h"

/* The checks of a definition, in the arena, borrowing from it; NULL in *ret when there are none.
 * The checks of its check_definition go before its monitor. ERR_TOO_LARGE: more than a cell does;
 * ERR_INVALID: a check of no kind. */
int health_make(struct arena *a, const Models__DesiredLRP *lrp, Rep__Health **ret,
                struct err *err);

/* Whether this, which comes from a disk, can be worked with; NULL can. ERR_INVALID. */
int health_check(const Rep__Note *note, struct err *err);

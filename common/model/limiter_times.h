/* The times of the mass-loss limiter (design.md 6): the bbs releases by them, the converger asks by
 * them. */
#ifndef COMMON_MODEL_LIMITER_TIMES_H
#define COMMON_MODEL_LIMITER_TIMES_H

#include "common/contract/moment.h"

/* How long cells are held when nobody says anything. */
#define LIMITER_HOLD_NS (60 * SECOND_NS)

#endif

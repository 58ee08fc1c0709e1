/* Room that cells are about to have, for they are removing what has ended there. If something that
 * was refused may fit by then, the auctioneer asks the cell again soon, then ever later, until its
 * usual look for more room takes over. Pure. */
#pragma once

#include "auctioneer/cells.h"
#include "auctioneer/score.h"

#include <stdbool.h>
#include <stdint.h>

/* At first after so long, then after twice as long each time, so many times for the same room. The
 * last comes 2.54 s after the first answer, when the usual look, each 2 s, has begun to ask as
 * well. */
#define FREEING_LOOK_NS (20 * MILLISECOND_NS)
enum { FREEING_LOOKS_MAX = 7 };

struct freeing {
    bool lacking;         /* something was refused for want of room: */
    struct demand least;  /* the least of each that such a job asked for */
    unsigned looks;       /* planned for the same room */
    int64_t look_ns;      /* when awaited cells are asked again; NEVER_NS = they are not */
};

/* Nothing that was refused is known of. */
void freeing_init(struct freeing *f);

/* One that was refused because no compatible cell has room for it. */
void freeing_refused(struct freeing *f, const struct demand *q);

/* Cells have reported their room: marks those that are awaited (cells.h), and plans when they are
 * asked again. One that frees more than it did begins again. */
void freeing_plan(struct freeing *f, struct cells *c, int64_t now_ns);

/* The steps of a container that does more than to run one program: the machine's orders
 * (rep/steps/machine.h) carried out, one verb after the other, beside the container's one
 * operation. What bbs says, or does not answer, holds up none of it. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdbool.h>

struct container;
struct rep;

/* It is made: what it depends on is brought before it starts. True: not all of it is there yet, and
 * its steps see to that; by an earlier rep they may have been begun. */
bool steps_bring(struct rep *r, struct container *c);

/* Its first process runs: from now on its steps are looked at. */
void steps_go(struct container *c);

/* An earlier rep has left it running: what had been said by then is not said again. True: it counts
 * as running, as it would if that rep had gone on. */
bool steps_adopt(struct rep *r, struct container *c);

/* The next thing to be done, if its steps go: a verb, or a change of its phase. */
void steps_look(struct rep *r, struct container *c, struct effects *out);

/* Whether the answer is to a verb of its steps; then it is taken. */
bool steps_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out);

/* The image of a unit's next charm, where that asks for another container: it is brought to the
 * cell before the one that is there ends, so that a unit whose image cannot be had stays as it is,
 * at the charm that it runs (docs/units.md, An upgrade). */
#pragma once

#include "common/base/random.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdlib.h>

struct cell_unit;
struct rep;

/* What could not be brought is tried again then. */
#define UNIT_FETCH_AGAIN_NS (30 * SECOND_NS)
/* What was brought is looked after again then, if its container is not made yet: the cell keeps an
 * image for a container to come for IMAGE_PIN_GRACE_S. */
#define UNIT_FETCHED_NS (300 * SECOND_NS)

struct unit_fetch {
    char *shape; /* owned; of the container that is to be made (unit_shape.h); NULL = none is */
    uint64_t call_id; /* the PULL under way; 0 = none */
    bool here;        /* it can be had, */
    int64_t until_ns; /* until then for certain */
    char *error;      /* owned; why it cannot be had; NULL = it can, or nobody knows yet */
    int64_t again_ns; /* when that is tried again */
};

/* For each look: finds out whether the image that the unit's next charm needs is here, and has it
 * brought. Nothing where its charm asks for no other container. */
void unit_fetch_look(struct rep *r, struct cell_unit *u, struct effects *out);

/* Whether the answer is to such a PULL; then it is taken. */
bool unit_fetch_answer(struct rep *r, const struct verb_answer *answer);

/* None is to be made, or it has been. Here, for those that keep a unit ask nothing else of it. */
static inline void unit_fetch_clear(struct unit_fetch *f)
{
    free(f->shape);
    free(f->error);
    *f = (struct unit_fetch){0};
}

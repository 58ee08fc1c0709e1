/* The driver's listing: adoption at the start and reconciliation later in one path (design.md 3.1a,
 * 5). It tells what a restarted rep has, what became of a verb without an answer, and of an end
 * whose hint was missed. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdbool.h>

struct rep;

/* Wanted or not, listings are at least this far apart. */
#define LISTING_GAP_NS (1 * SECOND_NS)

struct listing {
    uint64_t verb_id; /* of the open listing; 0 = none */
    bool adopted;     /* one has succeeded since the start: adoption has ended */
    uint64_t removed_id; /* the role's id when a container was last gone */
    bool wanted;
    unsigned failures; /* in a row */
    int64_t asked_ns;
    int64_t next_ns;
};

/* Asks for a listing when one is due; says when the next will be. */
void listing_step(struct rep *r, struct effects *out);

/* Something is uncertain: list soon. */
static inline void listing_want(struct listing *l)
{
    l->wanted = true;
}

/* Adoption has ended and the last listing succeeded. */
static inline bool listing_is_good(const struct listing *l)
{
    return l->adopted && l->failures == 0;
}

/* The end of a LIST. Judges only containers whose driver side rested since the listing was asked
 * for: no verb under way, none answered since. */
void listing_answer(struct rep *r, const struct verb_answer *answer, struct effects *out);

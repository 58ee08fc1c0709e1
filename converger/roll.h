/* How a service rolls: the next step from what runs to what is to run, by counts alone
 * (docs/systems.md, Rolling). N instances are wanted; never more than N + S are desired of all
 * revisions, unless more were before; and no step of an old revision leaves fewer than N - U
 * available, but for rule 5.
 *
 *   1. It is held: nothing.
 *   2. The newest has a DesiredLRP whose routes, tags or policies differ: adjust.
 *   3. The newest is below N: surge to min(N, N + S - all old desired).
 *   4. Oldest first: an old one gives as many of its top indices as keeps N - U available. What is
 *      not available costs nothing. At 0 its DesiredLRP goes.
 *   5. Nothing of this helps, all of the newest are available, and it was so for long: an old one
 *      with an instance that is not available gives one, though it is available: for it is what
 *      the broken one has held back. So N - U are kept but for what was broken before.
 *   6. None old: the newest above N gives what is too many.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct roll_revision {
    int32_t instances; /* desired of it */
    int32_t available; /* of these, for sure */
    /* Whether that index is available, or may be: then taking it away may cost one. */
    bool (*is_available)(const void *of, int32_t index);
    const void *of;
};

struct roll_view {
    bool held;
    bool fits;   /* no DesiredLRP of the newest stands, or its routes, tags and policies are well */
    bool waited; /* rule 5: nothing has changed for long */
    int32_t wanted, surge, unavailable;
    struct roll_revision newest;
    const struct roll_revision *old; /* those that have a DesiredLRP, oldest first */
    size_t old_count;
};

enum roll_kind { ROLL_NOTHING, ROLL_ADJUST, ROLL_SURGE, ROLL_SHRINK };
enum { ROLL_NEWEST = -1 };

struct roll_step {
    enum roll_kind kind;
    int old;           /* of SHRINK: which of `old`, or ROLL_NEWEST */
    int32_t instances; /* of SURGE, SHRINK: desired of it from then on */
};

/* The next step. Steps one after the other end. */
void roll_decide(const struct roll_view *v, struct roll_step *ret);

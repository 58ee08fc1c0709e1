/* A DesiredLRP as its readers see it: the scheduling part of the copy, the run part, and a few fields
 * that are harmonised (behaviour.md 8.5). */
#ifndef BBS_ROUTE_WHOLE_DESIRED_H
#define BBS_ROUTE_WHOLE_DESIRED_H

#include "bbs/route/records.h"

/* All but the run part. */
struct half_desired {
    struct blob *scheduling; /* counted */
    struct blob *extra;      /* counted; NULL: nothing is harmonised */
    const char *run_key;     /* where the run part stands */
};

/* Reads a scheduling part, decoded in `scratch` for the time of the call; the key lives in `a`. False
 * when this version cannot read it. */
bool half_desired_read(struct arena *a, struct arena *scratch, struct blob *scheduling,
                       struct half_desired *ret);
void half_desired_done(struct half_desired *h);

/* Adds both halves as one message; r2: without image layers. */
void whole_desired_add(struct records *records, const struct half_desired *h, struct blob *run,
                       bool r2);

#endif

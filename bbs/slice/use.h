/* What runs in a slice: a DesiredLRP that names one is desired, updated and removed together with
 * the slice's list of uses, in one transaction (docs/edge.md, Slices). Only the CRM that leads at
 * the site asks for such, and it asks for no other. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/speaker.h"
#include "models/desired_lrp.pb-c.h"

#include "board.pb-c.h"

struct slice_use {
    struct speaker by;
    const char *uid;                 /* that the DesiredLRP names; NULL or "" = none */
    const Board__SliceRecord *slice; /* NULL = none */
};

/* The slice of this uid, and who speaks; both are noted. */
void slice_use_gather(struct view *v, const struct op_input *in, const char *uid,
                      struct slice_use *ret);

/* Whether the caller may ask at all; otherwise the plan is refused (ResourceConflict):
 * 1. The CRM of a site, in another term than the one in which it leads.
 * 2. The CRM, of a DesiredLRP that is in no slice.
 * 3. Anybody else, of one that is in a slice. */
bool slice_use_permitted(const struct slice_use *u, const struct op_input *in,
                         const Board__Term *term, struct plan *p);

/* What is in the slice has room yet when this definition is so; otherwise the plan is refused
 * (ResourceConflict). In no slice: true. */
bool slice_use_fits(const struct slice_use *u, const Models__DesiredLRP *after, struct plan *p);

/* The slice's record with this definition, or without it: `after` NULL = it goes. A slice that is
 * not there, and no slice, change nothing. */
void slice_use_put(const struct slice_use *u, const struct op_input *in, const char *process_guid,
                   const Models__DesiredLRP *after, struct plan *p);

/* With the tag of a slice that has whole cells; as it is otherwise. In the arena. */
const Models__DesiredLRP *slice_use_tagged(struct arena *a, const struct slice_use *u,
                                           const Models__DesiredLRP *desired);

/* The end of a container: what there is of it is removed, and what it took is free again. */
#ifndef REP_REMOVAL_H
#define REP_REMOVAL_H

#include "rep/container.h"

struct rep;

/* The next step of one that is being deleted and has no operation. It may be gone afterwards. */
void removal_continue(struct rep *r, struct container *c, struct effects *out);

/* The end of REMOVE; its operation is over already. */
void removal_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out);

/* Frees what the container still had set aside and drops it from the table. Its record may still be
 * ours: the rows without a container. */
void removal_end(struct rep *r, struct container *c, const char *why, struct effects *out);

#endif

/* The image of a container that is to be made: pulled before it is prepared, and what it says about
 * itself in its spec (docs/cell.md, Images). */
#pragma once

#include "rep/container/container.h"
#include "rep_image.pb-c.h"

struct rep;

/* What is to be pulled for a root filesystem; NULL: nothing. Borrows. */
const char *pull_image(const struct rep *r, const char *rootfs);

/* Whether the container waits for its image; asks for it then. `name` is its root filesystem, as
 * its definition has it now. A pull may take minutes: the container's record is looked at
 * meanwhile, and what that asks for is done. */
bool pull_first(struct rep *r, struct container *c, const char *name, const char *username,
                const char *password, struct effects *out);

/* Whether the answer is to a pull; then it is taken. */
bool pull_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out);

/* Takes what the image has of the disk limit off it. When that is all of it or more, or when a
 * program is left to an image that does not name one, the container has failed with that, and it
 * gives false. */
bool pull_suits(struct container *c, struct container_spec *spec, struct effects *out);

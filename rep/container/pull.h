/* The image of a container that is to be made: pulled before it is prepared, and what it says about
 * itself in its spec (docs/cell.md, Images). */
#pragma once

#include "rep/container/container.h"
#include "rep_image.pb-c.h"

struct rep;

/* Whether the container waits for its image; asks for it then. `name` is its root filesystem, as
 * its definition has it now. */
bool pull_first(struct rep *r, struct container *c, const char *name, const char *username,
                const char *password, struct effects *out);

/* The driver's answer to that. */
void pull_answered(struct rep *r, struct container *c, const struct verb_answer *answer,
                   struct effects *out);

/* The pull goes on for nobody, for the container is to be removed: that ends it. */
void pull_abandon(struct container *c);

/* Takes what the image has of the disk limit off it. When that is all of it or more, or when a
 * program is left to an image that does not name one, the container has failed with that, and it
 * gives false. */
bool pull_suits(struct container *c, struct container_spec *spec, struct effects *out);

/* The image of a container that is to be made: pulled before it is prepared, and what it says about
 * itself in its spec (docs/cell.md, Images). */
#pragma once

#include "rep/container/container.h"
#include "rep_image.pb-c.h"

struct rep;

/* Whether the container waits for its image; asks for it then. `name` is its root filesystem. */
bool pull_first(struct rep *r, struct container *c, const char *name, const char *username,
                const char *password, struct effects *out);

/* The driver's answer to that. */
void pull_answered(struct rep *r, struct container *c, const struct verb_answer *answer,
                   struct effects *out);

/* The pull goes on for nobody, for the container is to be removed: that ends it. */
void pull_abandon(struct container *c);

/* Completes the spec of a container by its image, if it has one: the layers; the image's variables,
 * where neither definition nor action set them. What the image takes of the disk limit is taken off
 * it; when it is more than that, false, and the container has failed with it. In the arena. Pure. */
bool pull_spec(struct container *c, struct container_spec *spec, struct effects *out);

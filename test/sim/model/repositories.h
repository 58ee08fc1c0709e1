/* Git repositories as the simulated resolver sees them: texts by name. Commits are counted. */
#pragma once

#include "common/contract/resolver.h"
#include "test/sim/world/world.h"

struct model_repositories;

struct model_repositories *model_repositories_new(void);
void model_repositories_free(struct model_repositories *m); /* accepts NULL */

/* A commit with this definition (YAML, or JSON) as its file `file` ("" = lattice.yaml), to which
 * the tag or branch `ref` now leads. All is copied. */
void model_repositories_put(struct model_repositories *m, const char *url, const char *ref,
                            const char *file, const char *text);

/* From now on every request fails with this; NULL = none does. Borrowed. */
void model_repositories_fail(struct model_repositories *m, const char *fault);

/* Plays them in the world: what every converger asks is answered by the very code that the real
 * resolver has, from these texts. */
void model_repositories_serve(struct world *w, struct model_repositories *m);

/* Whoever plays the repositories of definitions, and reads texts: definitions are short texts here.
 * Words are components, blanks stand between:
 *   "/a:1"      a service, variant 1: what it runs hangs on the variant alone
 *   "/a:1*3"    with three instances; else one
 *   "/s/b:2"    in an inner system /s, which need not be named
 *   "/a:1!"     no cell has its root filesystem: it never gets an instance
 *   "/a:1^"     no cell has so much memory: nor does this one
 *   "/a:1%"     it has a readiness check of its port, and its instances bear the tag
 *               version=unready, for whoever lets it fail
 *   "/a:1~"     its instances bear the tag version=crash, for whoever makes them crash
 *   "/a:1?k"    it needs the secret /a:k
 *   "/j:1="     a job
 *   "/:m#t+2"   no component: a node pool m of the system at /, of two cells of type t
 *   "/a:1@/:m"  it runs in the pool /:m; a job, too
 *   "/a:1&t"    a pool of its own, of as many cells of type t as it has instances
 * Of versions of a repository the texts are put; whatever else is asked for is not there. */
#pragma once

#include "common/base/map.h"
#include "test/sim/world/world.h"

/* The root filesystem of "!", and the memory of "^". */
#define NO_ROOT_FS "preloaded:nothing"
enum { TOO_MUCH_MEMORY_MB = 1000000 };

/* What they have: by version, and by "PATH" what a path build reads; borrowed texts. */
struct definitions {
    struct map texts;
};

/* Empty; plays them in this world from now on, so it must outlive its steps. */
void definitions_init(struct definitions *d, struct world *w);
void definitions_done(struct definitions *d);

/* What stands at this version from now on. */
void definitions_put(struct definitions *d, const char *version, const char *text);

/* What a build of a path reads from now on, of whatever definition was deployed; NULL = the text of
 * the commit, again. */
void definitions_move(struct definitions *d, const char *text);

/* What such a text says, borne by this tree, of what stands at and below the path. In the arena. */
struct resolved definition_of(struct arena *a, const char *uid, const char *tree, const char *text,
                              const char *path);

/* The URL of all of them. */
#define DEFINITIONS_URL "https://git.test/shop.git"

/* Reads definitions of systems out of git repositories and texts (docs/systems.md, Definitions).
 * The shell does it, in a child of the process: EFFECT_RESOLVE, answered exactly once by
 * EVENT_RESOLVED, also when the child hangs or dies. */
#pragma once

#include "common/base/bytes.h"
#include "systems.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most requests that a role may have open at once, and how long one lasts at most. */
enum { RESOLVES_MAX = 4, RESOLVE_TIME_S = 60 };

/* Most bytes of the text of RESOLVE_SOURCE, and versions that are given. */
enum { RESOLVE_SOURCE_BYTES_MAX = 960 * 1024, RESOLVE_VERSIONS_MAX = 1000 };

enum resolve_what {
    RESOLVE_VERSION, /* the definition in the repository `url` at the tag `version` */
    RESOLVE_PATH,    /* the one at `commit`, its references read anew: what stands within `path` */
    RESOLVE_SOURCE,  /* the text `source`, YAML or JSON */
    RESOLVE_TAGS,    /* the tags of `url` that are versions */
    RESOLVE_WHAT_COUNT
};

/* A secret that opens a repository, in the clear. */
struct resolve_key {
    const char *name; /* path:name */
    const char *value;
};

/* Texts that do not belong to `what` may be NULL, which is as "". */
struct resolve_request {
    uint64_t id; /* chosen by the role, unique among its open requests */
    enum resolve_what what;
    const char *system, *uid;
    const char *url;
    const char *version;
    const char *commit;
    const char *path;    /* NULL = "/" */
    const char *ssh_key; /* in the clear, opens `url`; NULL = none */
    struct bytes source;
    const char *tree; /* borne by the components and the index */
    size_t key_count; /* of references' repositories */
    const struct resolve_key *keys;
};

struct resolved {
    uint64_t id;
    bool done;         /* else `fault` says why not, for people, or `needs` what is lacking */
    const char *fault; /* never NULL */
    /* Not "": the secret, path:name, that opens a repository of a reference and is not among the
     * keys. To be asked again with it. */
    const char *needs;
    const char *commit;  /* of `url`; "" of a text */
    const char *version; /* as its tag is spelled */
    size_t component_count;
    Board__ComponentRecord **components; /* by path, by segments; the first is the root */
    Board__IndexRecord *index;           /* NULL of RESOLVE_TAGS, and unless it is done */
    size_t version_count;
    const char **versions; /* of RESOLVE_TAGS: ascending; of more than the most, the highest */
};

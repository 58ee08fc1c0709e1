/* Of what a file is that was given to the wrong command: told by its keys, mistakes or not. Pure.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

enum file_kind {
    FILE_OF_NOTHING, /* it cannot be read, or its keys do not tell */
    FILE_OF_SYSTEM,  /* its `type` is a definition's: bbs deploy */
    FILE_OF_CHARM,   /* hooks, or ends of relations: bbs units deploy */
    FILE_OF_EDGE,    /* a key that apps of a centre of sites alone have: bbs edge-apps apply */
    FILE_OF_APPS,    /* a key that apps alone have: bbs apply */
};

/* By the first document of the file; ".json" at the end of its name means JSON. */
enum file_kind file_kind_of(struct arena *a, const char *file, struct bytes text);

/* The sentence for who gave it to a command that takes `what`: "web.yaml is a charm, and apply
 * takes files of apps: bbs units deploy web.yaml". NULL of FILE_OF_NOTHING. */
const char *file_kind_text(struct arena *a, const char *file, enum file_kind kind,
                           const char *what);

/* The keeper of systems: their deploys, teardowns and builds, and what becomes of the systems
 * themselves (docs/systems.md). It keeps of each service and of each build, deploy and teardown
 * what its passes need, so that a look decodes little. Pure. */
#pragma once

#include "converger/builds.h"
#include "converger/keeper.h"
#include "converger/system_copy.h"
#include "converger/versions.h"
#include "converger/work.h"

struct system_seen {
    struct work_item item; /* first: a struct work_item * is a struct system_seen * */
    char *id;              /* NULL = its record has not come, or is gone */
    bool full;             /* the look is one of a full pass */
    bool rests;            /* the last full look led to nothing, and nothing changed since */
    bool turning, refused; /* the last move was to open or remove it; that was refused */
    bool collecting; /* a portion of a tree is on its way out: most change no record of ours */
    uint64_t turn;         /* among those at rest, when it was looked at */
    int64_t told_ns;       /* monotonic: when its state was last written; 0 = never */
    bool reads;            /* a definition of it waits to be read: too many others are */
    struct system_copy copy;
    char uid[];
};

struct systems_keeper {
    struct kept kept;
    struct map by_uid; /* -> struct system_seen */
    struct map by_id;  /* the same, of those whose record is there */
    struct work work;
    struct builds builds;
    struct versions versions;
    uint64_t turns; /* given to those at rest */
};

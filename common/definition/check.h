/* What the command line does with a definition in files: it joins them to one text, and finds
 * mistakes before anybody is asked (docs/systems.md, Definitions). Pure, but for the files. */
#pragma once

#include "common/definition/definition.h"

struct definition_checked {
    bool good;
    const char *faults;            /* "" = none; else what was found, "; " between */
    struct definition_faults list; /* the same, one by one */
    struct bytes text; /* of a good one: JSON, local references joined; at most 960 KiB */
    size_t systems, services, jobs;
    size_t references;             /* to git repositories, which are read when it is built */
    struct definition_part *parts; /* by path, by segments: kinds and paths */
    size_t part_count;
};

/* Reads `file` and what it refers to by `files`. `system`: the id it is to be deployed as; "" =
 * any. What stands in git repositories is not read. */
void definition_check(struct arena *a, const struct definition_files *files, const char *file,
                      const char *system, struct definition_checked *ret);

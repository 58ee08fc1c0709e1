/* How what is wrong with a definition is told: the component, the file, the line, the key. Pure. */
#pragma once

#include "common/definition/definition.h"

struct definition_source {
    struct arena *arena;
    const char *file;
    const char *path; /* of the component */
    struct definition_faults *faults;
};

/* "/api: web.yaml:3: ports: what". `key` may be "". */
void definition_mistake(const struct definition_source *s, const struct node *at, const char *key,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Where a key may stand. */
enum definition_place_of_key {
    DK_SYSTEM = 1,
    DK_SERVICE = 2,
    DK_JOB = 4,
    DK_REFERENCE = 8,
    DK_SIDECAR = 16,
    DK_BUILD = 32,
    DK_EXEC = 64,
    DK_PORT = 128,
    DK_ACCESS = 256,
    DK_HEALTH = 512,
    DK_HTTP = 1024,
    DK_RESOURCES = 2048,
    DK_ROLLING = 4096,
    DK_POOL = 8192,
    DK_REPOSITORY = 16384,
    DK_PARAMETER = 32768,
    DK_WORKLOAD = DK_SERVICE | DK_JOB,
    DK_CONTAINER = DK_WORKLOAD | DK_SIDECAR,
    DK_ANY = DK_SYSTEM | DK_WORKLOAD | DK_REFERENCE,
};

/* A key, as docs/systems.md lists them. */
struct definition_key {
    const char *name;
    unsigned places;
    const char *value, *otherwise, *meaning;
};

/* All, in the order of the docs. */
const struct definition_key *definition_keys(size_t *ret_count);

/* Tells each key of the map that is unknown in its place, with the nearest one. Whether it is a
 * map; tells that, too, of `key`. */
bool definition_check_keys(const struct definition_source *s, const struct node *map,
                           const char *key, unsigned place);

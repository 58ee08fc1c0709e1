/* What the files that compile definitions share. */
#pragma once

#include "common/definition/compile.h"
#include "common/definition/mistake.h"

struct definition_compiler {
    struct arena *arena;
    const struct definition_tree *tree;
    const struct definition_target *target;
    struct definition_faults *faults;
};

/* What stands in a container, of a service, a job or a sidecar. */
struct definition_container {
    const char *root_fs; /* "" of a sidecar */
    bool is_image;       /* which says what runs */
    Models__Action *action;
    size_t env_count;
    Models__EnvironmentVariable **env;
    int32_t memory_mb, disk_mb;
    uint32_t cpu_max_percent;
    size_t sidecar_count;
    Models__Sidecar **sidecars;
};

/* Reads build, exec, resources, user, dir and sidecars; tells mistakes. */
void definition_read_container(const struct definition_source *s, const struct node *n,
                               struct definition_container *ret);

/* Reads ports and health_check of a service into its definition, and its routes. */
void definition_read_ports(const struct definition_source *s, const struct node *n,
                           const struct definition_target *target, Board__ComponentRecord *c);

/* A whole number of a key; `otherwise` where it is left out; tells what is none, or not within. */
int64_t definition_integer(const struct definition_source *s, const struct node *map,
                           const char *key, int64_t least, int64_t most, int64_t otherwise);

/* The text of a scalar; "" where it is left out; tells lists, maps, and what has control
 * characters. */
const char *definition_text(const struct definition_source *s, const struct node *map,
                            const char *key);

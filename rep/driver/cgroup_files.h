/* Where the kernel tells what a control group uses, of version 1 and of version 2: one table. On a
 * hybrid machine each controller is of the one or of the other, so both are tried. Pure: the caller
 * reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cgroup_version { CGROUP_V1, CGROUP_V2, CGROUP_VERSION_COUNT };

enum cgroup_figure {
    CGROUP_CPU_NS,
    CGROUP_MEMORY_BYTES,
    CGROUP_CACHE_BYTES,  /* of the memory: page cache that can go at once */
    CGROUP_OOM_KILLS,
    CGROUP_THROTTLED,    /* periods in which it had to wait for its quota */
    CGROUP_FIGURE_COUNT
};

/* The root of all groups, but in a test. */
#define CGROUP_ROOT "/sys/fs/cgroup"

/* The file with this figure of the group, which begins with "/". False: it does not fit. */
bool cgroup_path(enum cgroup_version version, enum cgroup_figure figure, const char *root,
                 const char *group, char *out, size_t size);

/* The figure as that file's text tells it; 0 when it does not. */
uint64_t cgroup_value(enum cgroup_version version, enum cgroup_figure figure, const char *text);

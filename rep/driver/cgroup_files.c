#include "rep/driver/cgroup_files.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `field`: the name at the begin of the line that has it; NULL: the text is the number. */
static const struct place {
    const char *controller, *file, *field;
    uint64_t unit;
} places[CGROUP_FIGURE_COUNT][CGROUP_VERSION_COUNT] = {
    [CGROUP_CPU_NS] = {{"/cpuacct", "cpuacct.usage", NULL, 1},
                       {"", "cpu.stat", "usage_usec", 1000}},
    [CGROUP_MEMORY_BYTES] = {{"/memory", "memory.usage_in_bytes", NULL, 1},
                             {"", "memory.current", NULL, 1}},
    [CGROUP_CACHE_BYTES] = {{"/memory", "memory.stat", "total_inactive_file", 1},
                            {"", "memory.stat", "inactive_file", 1}},
    [CGROUP_OOM_KILLS] = {{"/memory", "memory.oom_control", "oom_kill", 1},
                          {"", "memory.events", "oom_kill", 1}},
    [CGROUP_THROTTLED] = {{"/cpu", "cpu.stat", "nr_throttled", 1},
                          {"", "cpu.stat", "nr_throttled", 1}},
};

static const struct place *place_of(enum cgroup_version version, enum cgroup_figure figure)
{
    assert(version < CGROUP_VERSION_COUNT && figure < CGROUP_FIGURE_COUNT);
    return &places[figure][version];
}

bool cgroup_path(enum cgroup_version version, enum cgroup_figure figure, const char *root,
                 const char *group, char *out, size_t size)
{
    const struct place *p = place_of(version, figure);
    int n = snprintf(out, size, "%s%s%s/%s", root, p->controller, group, p->file);
    return n > 0 && (size_t)n < size;
}

uint64_t cgroup_value(enum cgroup_version version, enum cgroup_figure figure, const char *text)
{
    const struct place *p = place_of(version, figure);
    size_t size = p->field ? strlen(p->field) : 0;
    if (!p->field) {
        return strtoull(text, NULL, 10) * p->unit;
    }
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, p->field, size) == 0 && at[size] == ' ') {
            return strtoull(at + size, NULL, 10) * p->unit;
        }
    }
    return 0;
}

/* Figures of control groups, from a tree of files as machines of version 1, 2 and both have it. */
#include "rep/driver/cgroup_files.h"
#include "test/tool/cmocka.h"

#include <string.h>

static const struct file {
    const char *path, *text;
} version1[] = {
    {"/r/cpuacct/g/cpuacct.usage", "12345\n"},
    {"/r/memory/g/memory.usage_in_bytes", "4096\n"},
    {"/r/memory/g/memory.stat", "inactive_file 1\ncache 2\ntotal_inactive_file 300\n"},
    {"/r/memory/g/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
    {"/r/cpu/g/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 5\n"},
    {NULL, NULL},
}, version2[] = {
    {"/r/g/cpu.stat", "usage_usec 12\nuser_usec 7\nnr_throttled 6\n"},
    {"/r/g/memory.current", "8192\n"},
    {"/r/g/memory.stat", "anon 1\ninactive_file 77\n"},
    {"/r/g/memory.events", "low 0\noom 9\noom_kill 3\noom_group_kill 0\n"},
    {NULL, NULL},
}, hybrid[] = { /* memory of version 2, processors of version 1 */
    {"/r/cpuacct/g/cpuacct.usage", "5\n"},
    {"/r/cpu/g/cpu.stat", "nr_throttled 1\n"},
    {"/r/g/memory.current", "6\n"},
    {"/r/g/memory.stat", "inactive_file 7\n"},
    {"/r/g/memory.events", "oom_kill 8\n"},
    {NULL, NULL},
};

/* As the driver does: the first version whose file is there. */
static uint64_t figure(const struct file *tree, enum cgroup_figure f)
{
    for (int v = 0; v < CGROUP_VERSION_COUNT; v++) {
        char path[100];
        assert_true(cgroup_path((enum cgroup_version)v, f, "/r", "/g", path, sizeof(path)));
        for (const struct file *at = tree; at->path; at++) {
            if (strcmp(at->path, path) == 0) {
                return cgroup_value((enum cgroup_version)v, f, at->text);
            }
        }
    }
    return 0;
}

static void each_machine_tells_each_figure(void **state)
{
    static const struct {
        const struct file *tree;
        uint64_t cpu_ns, memory, cache, kills, throttled;
    } rows[] = {
        {version1, 12345, 4096, 300, 2, 4},
        {version2, 12000, 8192, 77, 3, 6},
        {hybrid, 5, 6, 7, 8, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(figure(rows[i].tree, CGROUP_CPU_NS), rows[i].cpu_ns);
        assert_int_equal(figure(rows[i].tree, CGROUP_MEMORY_BYTES), rows[i].memory);
        assert_int_equal(figure(rows[i].tree, CGROUP_CACHE_BYTES), rows[i].cache);
        assert_int_equal(figure(rows[i].tree, CGROUP_OOM_KILLS), rows[i].kills);
        assert_int_equal(figure(rows[i].tree, CGROUP_THROTTLED), rows[i].throttled);
    }
}

static void what_is_not_there_is_nothing(void **state)
{
    char path[12];
    assert_int_equal(cgroup_value(CGROUP_V2, CGROUP_CPU_NS, ""), 0);
    assert_int_equal(cgroup_value(CGROUP_V2, CGROUP_CPU_NS, "usage_usecs 5\n"), 0);
    assert_int_equal(cgroup_value(CGROUP_V2, CGROUP_CPU_NS, "x usage_usec 5"), 0);
    assert_int_equal(cgroup_value(CGROUP_V1, CGROUP_CPU_NS, "nothing"), 0);
    assert_false(cgroup_path(CGROUP_V2, CGROUP_CPU_NS, "/root", "/g", path, sizeof(path)));
    assert_true(cgroup_path(CGROUP_V2, CGROUP_CPU_NS, "", "/g", path, sizeof(path)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_machine_tells_each_figure),
        cmocka_unit_test(what_is_not_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

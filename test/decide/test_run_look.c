/* What a converger does about a run of a job, rule by rule (converger/run_look.h). */
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/task.h"
#include "converger/run_look.h"
#include "test/tool/cmocka.h"

#include <string.h>

#define DAYS (86400 * SECOND_NS)
#define NOW_NS (100 * DAYS)

static const char *looked(struct run_facts f, int64_t *ret_due_ns)
{
    const char *move =
        run_look(&f, (struct moment){.mono_ns = 7, .wall_ns = NOW_NS}, ret_due_ns);
    return move ? move : "-";
}

#define RUN(...)                                                                                   \
    {                                                                                              \
        .system = SYSTEM_STABLE, .confirmed = true, .pool_ready = true, __VA_ARGS__                \
    }

static void each_rule(void **state)
{
    static const struct {
        const char *rule;
        struct run_facts facts;
        const char *move;
    } rows[] = {
        {"0 of a newer version", RUN(.state = -1), "-"},
        {"1 deleting, a task yet", RUN(.state = JOB_RUN_DELETING, .task = TASK_RUNNING), "-"},
        {"1 deleting", RUN(.state = JOB_RUN_DELETING), "remove"},
        {"1 its system goes", {.state = JOB_RUN_QUEUED, .system = SYSTEM_DELETING}, "delete"},
        {"1 over, its system is gone", {.state = JOB_RUN_FAILED, .system = SYSTEM_NONE}, "delete"},
        {"2", RUN(.state = JOB_RUN_PENDING), "queue"},
        {"2 no pool",
         {.state = JOB_RUN_PENDING, .system = SYSTEM_STABLE, .confirmed = true}, "note"},
        {"2 no pool, and it says so",
         {.state = JOB_RUN_PENDING, .system = SYSTEM_STABLE, .confirmed = true, .told = true},
         "-"},
        {"2 no pool, restored", {.state = JOB_RUN_PENDING, .system = SYSTEM_STABLE}, "-"},
        {"2 restored",
         {.state = JOB_RUN_PENDING, .system = SYSTEM_STABLE, .pool_ready = true}, "-"},
        {"3", RUN(.state = JOB_RUN_QUEUED, .task = TASK_RUNNING), "observe"},
        {"3 waits for a cell", RUN(.state = JOB_RUN_QUEUED, .task = TASK_PENDING), "-"},
        {"3 known", RUN(.state = JOB_RUN_RUNNING, .task = TASK_RUNNING), "-"},
        {"3 rejected by its cell", RUN(.state = JOB_RUN_RUNNING, .task = TASK_PENDING), "-"},
        {"3 a task of a newer version", RUN(.state = JOB_RUN_RUNNING, .task = -1), "-"},
        {"4 over before it was seen", RUN(.state = JOB_RUN_QUEUED, .task = TASK_COMPLETED),
         "finish"},
        {"4", RUN(.state = JOB_RUN_RUNNING, .task = TASK_RESOLVING), "finish"},
        {"4 gone", RUN(.state = JOB_RUN_RUNNING), "finish"},
        {"5 too old", RUN(.state = JOB_RUN_FAILED, .completed_at = NOW_NS - 30 * DAYS), "forget"},
        {"5 too many", RUN(.state = JOB_RUN_SUCCEEDED, .completed_at = NOW_NS, .later = RUNS_KEPT),
         "forget"},
        {"5 kept", RUN(.state = JOB_RUN_SUCCEEDED, .completed_at = NOW_NS, .later = RUNS_KEPT - 1),
         "-"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t due_ns;
        const char *move = looked(rows[i].facts, &due_ns);
        if (strcmp(move, rows[i].move) != 0) {
            fail_msg("%s: %s, not %s", rows[i].rule, move, rows[i].move);
        }
    }
}

static void only_what_is_over_is_due_by_time(void **state)
{
    int64_t due_ns;
    looked((struct run_facts)RUN(.state = JOB_RUN_FAILED, .completed_at = NOW_NS - 1 * DAYS),
           &due_ns);
    assert_int_equal(due_ns, 29 * DAYS + 7);
    looked((struct run_facts)RUN(.state = JOB_RUN_RUNNING, .task = TASK_RUNNING), &due_ns);
    assert_int_equal(due_ns, NEVER_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(only_what_is_over_is_due_by_time),
    };
    return cmocka_run_group_tests_name("run look", tests, NULL, NULL);
}

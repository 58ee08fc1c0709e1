/* The steps of a task on its cell: each within a phase of its container, each one row of the
 * harmonising table. */
#include "rep/container/task_step.h"

#include "common/lifecycle/container.h"
#include "test/tool/cmocka.h"

static void each_has_a_phase_and_a_side(void **state)
{
    for (int i = STEP_NONE + 1; i < TASK_STEP_COUNT; i++) {
        enum task_step step = (enum task_step)i;
        int phase = task_step_phase(step);
        enum harmony_task side = task_step_side(step);
        assert_in_range(phase, PHASE_NONE + 1, PHASE_COMPLETED);
        assert_int_not_equal(side, TASK_WITHOUT);
        bool over = side == TASK_REJECTABLE || side == TASK_FINISHED;
        assert_int_equal(over, phase == PHASE_COMPLETED);
        assert_true(over || !task_step_failed(step));
    }
}

static void a_phase_begins_with_its_first_step(void **state)
{
    static const struct {
        int phase;
        bool executing;
        enum task_step step;
    } rows[] = {
        {PHASE_NONE, false, STEP_NONE},
        {PHASE_RESERVED, false, STEP_OFFERED},
        {PHASE_INITIALIZING, false, STEP_GRANTED},
        {PHASE_INITIALIZING, true, STEP_GRANTED},
        {PHASE_CREATED, false, STEP_MADE},
        {PHASE_CREATED, true, STEP_NOTED},
        {PHASE_RUNNING, true, STEP_RUNNING},
        {PHASE_COMPLETED, false, STEP_REJECTABLE},
        {PHASE_COMPLETED, true, STEP_FAILED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(task_step_entered(rows[i].phase, rows[i].executing), rows[i].step);
    }
}

/* Once it may have executed no step lets it begin again, or go to another cell (S3). */
static void what_executed_is_never_to_begin(void **state)
{
    for (int phase = PHASE_CREATED; phase <= PHASE_COMPLETED; phase++) {
        enum harmony_task side = task_step_side(task_step_entered(phase, true));
        assert_true(side == TASK_EXECUTING || side == TASK_FINISHED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_a_phase_and_a_side),
        cmocka_unit_test(a_phase_begins_with_its_first_step),
        cmocka_unit_test(what_executed_is_never_to_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

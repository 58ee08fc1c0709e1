/* In which order the jobs of a batch are decided (rep-auctioneer.md 5). */
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

static void first_instances_then_units_then_tasks_then_the_others(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_lrp(x, "small", 2);
    with_lrp(x, "large", 2)->memory_mb = 200;
    with_lrp(x, "small", 1);
    with_lrp(x, "small", 0);
    with_lrp(x, "large", 0)->memory_mb = 200;
    with_task(x, "t-small");
    with_task(x, "t-large")->memory_mb = 300;
    with_unit(x, "unit", 7);
    with_unit(x, "unit", 0);
    assert_string_equal(order_of(x), "large/0 small/0 unit/0 unit/7 t-large/0 t-small/0 small/1 "
                                     "large/2 small/2");
}

/* docs/tasks.md, where Diego would take the task first. */
static void first_instances_come_before_tasks_also_without_others(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_lrp(x, "web", 0)->memory_mb = 50;
    with_task(x, "t")->memory_mb = 500;
    assert_string_equal(order_of(x), "web/0 t/0");
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(first_instances_then_units_then_tasks_then_the_others),
        TEST(first_instances_come_before_tasks_also_without_others),
    };
    return cmocka_run_group_tests_name("schedule: order", tests, NULL, NULL);
}

/* Cells that took a job and did not bring it to the board: any other that takes it comes before
 * them, and they come in their order (schedule.h). */
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* Cells a, b and c of one zone, of which a has most room and c least. */
static void three_cells(struct schedule_rows *x)
{
    with_cell(x, "a", "z1")->availableresources->memorymb = 900;
    with_cell(x, "b", "z1")->availableresources->memorymb = 800;
    with_cell(x, "c", "z1")->availableresources->memorymb = 700;
}

static void late_cells_come_last(void **state)
{
    struct schedule_rows *x = *state;
    static const struct {
        uint32_t late[3];
        size_t count;
        const char *plan;
    } rows[] = {
        {{0}, 0, "web/0=a"},
        {{0}, 1, "web/0=b"},
        {{1}, 1, "web/0=a"},
        {{0, 1}, 2, "web/0=c"},
        {{1, 0}, 2, "web/0=c"},
        {{0, 1, 2}, 3, "web/0=a"},
        {{2, 0, 1}, 3, "web/0=c"},
        {{1, 2, 0}, 3, "web/0=b"},
    };
    three_cells(x);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->job_count = 0;
        struct job *j = with_lrp(x, "web", 0);
        j->late = rows[i].late;
        j->late_count = rows[i].count;
        assert_string_equal(plan_of(x), rows[i].plan);
        j->kind = JOB_TASK;
        assert_string_equal(plan_of(x), rows[i].plan);
    }
}

static const uint32_t a_then_b[] = {0, 1}, only_a[] = {0};

static struct job *late_job(struct schedule_rows *x, int32_t index, const uint32_t *late,
                            size_t count)
{
    struct job *j = with_lrp(x, "web", index);
    j->late = late;
    j->late_count = count;
    return j;
}

/* Only where no other takes it; and what they lack is told as of any cell. */
static void of_those_that_take_it(void **state)
{
    struct schedule_rows *x = *state;
    three_cells(x);
    late_job(x, 0, a_then_b, 2);
    x->cells[2].state->availableresources->memorymb = 99;
    assert_string_equal(plan_of(x), "web/0=a");
    x->cells[0].state->availableresources->memorymb = 99;
    assert_string_equal(plan_of(x), "web/0=b");
    x->cells[1].state->availableresources->memorymb = 99;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources: memory)");
    x->jobs[0].root_fs = "foo:bar";
    assert_string_equal(plan_of(x), "web/0=(found no compatible cell for required rootfs)");
}

static void none_that_is_closed_or_barred(void **state)
{
    struct schedule_rows *x = *state;
    three_cells(x);
    struct job *j = late_job(x, 0, a_then_b, 2);
    x->cells[2].closed = true;
    assert_string_equal(plan_of(x), "web/0=a");
    j->barred = only_a;
    j->barred_count = 1;
    assert_string_equal(plan_of(x), "web/0=b");
    x->cells[1].closed = true;
    assert_string_equal(plan_of(x), "web/0=(unable to communicate to compatible cells)");
}

/* A cell of a zone with more instances comes before a late one; none of a zone that is not the
 * job's. */
static void whatever_the_zones(void **state)
{
    static const char *const zones[] = {"z1", "z2"};
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    cell_row_lrp_is(&x->arena, with_cell(x, "b", "z2"), "web", "RUNNING");
    late_job(x, 0, only_a, 1);
    assert_string_equal(plan_of(x), "web/0=b");
    x->rules = (struct schedule_rules){.zones = zones, .zone_count = 2};
    assert_string_equal(plan_of(x), "web/0=b");
    x->cells[1].state->availableresources->memorymb = 99;
    assert_string_equal(plan_of(x), "web/0=a");
    /* Of index 2 and 3 one is to go to z1, where only a late one is, and one to z2, which is full.
     */
    int to_a = 0, nowhere = 0;
    for (int32_t index = 2; index < 4; index++) {
        x->job_count = 0;
        late_job(x, index, only_a, 1);
        const char *plan = plan_of(x);
        to_a += strcmp(plan + sizeof("web/2=") - 1, "a") == 0;
        nowhere += strstr(plan, "(insufficient resources: memory)") != NULL;
    }
    assert_int_equal(to_a, 1);
    assert_int_equal(nowhere, 1);
}

/* Each job of a batch for itself, and each sees what the ones before it left. */
static void each_job_for_itself(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1");
    for (int32_t i = 0; i < 12; i++) {
        with_lrp(x, "app", i);
    }
    late_job(x, 12, only_a, 1);
    x->cells[0].state->availableresources->memorymb = 700;
    x->cells[1].state->availableresources->memorymb = 700;
    assert_string_equal(plan_of(x),
                        "app/0=a app/1=b app/2=a app/3=b app/4=a app/5=b app/6=a app/7=b "
                        "app/8=a app/9=b app/10=a app/11=b web/12=b");
    x->cells[1].state->availableresources->memorymb = 600;
    assert_non_null(strstr(plan_of(x), " web/12=a"));
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(late_cells_come_last),          TEST(of_those_that_take_it),
        TEST(none_that_is_closed_or_barred), TEST(whatever_the_zones),
        TEST(each_job_for_itself),
    };
    return cmocka_run_group_tests_name("schedule: late", tests, NULL, NULL);
}

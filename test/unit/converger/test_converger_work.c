/* What awaits a look: the waiting list, what is due, and what has a repair on its way. */
#include "converger/work.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>

struct fixture {
    struct work work;
    struct work_item a, b;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    work_init(&f->work);
    work_item_init(&f->a, "a");
    work_item_init(&f->b, "b");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    work_drop(&f->work, &f->a);
    work_drop(&f->work, &f->b);
    assert_int_equal(f->work.waiting_count, 0);
    assert_int_equal(f->work.moving_count, 0);
    assert_true(work_wake_ns(&f->work) == NEVER_NS);
    work_done(&f->work);
    free(f);
    return 0;
}

static void they_come_in_the_order_of_touch_each_once(void **state)
{
    struct fixture *f = *state;
    work_touch(&f->work, &f->b);
    work_touch(&f->work, &f->a);
    work_touch(&f->work, &f->b);
    assert_int_equal(f->work.waiting_count, 2);
    assert_ptr_equal(work_next(&f->work), &f->b);
    assert_ptr_equal(work_next(&f->work), &f->a);
    assert_null(work_next(&f->work));
    work_touch(&f->work, &f->b);
    assert_ptr_equal(work_next(&f->work), &f->b);
}

static void the_sooner_time_stands_and_is_reported_once(void **state)
{
    struct fixture *f = *state;
    work_due(&f->work, &f->a, 20);
    work_due(&f->work, &f->a, 30);
    work_due(&f->work, &f->b, 25);
    work_due(&f->work, &f->b, 10);
    assert_int_equal(work_wake_ns(&f->work), 10);
    assert_null(work_wake(&f->work, 9));
    assert_ptr_equal(work_wake(&f->work, 20), &f->b);
    assert_ptr_equal(work_wake(&f->work, 20), &f->a);
    assert_null(work_wake(&f->work, 30));
    assert_true(work_wake_ns(&f->work) == NEVER_NS);
    assert_false(f->a.touched); /* that is the owner's */
}

static void a_time_that_is_cleared_never_comes(void **state)
{
    struct fixture *f = *state;
    work_due(&f->work, &f->a, 10);
    work_clear_due(&f->work, &f->a);
    work_clear_due(&f->work, &f->a);
    assert_null(work_wake(&f->work, 10));
}

static void one_with_repairs_on_their_way_waits_for_all_answers(void **state)
{
    struct fixture *f = *state;
    work_touch(&f->work, &f->a);
    work_moving(&f->work, &f->a);
    work_moving(&f->work, &f->a);
    assert_int_equal(f->work.moving_count, 2);
    assert_null(work_next(&f->work));
    work_touch(&f->work, &f->a);
    work_settled(&f->work, &f->a, NEVER_NS);
    assert_null(work_next(&f->work));
    work_settled(&f->work, &f->a, 40);
    assert_int_equal(work_wake_ns(&f->work), 40);
    assert_ptr_equal(work_next(&f->work), &f->a);
}

static void an_answer_that_nobody_awaits_is_ignored(void **state)
{
    struct fixture *f = *state;
    work_settled(&f->work, &f->a, 40);
    assert_int_equal(f->work.moving_count, 0);
    assert_true(work_wake_ns(&f->work) == NEVER_NS);
}

/* Until a record shows it, or two seconds have passed. */
static void a_move_that_was_done_is_waited_for(void **state)
{
    struct fixture *f = *state;
    struct judged j = {0};
    assert_false(work_unseen(&f->work, &f->a, &j, 7, SECOND_NS));
    work_touch(&f->work, &f->a);
    work_judged(&f->work, &f->a, &j, 7, SECOND_NS);
    assert_null(work_next(&f->work));
    work_judged_end(&f->work, &f->a, &j, MOVE_DONE, 2 * SECOND_NS);
    assert_ptr_equal(work_next(&f->work), &f->a);
    assert_false(work_unseen(&f->work, &f->a, &j, 8, 2 * SECOND_NS));
    work_clear_due(&f->work, &f->a);
    assert_true(work_unseen(&f->work, &f->a, &j, 7, 4 * SECOND_NS - 1));
    assert_int_equal(work_wake_ns(&f->work), 4 * SECOND_NS);
    assert_false(work_unseen(&f->work, &f->a, &j, 7, 4 * SECOND_NS));
}

static void a_move_that_was_refused_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    struct judged j = {0};
    work_judged(&f->work, &f->a, &j, 7, SECOND_NS);
    work_judged_end(&f->work, &f->a, &j, MOVE_REFUSED, SECOND_NS);
    assert_false(work_unseen(&f->work, &f->a, &j, 7, SECOND_NS));
    assert_int_equal(work_wake_ns(&f->work), work_again_ns(MOVE_REFUSED, SECOND_NS));
}

/* teardown() looks that nothing of it is left. */
static void one_that_is_dropped_is_nowhere(void **state)
{
    struct fixture *f = *state;
    work_touch(&f->work, &f->a);
    work_due(&f->work, &f->a, 10);
    work_moving(&f->work, &f->b);
    work_drop(&f->work, &f->a);
    assert_null(work_next(&f->work));
    assert_null(work_wake(&f->work, 10));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_come_in_the_order_of_touch_each_once),
        TEST(the_sooner_time_stands_and_is_reported_once),
        TEST(a_time_that_is_cleared_never_comes),
        TEST(one_with_repairs_on_their_way_waits_for_all_answers),
        TEST(an_answer_that_nobody_awaits_is_ignored),
        TEST(a_move_that_was_done_is_waited_for),
        TEST(a_move_that_was_refused_is_not_waited_for),
        TEST(one_that_is_dropped_is_nowhere),
    };
    return cmocka_run_group_tests_name("what awaits a look", tests, NULL, NULL);
}

/* What the ground truth reads in /proc. */
#include "test/chaos/truth/proc_text.h"
#include "test/tool/cmocka.h"

static void a_word_of_an_environment(void **state)
{
    static const char text[] = "A=1\0CHAOS_TASK=t-1\0CHAOS_TASKS=2\0LAST=";
    struct bytes all = {(const uint8_t *)text, sizeof(text)};
    assert_string_equal(environ_word(all, "CHAOS_TASK"), "t-1");
    assert_string_equal(environ_word(all, "LAST"), "");
    assert_null(environ_word(all, "CHAOS"));
    assert_null(environ_word((struct bytes){(const uint8_t *)"", 0}, "A"));
}

static void when_it_began(void **state)
{
    const char *stat = "12 (a) b ) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
    assert_int_equal(stat_begun(stat), 4711);
    assert_false(stat_has_ended(stat));
    assert_true(stat_has_ended("12 (a) Z 1 2 3"));
    assert_int_equal(stat_begun("12 (a) S 1 2 3"), -1);
    assert_int_equal(stat_begun("no stat"), -1);
}

static void the_first_of_a_namespace_below_ours(void **state)
{
    assert_true(status_is_first("Name:\tinit\nNSpid:\t24387\t1\nVmPeak:\t1 kB\n"));
    assert_true(status_is_first("Name:\tinit\nNSpid:\t24387\t312\t1\n"));
    assert_false(status_is_first("Name:\tinit\nNSpid:\t24404\t6\n"));
    assert_false(status_is_first("Name:\tinit\nNSpid:\t1\nx:\t1\n"));
    assert_false(status_is_first("Name:\tinit\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_of_an_environment),
        cmocka_unit_test(when_it_began),
        cmocka_unit_test(the_first_of_a_namespace_below_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The texts of ends: statuses, durations as Go prints them, texts that are joined. */
#include "common/contract/moment.h"
#include "rep/steps/exit_text.h"
#include "test/tool/cmocka.h"

static void ends_have_a_source_and_a_status(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(exit_text(&a, "APP", 3, 0, (struct shortage){0}),
                        "APP: Exited with status 3");
    assert_string_equal(exit_status_text(&a, 3, 0, (struct shortage){0}), "Exited with status 3");
    assert_string_equal(exit_text(&a, "APP", 1, 0, (struct shortage){.disk = true}),
                        "APP: Exited with status 1 (out of disk)");
    assert_string_equal(exit_text(&a, "APP", 0, 9, (struct shortage){true, true}),
                        "APP: Exited with status 137 (out of memory)");
    assert_string_equal(exit_text(&a, "", 0, 0, (struct shortage){0}), "LOG: Exited with status 0");
    assert_string_equal(exit_text(&a, "A/B", 0, 9, (struct shortage){.memory = true}),
                        "A/B: Exited with status 137 (out of memory)");
    assert_string_equal(exit_text(&a, "APP", 1, 0, (struct shortage){.memory = true}),
                        "APP: Exited with status 1 (out of memory)");
}

static void durations_are_those_of_go(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "0s"},
        {1, "1ns"},
        {999, "999ns"},
        {1100, "1.1\u00b5s"},
        {2 * MILLISECOND_NS, "2ms"},
        {2200000, "2.2ms"},
        {500 * MILLISECOND_NS, "500ms"},
        {SECOND_NS, "1s"},
        {1500 * MILLISECOND_NS, "1.5s"},
        {10 * SECOND_NS + 1, "10.000000001s"},
        {3300 * MILLISECOND_NS, "3.3s"},
        {60 * SECOND_NS, "1m0s"},
        {4 * 60 * SECOND_NS + 5 * SECOND_NS + MILLISECOND_NS, "4m5.001s"},
        {3600 * SECOND_NS, "1h0m0s"},
        {5 * 3600 * SECOND_NS + 6 * 60 * SECOND_NS + 7001 * MILLISECOND_NS, "5h6m7.001s"},
        {NEVER_NS, "2562047h47m16.854775807s"},
        {INT64_MIN, "-2562047h47m16.854775808s"},
        {-SECOND_NS, "-1s"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        assert_string_equal(duration_text(&a, rows[i].ns), rows[i].text);
    }
}

static void texts_are_joined(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(texts_joined(&a, "a", "b"), "a; b");
    assert_string_equal(texts_joined(&a, "", "b"), "b");
    assert_string_equal(texts_joined(&a, "a", ""), "a");
    assert_string_equal(texts_joined(&a, "", ""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_have_a_source_and_a_status),
        cmocka_unit_test(durations_are_those_of_go),
        cmocka_unit_test(texts_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

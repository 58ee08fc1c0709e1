/* Versions, their order, and ranges of them. */
#include "common/definition/semver.h"

#include "test/tool/cmocka.h"

#include <string.h>

static void versions_are_told_from_other_tags(void **state)
{
    (void)state;
    static const char *const good[] = {"1.2.3",      "v1.2.3",        "0.0.0",
                                       "1.0.0-rc.1", "1.0.0+build.7", "1.0.0-alpha-2+x"};
    static const char *const bad[] = {
        "",          "v",      "1",      "1.2",     "1.2.3.4", "01.2.3", "1.2.3-",
        "1.2.3-01",  "1.2.3+", "V1.2.3", "release", "1.2.x",   " 1.2.3", "1.2.99999999999999999999",
        "1.2.3-a..b"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(semver_is_valid(good[i]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (semver_is_valid(bad[i])) {
            fail_msg("\"%s\" is taken for a version", bad[i]);
        }
    }
}

static void order_is_that_of_the_numbers(void **state)
{
    (void)state;
    static const char *const sorted[] = {
        "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11",
        "1.0.0-rc.1",  "1.0.0",         "v1.2.9",           "1.2.10",       "2.0.0"};
    enum { COUNT = sizeof(sorted) / sizeof(sorted[0]) };
    const char *list[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        list[i] = sorted[(i * 7) % COUNT];
    }
    semver_sort(list, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_string_equal(list[i], sorted[i]);
    }
}

static void ranges_hold_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *range, *in, *out;
    } rows[] = {
        {"1.2.3", "v1.2.3", "1.2.4"},
        {"=1.2.3", "1.2.3", "1.2.2"},
        {"1.2.x", "1.2.99", "1.3.0"},
        {"1.2", "1.2.0", "1.1.9"},
        {"1", "1.99.0", "2.0.0"},
        {"*", "7.1.0", "7.1.0-rc.1"},
        {"^1.2.3", "1.9.0", "2.0.0"},
        {"^0.2.3", "0.2.9", "0.3.0"},
        {"^0.0.3", "0.0.3", "0.0.4"},
        {"~1.2.3", "1.2.9", "1.3.0"},
        {">1.2", "1.3.0", "1.2.9"},
        {"<=1.2", "1.2.9", "1.3.0"},
        {">=1.0.0 <2.0.0", "1.5.0", "2.0.0"},
        {"1.0.0 || 3.x", "3.1.0", "2.0.0"},
        {"!1.2.3", "1.2.4", "1.2.3"},
        {">=1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-beta"},
        {">= 1.0.0", "1.0.0", "0.9.9"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!semver_in_range(rows[i].in, rows[i].range)) {
            fail_msg("%s is not in %s", rows[i].in, rows[i].range);
        }
        if (semver_in_range(rows[i].out, rows[i].range)) {
            fail_msg("%s is in %s", rows[i].out, rows[i].range);
        }
    }
}

static void what_is_no_range_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {"",  " ",       "||",    "1.0.0 ||", "newest",
                                      ">", "1.2.3.4", "1.x.3", "1.2.3|2",  "=>1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (semver_range_is_valid(bad[i])) {
            fail_msg("\"%s\" is taken for a range", bad[i]);
        }
    }
}

static void the_highest_that_is_in_it_is_found(void **state)
{
    (void)state;
    static const char *const tags[] = {"1.0.0",  "v1.4.0", "1.10.0-rc.1",
                                       "newest", "2.0.0",  "1.9.1"};
    assert_string_equal(semver_highest(tags, 6, "1.x"), "1.9.1");
    assert_string_equal(semver_highest(tags, 6, ">=1.10.0-rc.0 <2.0.0"), "1.10.0-rc.1");
    assert_null(semver_highest(tags, 6, "3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_told_from_other_tags),
        cmocka_unit_test(order_is_that_of_the_numbers),
        cmocka_unit_test(ranges_hold_what_they_say),
        cmocka_unit_test(what_is_no_range_is_told),
        cmocka_unit_test(the_highest_that_is_in_it_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which instances a command of bbs means. */
#include "bbs/cli/name.h"
#include "test/tool/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void an_index_may_be_given(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *index, *name; /* NULL: refused */
        int32_t meant;
    } rows[] = {
        {"web", NULL, "web", -1},     {"web/0", NULL, "web", 0},
        {"web/999999", NULL, "web", 999999},
        {"web/007", NULL, "web", 7},  {"a/b/1", NULL, "a/b", 1},
        {"web/", NULL, NULL, 0},      {"web/x", NULL, NULL, 0},
        {"web/-1", NULL, NULL, 0},    {"web/1x", NULL, NULL, 0},
        {"web/1000000", NULL, NULL, 0},
        {"/1", NULL, NULL, 0},        {"/", NULL, NULL, 0},
        {"web", "0", "web", 0},       {"web", "999999", "web", 999999},
        {"web", "1000000", NULL, 0},  {"web", "x", NULL, 0},
        {"web", "-1", NULL, 0},       {"web", "", NULL, 0},
        {"web/1", "1", NULL, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = NULL;
        int32_t index = 42;
        int r = target_read(&f->arena, rows[i].text, rows[i].index, &name, &index, &f->err);
        assert_int_equal(r, rows[i].name ? 0 : -ERR_INVALID);
        if (rows[i].name) {
            assert_string_equal(name, rows[i].name);
            assert_int_equal(index, rows[i].meant);
        }
    }
    assert_string_equal(target_text(&f->arena, "web", 3), "web/3");
    assert_string_equal(target_text(&f->arena, "web", -1), "web");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_index_may_be_given),
    };
    return cmocka_run_group_tests_name("what is meant", tests, NULL, NULL);
}

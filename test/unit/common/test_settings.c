/* The rows of settings.def: what holds of each, and what they make of a value at their bounds. */
#include "common/contract/moment.h"
#include "common/model/settings.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void every_row(void **state)
{
    for (size_t i = 0; i < setting_row_count; i++) {
        const struct setting_row *row = &setting_rows[i];
        assert_true(i == 0 || strcmp(setting_rows[i - 1].name, row->name) < 0);
        assert_true(row->least <= row->preset && row->preset <= row->most);
        assert_int_equal(settings_value(&SETTINGS_DEFAULT, row), row->preset);
        assert_ptr_equal(setting_row_named(row->name), row);
        assert_true(setting_allows(row, row->least) && setting_allows(row, row->most));
        assert_false(setting_allows(row, row->least - 1) || setting_allows(row, row->most + 1));
        for (size_t j = 0; j < i; j++) {
            assert_true(setting_rows[j].field != row->field);
        }
    }
    assert_null(setting_row_named("crash"));
}

static void a_value_is_put_in_its_unit(void **state)
{
    struct settings s = SETTINGS_DEFAULT;
    settings_put(&s, setting_row_named("crash_first_wait"), 7);
    settings_put(&s, setting_row_named("crash_at_once"), 1);
    assert_true(s.crash.backoff_base_ns == 7 * SECOND_NS && s.crash.immediate_below == 1);
    s.crash.backoff_base_ns = SETTINGS_DEFAULT.crash.backoff_base_ns;
    s.crash.immediate_below = SETTINGS_DEFAULT.crash.immediate_below;
    assert_memory_equal(&s, &SETTINGS_DEFAULT, sizeof(s));
}

/* What settings.def says of the ranges. */
static void what_the_ranges_keep(void **state)
{
    assert_true(setting_row_named("crash_at_once")->most < setting_row_named("crash_limit")->least);
    assert_true(setting_row_named("lost_spread")->most < setting_row_named("lost_after")->least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row),
        cmocka_unit_test(a_value_is_put_in_its_unit),
        cmocka_unit_test(what_the_ranges_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

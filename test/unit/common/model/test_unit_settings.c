/* Lists of settings (common/model/unit_settings.h). */
#include "common/model/unit_settings.h"

#include "test/tool/cmocka.h"

static const char *printed(struct arena *a, Board__UnitSetting *const *list, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        text = arena_printf(a, "%s%s%s=%s", text, i ? " " : "", list[i]->key, list[i]->value);
    }
    return text;
}

static void a_list_stays_in_order(void **state)
{
    static const struct {
        const char *key, *value, *then;
    } steps[] = {{"m", "1", "m=1"},
                 {"z", "2", "m=1 z=2"},
                 {"a", "3", "a=3 m=1 z=2"},
                 {"m", "4", "a=3 m=4 z=2"},
                 {"b", "", "a=3 m=4 z=2"},
                 {"m", "", "a=3 z=2"},
                 {"z", NULL, "a=3"},
                 {"a", "", ""},
                 {"a", "", ""}};
    SCOPED_ARENA(a);
    Board__UnitSetting **list = NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        count = unit_setting_put(&a, list, count, steps[i].key, steps[i].value, &list);
        assert_string_equal(printed(&a, list, count), steps[i].then);
    }
    (void)state;
}

static void a_value_is_found(void **state)
{
    SCOPED_ARENA(a);
    Board__UnitSetting **list = NULL;
    size_t count = unit_setting_put(&a, list, 0, "b", "1", &list);
    count = unit_setting_put(&a, list, count, "d", "2", &list);
    assert_string_equal(unit_setting(list, count, "b"), "1");
    assert_string_equal(unit_setting(list, count, "d"), "2");
    assert_null(unit_setting(list, count, "a"));
    assert_null(unit_setting(list, count, "c"));
    assert_null(unit_setting(list, count, "e"));
    assert_int_equal(unit_settings_bytes(list, count), 4);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_stays_in_order),
        cmocka_unit_test(a_value_is_found),
    };
    return cmocka_run_group_tests_name("settings of units", tests, NULL, NULL);
}

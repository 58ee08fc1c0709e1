/* How a hook has ended, for people. */
#include "rep/unit/hook_text.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void the_reason_begins_with_the_exit(void **state)
{
    static const struct {
        const char *output, *text, *reason;
    } rows[] = {
        {"", "Exited with status 1", "Exited with status 1"},
        {" \n\n", "Exited with status 1", "Exited with status 1"},
        {"no table\n", "no table\nExited with status 1: no table",
         "Exited with status 1: no table"},
        {"a\nb\n\n", "a\nb\nExited with status 1: b", "Exited with status 1: b"},
        {"a\n\tb", "a\n\tb\nExited with status 1: \tb", "Exited with status 1: \tb"},
    };
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *text = hook_end_text(&a, "Exited with status 1", rows[i].output);
        assert_string_equal(text, rows[i].text);
        assert_string_equal(hook_end_reason(text), rows[i].reason);
    }
    (void)state;
}

static void a_long_line_is_cut(void **state)
{
    SCOPED_ARENA(a);
    char line[HOOK_LAST_LINE_MAX + 2] = {0};
    for (size_t size = HOOK_LAST_LINE_MAX - 1; size <= HOOK_LAST_LINE_MAX + 1; size++) {
        memset(line, 'x', size);
        const char *reason = hook_end_reason(hook_end_text(&a, "lost", line));
        size_t shown = size < HOOK_LAST_LINE_MAX ? size : HOOK_LAST_LINE_MAX;
        assert_int_equal(strlen(reason), strlen("lost: ") + shown);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reason_begins_with_the_exit),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

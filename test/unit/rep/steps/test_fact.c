/* Facts as lines: what is written is read back, and nothing else is read. */
#include "rep/steps/fact.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 10 };

static const struct step_fact facts[] = {
    {FACT_BEGUN, 3, 0, .text = ""},
    {FACT_CUT, 0, 17, CUT_STOPPED, .text = ""},
    {FACT_CUT, 1, 18, CUT_TIMEOUT, .text = ""},
    {FACT_CUT, 2, 19, CUT_BESIDE, .text = ""},
    {FACT_CUT, 3, 20, CUT_STUCK, .text = ""},
    {FACT_ENDED, 3, 999999999999999999, .exit_code = 255, .text = ""},
    {FACT_ENDED, 4, 5, .exit_signal = 9, .oom_killed = true, .text = ""},
    {FACT_ENDED, 6, 5, .exit_code = 1, .disk_full = true, .text = ""},
    {FACT_ENDED, 5, 6, .exit_code = -1, .text = "no program /bin/x"},
    {FACT_LOST, 9, 7, .text = ""},
};

enum { COUNT = sizeof(facts) / sizeof(facts[0]) };

static void what_is_written_is_read_back(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    struct step_fact *back;
    size_t count;
    for (size_t i = 0; i < COUNT; i++) {
        fact_print(&facts[i], &text);
    }
    assert_int_equal(facts_parse(&a, buf_bytes(&text), STEPS, &back, &count, NULL), 0);
    assert_int_equal(count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(back[i].kind, facts[i].kind);
        assert_int_equal(back[i].step, facts[i].step);
        assert_int_equal(back[i].at_ns, facts[i].at_ns);
        assert_int_equal(back[i].why, facts[i].why);
        assert_int_equal(back[i].exit_code, facts[i].exit_code);
        assert_int_equal(back[i].exit_signal, facts[i].exit_signal);
        assert_int_equal(back[i].oom_killed, facts[i].oom_killed);
        assert_int_equal(back[i].disk_full, facts[i].disk_full);
        assert_string_equal(back[i].text, facts[i].text);
    }
}

/* A text has one line, and its bound. */
static void a_text_is_cut(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    char long_text[2 * FACT_TEXT_MAX] = "two\nlines";
    struct step_fact f = {FACT_ENDED, 1, 2, .exit_code = -1, .text = long_text};
    struct step_fact *back;
    size_t count;
    fact_print(&f, &text);
    assert_int_equal(facts_parse(&a, buf_bytes(&text), STEPS, &back, &count, NULL), 0);
    assert_string_equal(back[0].text, "two");
    buf_clear(&text);
    memset(long_text, 'x', sizeof(long_text) - 1);
    fact_print(&f, &text);
    assert_true(text.size <= FACT_LINE_MAX);
    assert_int_equal(facts_parse(&a, buf_bytes(&text), STEPS, &back, &count, NULL), 0);
    assert_int_equal(strlen(back[0].text), FACT_TEXT_MAX);
}

static int read_back(const char *file, size_t size, size_t *ret_count)
{
    SCOPED_ARENA(a);
    struct step_fact *back = NULL;
    struct err err;
    struct bytes bytes = {(const uint8_t *)file, size};
    int code = facts_parse(&a, bytes, STEPS, &back, ret_count, &err);
    assert_true(code == 0 || back == NULL);
    return code;
}

static void nothing_else_is_read(void **state)
{
    static const char *const lines[] = {
        "",
        " ",
        "begun",
        "begun 1",
        "begun 1 at",
        "begun 1 at 2 ",
        "begun  1 at 2",
        "begun -1 at 2",
        "begun +1 at 2",
        "begun 01 at 2",
        "begun 1 at -2",
        "begun 10 at 2",
        "begun 99999999999 at 2",
        "begun 1 at 9999999999999999999999",
        "Begun 1 at 2",
        "lost 1 at x",
        "cut 1 at 2",
        "cut 1 bored at 2",
        "cut 1 stoppedddddddddddddddddddd at 2",
        "ended 1 code 256 signal 0 oom 0 at 2",
        "ended 1 code -2 signal 0 oom 0 at 2",
        "ended 1 code 0 signal 128 oom 0 at 2",
        "ended 1 code 0 signal -1 oom 0 at 2",
        "ended 1 code 0 signal 0 oom 2 at 2",
        "ended 1 code 1 signal 0 oom 0 disk 0 at 2",
        "ended 1 code 1 signal 0 oom 0 disk 12 at 2",
        "ended 1 code 1 signal 0 oom 0 disk 1",
        "ended 1 code 0 signal 0 oom 0 at 2 ",
        "ended 1 code 0 signal 0 oom 0 at 2text",
    };
    size_t count;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char file[80];
        int n = snprintf(file, sizeof(file), "%s\n", lines[i]);
        if (read_back(file, (size_t)n, &count) != -ERR_INVALID) {
            fail_msg("taken for a fact: %s", lines[i]);
        }
    }
    assert_int_equal(read_back("begun 1 at 2\0\n", 14, &count), -ERR_INVALID);
}

/* The machine's end may come in the middle of a line. */
static void half_a_line_counts_for_nothing(void **state)
{
    size_t count = 9;
    assert_int_equal(read_back("", 0, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(read_back("begun 1 at 2\nbegun 2 at", 23, &count), 0);
    assert_int_equal(count, 1);
}

static void there_are_so_many_and_no_more(void **state)
{
    SCOPED_BUF(text);
    size_t count;
    for (int i = 0; i < STEPS * FACTS_OF_A_STEP_MAX; i++) {
        buf_append_string(&text, "begun 1 at 2\n");
    }
    assert_int_equal(read_back((const char *)text.data, text.size, &count), 0);
    assert_int_equal(count, STEPS * FACTS_OF_A_STEP_MAX);
    buf_append_string(&text, "begun 1 at 2\n");
    assert_int_equal(read_back((const char *)text.data, text.size, &count), -ERR_TOO_LARGE);
}

/* Whether a container's file may have a fact of this number; and one of steps alone. */
static bool is_read(uint32_t number, bool of_steps)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(text);
    struct step_fact *back;
    size_t count = 0;
    fact_print(&(struct step_fact){FACT_LOST, number, 7, .text = ""}, &text);
    int code = of_steps ? facts_parse(&a, buf_bytes(&text), STEPS_MAX, &back, &count, NULL)
                        : facts_parse_all(&a, buf_bytes(&text), &back, &count, NULL);
    return code == 0 && count == 1 && back[0].step == number;
}

static void runs_have_numbers_of_their_own(void **state)
{
    assert_true(is_read(STEPS_MAX - 1, false));
    assert_false(is_read(STEPS_MAX, false));
    assert_false(is_read(RUN_FIRST - 1, false));
    assert_true(is_read(RUN_FIRST, false));
    assert_true(is_read(RUN_LAST, false));
    assert_false(is_read(RUN_FIRST, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_text_is_cut),
        cmocka_unit_test(nothing_else_is_read),
        cmocka_unit_test(half_a_line_counts_for_nothing),
        cmocka_unit_test(there_are_so_many_and_no_more),
        cmocka_unit_test(runs_have_numbers_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

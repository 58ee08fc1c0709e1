/* Progress of an operation: its bounds, and where it ends (bbs/edge/progress.h). */
#include "bbs/edge/progress.h"
#include "test/tool/cmocka.h"

#include <string.h>

static Board__ProgressRecord *with_lines(struct arena *a, unsigned count)
{
    Board__ProgressRecord *p = progress_of(a, NULL, "clusterinst", "n", "U", 1, "create");
    for (unsigned i = 1; i <= count; i++) {
        progress_line(a, p, i, arena_printf(a, "line %u", i));
    }
    return p;
}

static void numbers_rise_by_one(void **state)
{
    SCOPED_ARENA(a);
    Board__ProgressRecord *p = with_lines(&a, 3);
    assert_int_equal(p->n_lines, 3);
    assert_int_equal(p->lines[2]->number, 3);
    assert_string_equal(p->lines[2]->text, "line 3");
    p = progress_of(&a, p, "clusterinst", "n", "U", 2, "update");
    progress_line(&a, p, 9, "again");
    assert_int_equal(p->n_lines, 4);
    assert_int_equal(p->lines[3]->number, 4);
    assert_string_equal(p->word, "update");
}

static void the_middle_is_left_out(void **state)
{
    SCOPED_ARENA(a);
    Board__ProgressRecord *p = with_lines(&a, PROGRESS_LINES_MAX);
    assert_int_equal(p->n_lines, 256);
    assert_string_equal(p->lines[127]->text, "line 128");
    p = with_lines(&a, PROGRESS_LINES_MAX + 1);
    assert_int_equal(p->n_lines, 256);
    assert_string_equal(p->lines[126]->text, "line 127");
    assert_string_equal(p->lines[127]->text, "(lines 128 to 129 are left out)");
    assert_int_equal(p->lines[127]->number, 129);
    assert_string_equal(p->lines[128]->text, "line 130");
    assert_string_equal(p->lines[255]->text, "line 257");
    p = with_lines(&a, 1000);
    assert_int_equal(p->n_lines, 256);
    assert_string_equal(p->lines[127]->text, "(lines 128 to 872 are left out)");
    assert_string_equal(p->lines[128]->text, "line 873");
    assert_string_equal(p->lines[255]->text, "line 1000");
    for (size_t i = 1; i < p->n_lines; i++) {
        assert_true(p->lines[i]->number > p->lines[i - 1]->number);
    }
}

static void a_line_is_cut_between_characters(void **state)
{
    SCOPED_ARENA(a);
    char text[PROGRESS_LINE_BYTES_MAX + 2];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0; /* 513 bytes */
    Board__ProgressRecord *p = with_lines(&a, 0);
    progress_line(&a, p, 1, text);
    assert_int_equal(strlen(p->lines[0]->text), PROGRESS_LINE_BYTES_MAX);
    memcpy(text + 511, "\xc3\xa9", 3);
    progress_line(&a, p, 1, text);
    assert_int_equal(strlen(p->lines[1]->text), 511);
}

static void nothing_stands_behind_the_end(void **state)
{
    SCOPED_ARENA(a);
    Board__ProgressRecord *p = with_lines(&a, 1);
    progress_end(&a, p, 7, "failed", "why");
    progress_end(&a, p, 8, "ready", "");
    progress_line(&a, p, 9, "late");
    assert_int_equal(p->n_lines, 1);
    assert_string_equal(p->end, "failed");
    assert_int_equal(p->ended_at, 7);
    p = progress_of(&a, p, "clusterinst", "n", "U", 1, "create");
    assert_string_equal(p->end, "failed");
    p = progress_of(&a, p, "clusterinst", "n", "U", 2, "delete");
    assert_string_equal(p->end, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_rise_by_one),
        cmocka_unit_test(the_middle_is_left_out),
        cmocka_unit_test(a_line_is_cut_between_characters),
        cmocka_unit_test(nothing_stands_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

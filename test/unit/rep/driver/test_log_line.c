/* The lines of a container's log, read and given as text. */
#include "rep/driver/log_line.h"
#include "rep/driver/output_parts.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T1 "2026-01-02T03:04:05.000000006Z"
#define T2 "2026-01-02T03:04:05.100000000Z"
#define T3 "2026-01-02T03:04:06.000000000Z"

static void what_is_a_line(void **state)
{
    static const struct {
        const char *text, *source, *rest; /* source NULL: it is none */
        bool to_stderr, whole;
    } rows[] = {
        {T1 " stdout F APP/WEB two words", "APP/WEB", "two words", false, true},
        {T1 " stderr P LOG x", "LOG", "x", true, false},
        {T1 " stdout F LOG ", "LOG", "", false, true},
        {T1 " stdout F LOG", NULL, "", false, false},
        {T1 " stdout F  x", NULL, "", false, false},
        {T1 " stdout X LOG x", NULL, "", false, false},
        {T1 " stdin  F LOG x", NULL, "", false, false},
        {"2026-01-02T03:04:05.00000000xZ stdout F LOG x", NULL, "", false, false},
        {"2026-01-02 03:04:05.000000006Z stdout F LOG x", NULL, "", false, false},
        {T1 " stdout F 0123456789012345678901234567890123456789012345678901234567890123 x",
         "0123456789012345678901234567890123456789012345678901234567890123", "x", false, true},
        {T1 " stdout F 01234567890123456789012345678901234567890123456789012345678901234 x", NULL,
         "", false, false},
        {"", NULL, "", false, false},
        {T1, NULL, "", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct log_line_parts l;
        assert_int_equal(log_line_parse(bytes_of(rows[i].text), &l), rows[i].source != NULL);
        if (rows[i].source) {
            assert_ptr_equal(l.time, rows[i].text);
            assert_true(bytes_equal(l.source, bytes_of(rows[i].source)));
            assert_true(bytes_equal(l.text, bytes_of(rows[i].rest)));
            assert_int_equal(l.to_stderr, rows[i].to_stderr);
            assert_int_equal(l.whole, rows[i].whole);
        }
    }
}

static void a_time_has_its_form(void **state)
{
    char text[LOG_TIME_SIZE + 1], source[LOG_SOURCE_SIZE + 1];
    log_time_print(INT64_C(1767323045000000006), text);
    assert_string_equal(text, T1);
    log_time_print(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000000000Z");
    log_source_print("a b\n\x7f", source);
    assert_string_equal(source, "a_b__");
    log_source_print("", source);
    assert_string_equal(source, "LOG");
}

/* Lines through a text with this choice; static. */
static const char *text_of(struct output_text *t, const char *const *lines)
{
    static struct buf out;
    buf_done(&out);
    buf_init(&out);
    for (; *lines; lines++) {
        SCOPED_BUF(line);
        buf_printf(&line, "%s\n", *lines);
        output_text_take(t, buf_bytes(&line), &out);
    }
    output_text_end(t, &out);
    output_text_done(t);
    return buf_string(&out);
}

static void parts_are_one_line(void **state)
{
    static const char *const lines[] = {
        T1 " stdout P A one ",  T1 " stderr F A other", T2 " stdout P B two",
        T2 " stdout P A more ", T3 " stdout F A end",   T3 " stdout F A next",
        "what is this",         NULL};
    struct output_text plain = {0}, told = {.choice = {.times = true, .sources = true}};
    struct output_text of = {.choice = {.source = "A", .stream = OUTPUT_STDOUT}};
    assert_string_equal(text_of(&plain, lines),
                        "other\none more end\nnext\nwhat is this\ntwo\n");
    assert_string_equal(text_of(&told, lines),
                        T1 " A other\n" T1 " A one more end\n" T3 " A next\n"
                           "- - what is this\n" T2 " B two\n");
    assert_string_equal(text_of(&of, lines), "one more end\nnext\nwhat is this\n");
}

static void what_is_not_wanted_is_left_out(void **state)
{
    static const char *const lines[] = {
        T1 " stdout F A 1", T1 " stdout P A 2", T2 " stdout F A .", T2 " stderr F A 3",
        T3 " stdout F A 4", NULL};
    struct output_text skips = {.skip = {2, 0}}, since = {.choice = {.since = T2}};
    assert_string_equal(text_of(&skips, lines), "3\n4\n");
    assert_string_equal(text_of(&since, lines), ".\n3\n4\n");
}

/* Many at once, and one that is long, are given all the same, and nothing of them is lost. */
static void unfinished_lines_are_bounded(void **state)
{
    enum { MANY = 2 * OUTPUT_UNFINISHED, LONG = 100 };
    struct output_text t = {0};
    SCOPED_BUF(out);
    char line[100];
    for (int i = 0; i < MANY; i++) {
        snprintf(line, sizeof(line), T1 " stdout P S%d x\n", i);
        output_text_take(&t, bytes_of(line), &out);
    }
    output_text_end(&t, &out);
    assert_int_equal(out.size, 2 * MANY);
    buf_clear(&out);
    char *piece = malloc(1024);
    memset(piece, 'y', 1023);
    piece[1023] = 0;
    for (int i = 0; i < LONG; i++) {
        SCOPED_BUF(part);
        buf_printf(&part, T1 " stdout P A %s\n", piece);
        output_text_take(&t, buf_bytes(&part), &out);
        assert_true((size_t)(i + 1) * 1023 - out.size < OUTPUT_LINE_BYTES);
    }
    output_text_end(&t, &out);
    assert_int_equal(out.size, LONG * 1023 + 1);
    output_text_done(&t);
    free(piece);
}

static void of_an_earlier_version_only_text_is_known(void **state)
{
    struct output_text t = {.choice = {.times = true, .stream = OUTPUT_STDERR}};
    SCOPED_BUF(out);
    output_text_plain(&t, false, bytes_of("no\n"), &out);
    output_text_plain(&t, true, bytes_of("a\nb"), &out);
    output_text_plain(&t, true, bytes_of("c\n"), &out);
    assert_string_equal(buf_string(&out), "- a\n- bc\n");
    t.choice.source[0] = 'A';
    output_text_plain(&t, true, bytes_of("d\n"), &out);
    assert_string_equal(buf_string(&out), "- a\n- bc\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_line),
        cmocka_unit_test(a_time_has_its_form),
        cmocka_unit_test(parts_are_one_line),
        cmocka_unit_test(what_is_not_wanted_is_left_out),
        cmocka_unit_test(unfinished_lines_are_bounded),
        cmocka_unit_test(of_an_earlier_version_only_text_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What others wrote cannot play with a terminal, and is otherwise as it was. */
#include "common/cli/printable.h"
#include "test/tool/cmocka.h"

/* However it is cut into pieces. */
static void becomes(struct bytes text, const char *expected)
{
    for (size_t piece = 1; piece <= text.size; piece++) {
        struct printable p = {.held_count = 0};
        SCOPED_BUF(out);
        for (size_t at = 0; at < text.size; at += piece) {
            size_t left = text.size - at;
            printable_take(&p, (struct bytes){text.data + at, left < piece ? left : piece}, &out);
        }
        printable_end(&p, &out);
        assert_string_equal(buf_string(&out), expected);
    }
}

static void what_a_terminal_obeys_is_shown(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"plain\ttext\n", "plain\ttext\n"},
        {"\r\na\r\n\n", "\r\na\r\n\n"},
        {"50%\r100%\n", "50%\\u000d100%\n"},
        {"\r\r\n", "\\u000d\r\n"},
        {"end\r", "end\\u000d"},
        {"\033[2J\a\b\x7f\f", "\\u001b[2J\\u0007\\u0008\\u007f\\u000c"},
        {"\xc2\x9b"
         "31m \xc2\x80\xc2\x9f\xc2\xa0",
         "\\u009b31m \\u0080\\u009f\xc2\xa0"},
        {"Gr\xc3\xbc\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x90\x84 \xef\xbf\xbd",
         "Gr\xc3\xbc\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x90\x84 \xef\xbf\xbd"},
        {"a\xe2\x80\xae"
         "b\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9",
         "a\\u202eb\\u202a\\u2066\\u2069"},
        {"\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
         "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
        /* No UTF-8: cut off, alone, too long, half of a pair, beyond the last. */
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xe2\x82\033\xe2\x82\r\n", "\\xe2\\x82\\u001b\\xe2\\x82\r\n"},
        {"\x9b\xff\xc3\xc3\xbc", "\\x9b\\xff\\xc3\xc3\xbc"},
        {"\xc0\x9b \xe0\x82\x9b", "\\xc0\\x9b \\xe0\\x82\\x9b"},
        {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        becomes(bytes_of(rows[i].text), rows[i].expected);
    }
    becomes((struct bytes){(const uint8_t *)"a\0b", 3}, "a\\u0000b");
}

static void a_cell_has_a_mark_for_each(void **state)
{
    SCOPED_ARENA(a);
    assert_string_equal(text_printable(&a, "no\033[2J\n\x7f"), "no?[2J??");
    assert_string_equal(text_printable(&a, "\xc2\x9b"
                                           "31m\xc2\xa0\xc3\x9b\xc2"),
                        "?31m\xc2\xa0\xc3\x9b\xc2");
    assert_string_equal(text_printable(&a, "a\xe2\x80\xae"
                                           "b\xe2\x81\xa9\xe2\x80\xa9\xe2\x80"),
                        "a?b?\xe2\x80\xa9\xe2\x80");
    assert_string_equal(text_printable(&a, ""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_obeys_is_shown),
        cmocka_unit_test(a_cell_has_a_mark_for_each),
    };
    return cmocka_run_group_tests_name("printable text", tests, NULL, NULL);
}

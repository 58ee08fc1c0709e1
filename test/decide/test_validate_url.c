/* Which texts are URLs with a scheme: rows as Go's net/url.Parse decides them (each was tried with
 * Go 1.19; the parser is the same in later ones), a part of a URL each. */
#include "bbs/lrp/validate_url.h"
#include "test/tool/cmocka.h"

struct row {
    const char *url;
    bool valid;
};

static void run_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (valid_url(rows[i].url) != rows[i].valid) {
            fail_msg("\"%s\" is %s", rows[i].url, rows[i].valid ? "refused" : "taken");
        }
    }
}

#define RUN(rows) run_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void schemes(void **state)
{
    static const struct row rows[] = {
        {"", false},           {"foo", false},         {"/tmp/x", false},    {":x", false},
        {"*", false},          {"//host/a", false},    {"1a:x", false},      {"+a:x", false},
        {"a_b:x", false},      {"a b:x", false},       {"a/b:x", false},     {"#a:x", false},
        {"a#:x", false},       {"a?b:x", false},       {"\xc3\xa9:x", false}, {"a:", true},
        {"a:x", true},         {"A+b-c.9:x", true},    {"preloaded:cflinuxfs4", true},
    };
    RUN(rows);
}

static void opaque_ones(void **state)
{
    static const struct row rows[] = {
        {"a:%zz", true},       {"a:b c\"<>", true},    {"a:[", true},        {"a::x", true},
        {"a:b:c", true},       {"a:\xff", true},       {"a:x?%zz", true},
        {"preloaded+layer:x?layer=http://y/%zz", true},
    };
    RUN(rows);
}

static void control_characters(void **state)
{
    static const struct row rows[] = {
        {"a:b\n", false},      {"a:b\x7f", false},     {"a:b?\x01", false},  {"a:b#\n", true},
        {"a://h/#\x7f", true}, {"a:b\x80", true},      {"a\t:b", false},     {"a:/b\x1f", false},
    };
    RUN(rows);
}

static void paths_and_fragments(void **state)
{
    static const struct row rows[] = {
        {"a:/", true},         {"a:/%41", true},       {"a:/%4", false},     {"a:/%", false},
        {"a:/%4g", false},     {"a:/x?%4", true},      {"a:/x#%4", false},   {"a:/x#%41", true},
        {"a:x#%4", false},     {"a:/x y\"<>{}|", true}, {"a:/[", true},      {"a:/x?", true},
        {"a:/x??", true},      {"a:/x#", true},        {"a:/x#a#b", true},   {"a:/x#a%23", true},
        {"a:////", true},      {"a:///%zz", false},    {"docker:///a/b#tag", true},
        {"a:/%3", false},      {"a:/x?y#%", false},    {"a:/%41%4", false},
    };
    RUN(rows);
}

static void hosts(void **state)
{
    static const struct row rows[] = {
        {"a://", true},        {"a://h", true},        {"a://h:", true},     {"a://h:80", true},
        {"a://:", true},       {"a://:80", true},      {"a://h:8o", false},  {"a://h:-1", false},
        {"a://h:1:2", true},   {"a://h:a:2", true},    {"a://h:2:a", false}, {"a://h?x", true},
        {"a://h:x?y", false},  {"a://h#x", true},      {"a://h h", false},   {"a://h\"<>", true},
        {"a://h^", false},     {"a://h`", false},      {"a://h{", false},    {"a://h|", false},
        {"a://h\\", false},    {"a://h%41", false},    {"a://h%25", true},   {"a://h%c3%a9", true},
        {"a://h%7f", false},   {"a://h%80", true},     {"a://h%2", false},   {"a://\xff", true},
        {"a://h!$&'()*+,;=", true},                    {"a://h_~.-", true},
        {"docker://host:5000/a/b", true},              {"docker://host:port/a", false},
    };
    RUN(rows);
}

static void literals(void **state)
{
    static const struct row rows[] = {
        {"a://[::1]", true},   {"a://[::1]:80", true}, {"a://[::1]:x", false}, {"a://[::1]x", false},
        {"a://[::1", false},   {"a://[", false},       {"a://[]", true},     {"a://[x]", true},
        {"a://::1]", false},    {"a://h]", true},       {"a://h[", true},     {"a://[::1]]", true},
        {"a://[::1]:", true},  {"a://[a]b]:1", true},  {"a://[::1%25en0]", true},
        {"a://[::1%25en%20]", true},                   {"a://[::1%25en%41]", true},
        {"a://[::1%25en%2f]", false},                  {"a://[::1%25en%80]", false},
        {"a://[::1%25 ]", false},                      {"a://[::1%41]", false},
        {"a://[::1%41%25e]", false},                   {"a://[::1%25e%25]", true},
        {"a://[::1]:80%25", false},                    {"a://[::1%80]", true},
    };
    RUN(rows);
}

static void users(void **state)
{
    static const struct row rows[] = {
        {"a://u@h", true},     {"a://u:p@h", true},    {"a://@h", true},     {"a://u@", true},
        {"a://u:p:q@h", true}, {"a://u@v@h", true},    {"a://u v@h", false}, {"a://u/v@h", true},
        {"a://u%41@h", true},  {"a://u%4@h", false},   {"a://u%4:1@h", false}, {"a://u:%zz@h", false},
        {"a://\xc3\xa9@h", false},                     {"a://u[@h", false},  {"a://u\"@h", false},
        {"a://u@h:x", false},  {"a://u:p@h:80", true}, {"a://u?@h", true},   {"a://-._~!$&'()*+,;=@h", true},
    };
    RUN(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes),
        cmocka_unit_test(opaque_ones),
        cmocka_unit_test(control_characters),
        cmocka_unit_test(paths_and_fragments),
        cmocka_unit_test(hosts),
        cmocka_unit_test(literals),
        cmocka_unit_test(users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

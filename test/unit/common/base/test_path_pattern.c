/* Which row of a table of routes a path finds, and which tables cannot be. */
#include "common/base/path_pattern.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* As a role's rows are: more stands behind what the table reads. */
struct row {
    struct path_row at;
    char name;
};

static const struct row rows[] = {
    {{"GET", "/v1/tasks", 1}, 'a'},
    {{"PUT", "/v1/tasks", 9}, 'b'},
    {{"GET", "/v1/tasks/{guid}", 2}, 'c'},
    {{"POST", "/v1/tasks/{guid}/cancel", 3}, 'd'},
    {{"PUT", "/v2/{app}/at/{index}", 4}, 'e'},
};

static const struct path_table table = PATH_TABLE(rows);

static void a_path_finds_its_row(void **state)
{
    static const struct {
        const char *method, *path;
        char name;         /* 0 = no pattern fits */
        const char *allow; /* NULL = the row takes the method */
        const char *first, *second;
        size_t body_max; /* 77 = what is given for others */
    } cases[] = {
        {"GET", "/v1/tasks", 'a', NULL, "", "", 9},
        {"PUT", "/v1/tasks", 'b', NULL, "", "", 9},
        {"POST", "/v1/tasks", 'b', "GET, PUT", "", "", 9},
        {"POST", "/v1/tasks/t-1", 'c', "GET", "t-1", "", 2},
        {"GET", "/v1/tasks/t-1", 'c', NULL, "t-1", "", 2},
        {"POST", "/v1/tasks/t-1/cancel", 'd', NULL, "t-1", "", 3},
        {"PUT", "/v2/web/at/7", 'e', NULL, "web", "7", 4},
        /* a slash at the end, or one too many, is another path; a parameter is not empty */
        {"GET", "/v1/tasks/", 0, NULL, "", "", 77},
        {"GET", "/v1/tasks/t-1/", 0, NULL, "", "", 77},
        {"POST", "/v1/tasks//cancel", 0, NULL, "", "", 77},
        {"GET", "//v1/tasks", 0, NULL, "", "", 77},
        {"POST", "/v1/tasks/a/b/cancel", 0, NULL, "", "", 77},
        {"GET", "/v1/task", 0, NULL, "", "", 77},
        {"GET", "/v1/tasksx", 0, NULL, "", "", 77},
        {"GET", "/V1/tasks", 0, NULL, "", "", 77},
        {"GET", "", 0, NULL, "", "", 77},
        {"GET", "/", 0, NULL, "", "", 77},
        /* escapes are undone in parameters alone; what is none stands for itself */
        {"GET", "/v1/t%61sks", 0, NULL, "", "", 77},
        {"GET", "/v1/tasks/a%2Fb%20%c3%a9", 'c', NULL, "a/b \xc3\xa9", "", 2},
        {"GET", "/v1/tasks/a%2", 'c', NULL, "a%2", "", 2},
        {"GET", "/v1/tasks/%zz+%00", 'c', NULL, "%zz+%00", "", 2},
        {"PUT", "/v2/%7Bapp%7D/at/%25", 'e', NULL, "{app}", "%", 4},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED_ARENA(a);
        struct path_match m = path_find(&table, cases[i].method, cases[i].path, &a);
        assert_int_equal(m.row ? ((const struct row *)m.row)->name : 0, cases[i].name);
        assert_string_equal(m.allow ? m.allow : "-", cases[i].allow ? cases[i].allow : "-");
        assert_string_equal(m.parameters[0], cases[i].first);
        assert_string_equal(m.parameters[1], cases[i].second);
        assert_string_equal(m.parameters[PATH_PARAMETERS_MAX - 1], "");
        assert_int_equal(path_body_max(&table, cases[i].path, 77), cases[i].body_max);
    }
}

static void a_parameter_has_a_bound(void **state)
{
    static const char head[] = "/v1/tasks/";
    char path[sizeof(head) + PATH_PARAMETER_BYTES_MAX + 1];
    for (size_t over = 0; over < 2; over++) {
        SCOPED_ARENA(a);
        size_t size = PATH_PARAMETER_BYTES_MAX + over;
        memcpy(path, head, sizeof(head) - 1);
        memset(path + sizeof(head) - 1, 'x', size);
        path[sizeof(head) - 1 + size] = '\0';
        struct path_match m = path_find(&table, "GET", path, &a);
        assert_int_equal(m.row != NULL, !over);
        assert_int_equal(strlen(m.parameters[0]), over ? 0 : PATH_PARAMETER_BYTES_MAX);
    }
}

static void a_malformed_pattern_is_a_fault(void **state)
{
    static const struct {
        const char *pattern;
        bool well;
    } cases[] = {
        {"/", true},      {"/a/", true},     {"/{a}", true},       {"/{a}/{b}/{c}/{d}", true},
        {"", false},      {"a", false},      {"{a}", false},       {"/{a}/{b}/{c}/{d}/{e}", false},
        {"/{}", false},   {"/{a", false},    {"/a}", false},       {"/a{b}", false},
        {"/{a}b", false}, {"/{a/b}", false}, {"/x/{a}{b}", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct path_row one[] = {{"GET", cases[i].pattern, 0}};
        const struct path_table t = PATH_TABLE(one);
        if ((path_table_fault(&t) == NULL) != cases[i].well) {
            fail_msg("%s", cases[i].pattern);
        }
    }
}

/* Which row a path finds must not hang on the order of the rows. */
static void an_ambiguous_table_is_a_fault(void **state)
{
    static const struct {
        const char *x, *y;
        bool meet;
    } cases[] = {
        {"/a", "/a", true},           {"/a", "/b", false},       {"/a", "/a/", false},
        {"/a/{x}", "/a/b", true},     {"/a/{x}", "/a/{y}", true}, {"/a/{x}", "/b/{y}", false},
        {"/a/{x}", "/a/", false},     {"/a/{x}", "/a", false},   {"/{x}/b", "/a/{y}", true},
        {"/{x}/b", "/a/c", false},    {"/{x}/b", "/a/{y}/c", false},
        {"/a/{x}/c", "/a/b/{y}", true},
    };
    assert_null(path_table_fault(&table));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int turned = 0; turned < 2; turned++) {
            const char *first = turned ? cases[i].y : cases[i].x;
            const char *second = turned ? cases[i].x : cases[i].y;
            const struct path_row same[] = {{"GET", first, 0}, {"GET", second, 0}};
            const struct path_row other[] = {{"GET", first, 0}, {"PUT", second, 0}};
            const struct path_table t = PATH_TABLE(same), u = PATH_TABLE(other);
            assert_ptr_equal(path_table_fault(&t), cases[i].meet ? &same[1] : NULL);
            assert_null(path_table_fault(&u));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_row),
        cmocka_unit_test(a_parameter_has_a_bound),
        cmocka_unit_test(a_malformed_pattern_is_a_fault),
        cmocka_unit_test(an_ambiguous_table_is_a_fault),
    };
    return cmocka_run_group_tests_name("patterns of paths", tests, NULL, NULL);
}

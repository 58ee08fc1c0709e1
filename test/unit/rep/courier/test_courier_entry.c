/* What may stand in an archive: a row each rule, and each bound reached. */
#include "rep/courier/entry.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1000 };

static const struct archive_member good[] = {
    {"dir/", ENTRY_DIRECTORY, NULL, NULL, 0, false},
    {"dir/file", ENTRY_FILE, NULL, NULL, 10, false},
    {"dir/link", ENTRY_LINK, NULL, "/etc", 0, false},
    {"hard", ENTRY_FILE, "./dir//file", NULL, 0, false},
    {"..x/x..", ENTRY_FILE, NULL, NULL, 0, false},
    {"./", ENTRY_DIRECTORY, NULL, NULL, 0, false},
};

/* Judged after the good ones. */
static const struct row {
    struct archive_member member;
    const char *text; /* NULL: it is good, too */
} rows[] = {
    {{"dir/other", ENTRY_FILE, NULL, NULL, BYTES, false}, NULL},
    {{"dir/link", ENTRY_LINK, NULL, "elsewhere", 0, false}, NULL},
    {{"dir/linked", ENTRY_FILE, NULL, NULL, 0, false}, NULL},
    {{"h2", ENTRY_FILE, "hard", NULL, 0, false}, NULL},
    {{NULL, ENTRY_FILE, NULL, NULL, 0, false},
     "entry 7 of the archive has no name that can be read"},
    {{"", ENTRY_FILE, NULL, NULL, 0, false}, "has no name that can be read"},
    {{"x", ENTRY_FILE, NULL, NULL, 0, true}, "\"x\" is encrypted"},
    {{"/x", ENTRY_FILE, NULL, NULL, 0, false}, "the path \"/x\" is absolute"},
    {{"..", ENTRY_DIRECTORY, NULL, NULL, 0, false}, "the path \"..\" leads out by \"..\""},
    {{"a/../b", ENTRY_FILE, NULL, NULL, 0, false}, "leads out by \"..\""},
    {{"a/..", ENTRY_FILE, NULL, NULL, 0, false}, "leads out by \"..\""},
    {{"\xff\n", ENTRY_DEVICE, NULL, NULL, 0, false}, "\"??\" is a device"},
    {{"x", ENTRY_FIFO, NULL, NULL, 0, false}, "\"x\" is a fifo"},
    {{"x", ENTRY_SOCKET, NULL, NULL, 0, false}, "\"x\" is a socket"},
    {{"x", ENTRY_UNKNOWN, NULL, NULL, 0, false}, "\"x\" is of an unknown kind"},
    {{"dir/link/x", ENTRY_FILE, NULL, NULL, 0, false}, "\"dir/link/x\" stands below a link"},
    {{".//dir/./link/x/y", ENTRY_DIRECTORY, NULL, NULL, 0, false}, "stands below a link"},
    {{"x", ENTRY_FILE, "dir/link", NULL, 0, false}, "is a hard link to what is no file"},
    {{"x", ENTRY_FILE, "dir/link/passwd", NULL, 0, false}, "is a hard link to what is no file"},
    {{"x", ENTRY_FILE, "dir", NULL, 0, false}, "is a hard link to what is no file"},
    {{"x", ENTRY_FILE, "later", NULL, 0, false}, "is a hard link to what is no file"},
    {{"x", ENTRY_FILE, "", NULL, 0, false}, "is a hard link to what is no file"},
    {{"x", ENTRY_FILE, "/etc/passwd", NULL, 0, false},
     "the hard link to \"/etc/passwd\" is absolute"},
    {{"x", ENTRY_FILE, "../x", NULL, 0, false}, "the hard link to \"../x\" leads out by \"..\""},
    {{"x", ENTRY_LINK, NULL, NULL, 0, false}, "the link \"x\" leads nowhere that can be read"},
    {{"x", ENTRY_LINK, NULL, "", 0, false}, "the link \"x\" leads nowhere that can be read"},
    {{"x", ENTRY_FILE, NULL, NULL, BYTES + 1, false},
     "the archive unpacks to more than 1000 bytes"},
};

static void entries_by_rows(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct judging j;
        judging_init(&j, BYTES);
        for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
            assert_int_equal(judging_entry(&j, &good[k], &f->err), 0);
        }
        f->err = (struct err){0};
        int rc = judging_entry(&j, &rows[i].member, &f->err);
        if (rows[i].text ? rc >= 0 || !strstr(f->err.text, rows[i].text) : rc != 0) {
            fail_msg("row %zu: %d, %s", i, rc, f->err.text);
        }
        judging_done(&j);
    }
}

static void paths_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct judging j;
    char path[ARCHIVE_PATH_BYTES + 2];
    judging_init(&j, BYTES);
    for (size_t i = 0; i < sizeof(path); i++) {
        path[i] = i % 2 ? '/' : 'd';
    }
    path[ARCHIVE_PATH_BYTES] = '\0';
    struct archive_member m = {path, ENTRY_DIRECTORY, NULL, NULL, 0, false};
    assert_int_equal(judging_entry(&j, &m, &f->err), 0);
    path[ARCHIVE_PATH_BYTES] = 'd';
    path[ARCHIVE_PATH_BYTES + 1] = '\0';
    assert_int_equal(judging_entry(&j, &m, &f->err), -ERR_TOO_LARGE);
    memset(path, 'n', ARCHIVE_NAME_BYTES);
    path[ARCHIVE_NAME_BYTES] = '\0';
    assert_int_equal(judging_entry(&j, &m, &f->err), 0);
    path[ARCHIVE_NAME_BYTES] = 'n';
    path[ARCHIVE_NAME_BYTES + 1] = '\0';
    assert_int_equal(judging_entry(&j, &m, &f->err), -ERR_TOO_LARGE);
    m.path = "x";
    m.kind = ENTRY_LINK;
    m.target = memset(path, 't', ARCHIVE_PATH_BYTES);
    path[ARCHIVE_PATH_BYTES] = '\0';
    assert_int_equal(judging_entry(&j, &m, &f->err), -ERR_INVALID);
    path[ARCHIVE_PATH_BYTES - 1] = '\0';
    assert_int_equal(judging_entry(&j, &m, &f->err), 0);
    judging_done(&j);
}

static void counts_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct judging j;
    char path[32];
    judging_init(&j, BYTES);
    struct archive_member m = {path, ENTRY_FILE, NULL, NULL, 0, false};
    for (int i = 0; i < ARCHIVE_ENTRIES_MAX; i++) {
        snprintf(path, sizeof(path), "%d", i);
        assert_int_equal(judging_entry(&j, &m, &f->err), 0);
    }
    assert_int_equal(judging_entry(&j, &m, &f->err), -ERR_TOO_LARGE);
    assert_string_equal(f->err.text, "the archive has more than 1000000 entries");
    assert_int_equal(j.files.count, ARCHIVE_ENTRIES_MAX);
    judging_done(&j);
}

static void names_of_directories_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct judging j;
    char path[ARCHIVE_PATH_BYTES + 1];
    int count = 0;
    judging_init(&j, BYTES);
    for (size_t i = 0; i < ARCHIVE_PATH_BYTES; i++) {
        path[i] = i % 2 ? '/' : 'd';
    }
    path[ARCHIVE_PATH_BYTES] = '\0';
    struct archive_member m = {path, ENTRY_DIRECTORY, NULL, NULL, 0, false};
    while (judging_entry(&j, &m, &f->err) == 0) {
        count++;
    }
    assert_int_equal(count, ARCHIVE_DIRECTORY_BYTES / (ARCHIVE_PATH_BYTES + 1));
    assert_non_null(strstr(f->err.text, "the names of the archive's directories"));
    judging_done(&j);
}

static void content_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct judging j;
    judging_init(&j, BYTES);
    assert_int_equal(judging_bytes(&j, BYTES - 1, &f->err), 0);
    assert_int_equal(judging_bytes(&j, 1, &f->err), 0);
    assert_int_equal(judging_bytes(&j, 0, &f->err), 0);
    assert_int_equal(judging_bytes(&j, 1, &f->err), -ERR_TOO_LARGE);
    struct archive_member m = {"x", ENTRY_FILE, NULL, NULL, 1, false};
    assert_int_equal(judging_entry(&j, &m, &f->err), -ERR_TOO_LARGE);
    m.size = 0;
    assert_int_equal(judging_entry(&j, &m, &f->err), 0);
    judging_done(&j);
}

static void modes_and_texts(void **state)
{
    assert_int_equal(entry_mode(0107777, false), 01777);
    assert_int_equal(entry_mode(0106755, true), 06755);
    assert_true(path_is_destination(".") && path_is_destination("./") &&
                path_is_destination(".//./"));
    assert_false(path_is_destination("./x") || path_is_destination("..") ||
                 path_is_destination("..."));
    char path[200];
    memset(path, 'x', sizeof(path));
    path[81] = '\0';
    assert_int_equal(strlen(path_shown(path).text), 83);
    path[80] = '\0';
    assert_string_equal(path_shown(path).text, path);
    assert_string_equal(path_shown("a\x80\n\"b").text, "a??\"b");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(entries_by_rows),    CASE(paths_are_bounded),
        CASE(counts_are_bounded), CASE(names_of_directories_are_bounded),
        CASE(content_is_bounded), CASE(modes_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

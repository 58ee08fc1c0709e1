/* What `rep audit` reads, and how it shows what it found. */
#include "rep/cli/audit_table.h"
#include "test/tool/cmocka.h"

#include <string.h>

static void finds_are_shown_in_order(void **state)
{
    SCOPED_ARENA(arena);
    SCOPED_BUF(out);
    struct audit a = {.arena = &arena};
    audit_show(&a, &out);
    assert_string_equal(buf_string(&out), "nothing is left\n");
    buf_clear(&out);
    audit_show_json(&a, &out);
    assert_string_equal(buf_string(&out), "{\"left\":[]}\n");
    buf_clear(&out);
    audit_add(&a, "process", "77", "web-1");
    audit_add(&a, "element", "10.254.0.9", NULL);
    audit_show(&a, &out);
    assert_string_equal(buf_string(&out), "KIND     WHAT        WHOSE\n"
                                          "element  10.254.0.9  -\n"
                                          "process  77          web-1\n");
    buf_clear(&out);
    audit_show_json(&a, &out);
    assert_string_equal(
        buf_string(&out),
        "{\"left\":[{\"kind\":\"element\",\"what\":\"10.254.0.9\",\"whose\":\"\"},"
        "{\"kind\":\"process\",\"what\":\"77\",\"whose\":\"web-1\"}]}\n");
}

static void only_what_is_seen_twice_is_kept(void **state)
{
    SCOPED_ARENA(arena);
    struct audit a = {.arena = &arena}, again = {.arena = &arena};
    for (int i = 0; i < 40; i++) { /* more than there is room for at first */
        audit_add(&a, i % 2 ? "process" : "mount", arena_printf(&arena, "%d", i), "web-1");
    }
    audit_add(&again, "mount", "39", "web-1"); /* of another kind */
    audit_add(&again, "process", "7", "web-1");
    audit_add(&again, "process", "99", "web-1"); /* new: it is seen once */
    audit_keep(&a, &again);
    assert_int_equal(a.count, 1);
    assert_string_equal(a.finds[0].what, "7");
}

static void paths_name_their_container(void **state)
{
    static const struct {
        const char *path, *name;
    } rows[] = {
        {"/c/web-1", "web-1"},
        {"/c/web-1/rootfs/x", "web-1"},
        {"/c/web-1 (deleted)", "web-1"},
        {"/c/web-1//deleted", "web-1"},
        {"/c", NULL},
        {"/c/", NULL},
        {"/cc/web-1", NULL},
        {"/x/c/web-1", NULL},
    };
    SCOPED_ARENA(arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = audit_below(&arena, rows[i].path, "/c");
        assert_true(!name == !rows[i].name);
        assert_string_equal(name ? name : "", rows[i].name ? rows[i].name : "");
    }
}

static void mounts_are_read(void **state)
{
    SCOPED_ARENA(arena);
    assert_string_equal(
        audit_mount_point(&arena, "36 35 98:0 /r /a\\040b/\\134c\\09 rw - ext3 /dev/x rw\n"),
        "/a b/\\c\\09");
    assert_string_equal(audit_mount_point(&arena, "36 35 98:0 / /"), "/");
    assert_null(audit_mount_point(&arena, "36 35 98:0"));
    assert_null(audit_mount_point(&arena, ""));
}

static void groups_are_of_one_cell(void **state)
{
    assert_string_equal(audit_group("corkboard-00c0ffee-web-1", 0xc0ffee), "web-1");
    assert_null(audit_group("corkboard-00c0ffee-web-1", 0xc0ffef));
    assert_null(audit_group("corkboard-00c0ffee-", 0xc0ffee));
    assert_null(audit_group("corkboard-c0ffee-web-1", 0xc0ffee));
    assert_null(audit_group("corkboard-00c0ffee", 0xc0ffee));
    assert_null(audit_group("system.slice", 0));
}

static void the_network_tells(void **state)
{
    SCOPED_ARENA(arena);
    SCOPED_BUF(out);
    struct audit a = {.arena = &arena};
    audit_network_line(&a, "chain i-web-1");
    audit_network_line(&a, "element 10.254.0.9");
    audit_network_line(&a, "interface ck0a");
    audit_network_line(&a, "address of web-2");
    audit_network_line(&a, "tunnel x");
    audit_network_line(&a, "");
    audit_show(&a, &out);
    assert_string_equal(buf_string(&out), "KIND       WHAT        WHOSE\n"
                                          "address    web-2       web-2\n"
                                          "chain      i-web-1     web-1\n"
                                          "element    10.254.0.9  -\n"
                                          "interface  ck0a        -\n"
                                          "network    tunnel x    -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_are_shown_in_order),
        cmocka_unit_test(only_what_is_seen_twice_is_kept),
        cmocka_unit_test(paths_name_their_container),
        cmocka_unit_test(mounts_are_read),
        cmocka_unit_test(groups_are_of_one_cell),
        cmocka_unit_test(the_network_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

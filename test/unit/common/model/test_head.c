/* What is to stand in a system: roots by path, replaced by subtree and put back. */
#include "common/model/head.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* "path=tree path=tree". */
static void assert_roots(struct arena *a, const Board__HeadRecord *h, const char *want)
{
    const char *text = "";
    for (size_t i = 0; i < h->n_roots; i++) {
        text = arena_printf(a, "%s%s%s=%s", text, i ? " " : "", h->roots[i]->path,
                            h->roots[i]->tree);
    }
    assert_string_equal(text, want);
}

static Board__HeadRecord *put(struct arena *a, Board__HeadRecord *h, const char *path,
                              const char *tree)
{
    Board__HeadRecord *after = head_put(a, h, path, tree, "B");
    assert_int_equal(after->generation, h->generation + 1);
    return after;
}

static Board__HeadRecord *nothing_stands(struct arena *a)
{
    return arena_message(a, &board__head_record__descriptor);
}

static void a_subtree_is_replaced_by_segments(void **state)
{
    SCOPED_ARENA(a);
    Board__HeadRecord *h = put(&a, nothing_stands(&a), "/", "t1");
    h = put(&a, h, "/ab", "t2");
    h = put(&a, h, "/a/b", "t3");
    h = put(&a, h, "/a-b", "t4");
    assert_roots(&a, h, "/=t1 /a/b=t3 /a-b=t4 /ab=t2");
    h = put(&a, h, "/a", "t5"); /* takes /a/b, and neither /ab nor /a-b */
    assert_roots(&a, h, "/=t1 /a=t5 /a-b=t4 /ab=t2");
    assert_roots(&a, put(&a, h, "/", "t6"), "/=t6");
    assert_int_equal(head_cleared(&a, h)->n_roots, 0);
    assert_int_equal(head_cleared(&a, h)->generation, h->generation + 1);
}

static void the_longest_path_counts(void **state)
{
    SCOPED_ARENA(a);
    Board__HeadRecord *h = put(&a, put(&a, nothing_stands(&a), "/a", "t2"), "/a/b/c", "t3");
    assert_null(head_root(h, "/"));
    assert_null(head_root(h, "/ab"));
    h = put(&a, h, "/x", "");
    assert_string_equal(head_root(h, "/a/b")->tree, "t2");
    assert_string_equal(head_root(h, "/a/b/c/d")->tree, "t3");
    assert_true(head_has(h, "t2", "/a/b") && head_has(h, "t3", "/a/b/c"));
    assert_false(head_has(h, "t2", "/a/b/c") || head_has(h, "t2", "/ab") || head_has(h, "", "/x"));
    const Board__Root **list;
    assert_int_equal(head_roots_of(&a, h, "/a/b", &list), 2);
    assert_string_equal(list[0]->tree, "t2");
    assert_string_equal(list[1]->tree, "t3");
    assert_int_equal(head_roots_of(&a, h, "/ab", &list), 0);
    assert_int_equal(head_roots_of(&a, h, "/", &list), 3);
}

static void what_stood_before_is_put_back(void **state)
{
    SCOPED_ARENA(a);
    Board__HeadRecord *before = put(&a, nothing_stands(&a), "/", "t1");
    before = put(&a, put(&a, put(&a, before, "/a/x", "t2"), "/a/y", "t3"), "/b", "t4");
    Board__Root **roots;
    size_t count = head_roots_within(&a, before, "/a", &roots);
    assert_int_equal(count, 2);
    Board__HeadRecord *h = put(&a, before, "/a", "t5");
    assert_roots(&a, h, "/=t1 /a=t5 /b=t4");
    h = head_restore(&a, h, "/a", roots, count);
    assert_roots(&a, h, "/=t1 /a/x=t2 /a/y=t3 /b=t4");
    assert_int_equal(h->generation, before->generation + 2);
    /* Where nothing stood there is nothing again. */
    count = head_roots_within(&a, before, "/c", &roots);
    assert_roots(&a, head_restore(&a, put(&a, before, "/c", "t6"), "/c", roots, count),
                 "/=t1 /a/x=t2 /a/y=t3 /b=t4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subtree_is_replaced_by_segments),
        cmocka_unit_test(the_longest_path_counts),
        cmocka_unit_test(what_stood_before_is_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The lock tree of a system, hold by hold (common/model/hold.c), beside the thing that it stands
 * for: a plain tree of locks that know two modes, exclusive and intention-exclusive. All pairs of
 * paths of at most four segments, those that look alike too, and all orders of a few. */
#include "common/model/component_path.h"
#include "common/model/hold.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* ---- The plain tree -------------------------------------------------------------------------- */

enum { NODES_MAX = 64, DEPTH_MAX = 4 };

struct lock_node {
    const char *path;
    bool exclusive;
    int intentions;
};

struct lock_tree {
    struct lock_node nodes[NODES_MAX];
    size_t count;
};

static struct lock_node *node_at(struct lock_tree *t, const char *path)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->nodes[i].path, path) == 0) {
            return &t->nodes[i];
        }
    }
    assert_true(t->count < NODES_MAX);
    t->nodes[t->count] = (struct lock_node){.path = path};
    return &t->nodes[t->count++];
}

/* An exclusive lock wants nobody there; an intention only that nobody holds it exclusively. */
static bool lock_node(struct lock_node *n, bool exclusive)
{
    if (n->exclusive || (exclusive && n->intentions > 0)) {
        return false;
    }
    n->exclusive = exclusive;
    n->intentions += !exclusive;
    return true;
}

static void unlock_node(struct lock_node *n, bool exclusive)
{
    assert_true(exclusive ? n->exclusive : n->intentions > 0);
    n->exclusive = exclusive ? false : n->exclusive;
    n->intentions -= !exclusive;
}

static void unlock_path(struct arena *a, struct lock_tree *t, const char *path, size_t down_to)
{
    size_t depth = component_path_depth(path);
    for (size_t i = 0; i < down_to; i++) {
        unlock_node(node_at(t, component_path_prefix(a, path, i)), i == depth);
    }
}

/* All of it or nothing: from "/" down, the path itself exclusively. *ret_refused: where it failed.
 */
static bool lock_path(struct arena *a, struct lock_tree *t, const char *path,
                      const char **ret_refused)
{
    size_t depth = component_path_depth(path);
    for (size_t i = 0; i <= depth; i++) {
        const char *prefix = component_path_prefix(a, path, i);
        if (!lock_node(node_at(t, prefix), i == depth)) {
            unlock_path(a, t, path, i);
            *ret_refused = prefix;
            return false;
        }
    }
    return true;
}

/* ---- The paths ------------------------------------------------------------------------------- */

/* Of these names, a level; the second looks like the first. */
static const char *const names[] = {"a", "ab", "A", "a-b"};
enum { NAMES = 2, PATHS_MAX = 1 + 2 + 4 + 8 + 16 + 8 };

static size_t all_paths(struct arena *a, const char **ret)
{
    size_t count = 0, level = 0, end = 1;
    ret[count++] = "/";
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        for (size_t i = level; i < end; i++) {
            for (int n = 0; n < NAMES; n++) {
                ret[count++] = component_path_child(a, ret[i], names[n]);
            }
        }
        level = end;
        end = count;
    }
    ret[count++] = "/A";
    ret[count++] = "/a-b";
    ret[count++] = "/a-b/a";
    ret[count++] = "/a/a-b";
    assert_true(count <= PATHS_MAX);
    return count;
}

/* ---- Both ------------------------------------------------------------------------------------ */

struct both {
    struct arena *a;
    struct lock_tree tree;
    Board__HoldRecord *hold;
};

static Board__Hold *entry(struct arena *a, Board__Hold__Kind kind, const char *id,
                          const char *path)
{
    Board__Hold *e = arena_message(a, &board__hold__descriptor);
    e->kind = kind;
    e->id = arena_strdup(a, id);
    e->path = arena_strdup(a, path);
    return e;
}

static struct both both_new(struct arena *a)
{
    return (struct both){.a = a, .hold = arena_message(a, &board__hold_record__descriptor)};
}

/* Every holder that stands against it holds the node where the tree refused: the node itself, or
 * what is below it while the path itself is asked for. */
static void assert_holders(struct both *b, const char *path, const char *refused)
{
    const Board__Hold **list;
    size_t count = hold_conflicts(b->a, b->hold, path, &list);
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        bool at = strcmp(list[i]->path, refused) == 0;
        bool below = strcmp(refused, path) == 0 && component_path_within(list[i]->path, path);
        assert_true(at || below);
    }
}

/* Both take it, or none does. True: taken. */
static bool both_take(struct both *b, Board__Hold__Kind kind, const char *id, const char *path)
{
    const char *refused = NULL;
    Board__HoldRecord *after = NULL;
    bool tree = lock_path(b->a, &b->tree, path, &refused);
    enum hold_answer answer = hold_take(b->a, b->hold, entry(b->a, kind, id, path), &after);
    if (tree != (answer == HOLD_TAKEN)) {
        fail_msg("%s: the tree %s, and the hold %s", path, tree ? "takes it" : "refuses",
                 tree ? "refuses" : "takes it");
    }
    if (tree) {
        b->hold = after;
    } else {
        assert_int_equal(answer, HOLD_CONFLICT);
        assert_holders(b, path, refused);
    }
    return tree;
}

static void both_drop(struct both *b, Board__Hold__Kind kind, const char *id, const char *path)
{
    unlock_path(b->a, &b->tree, path, component_path_depth(path) + 1);
    b->hold = hold_drop(b->a, b->hold, kind, id);
    assert_non_null(b->hold);
}

static void all_pairs_of_paths(void **state)
{
    SCOPED_ARENA(keep);
    const char *paths[PATHS_MAX];
    size_t count = all_paths(&keep, paths);
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < count; n++) {
            SCOPED_ARENA(a);
            struct both b = both_new(&a);
            assert_true(both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D1", paths[i]));
            bool taken = both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D2", paths[n]);
            assert_true(taken != component_path_related(paths[i], paths[n]));
            both_drop(&b, BOARD__HOLD__KIND__DEPLOY, "D1", paths[i]);
            /* What the refused one took on its way is given back. */
            assert_true(taken || both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D2", paths[n]));
            both_drop(&b, BOARD__HOLD__KIND__DEPLOY, "D2", paths[n]);
            assert_true(both_take(&b, BOARD__HOLD__KIND__TEARDOWN, "T", "/"));
            assert_false(both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D1", paths[i]));
        }
    }
}

/* Three, in all ways to choose them; the second goes before a teardown is tried. */
static void all_threes_of_paths(void **state)
{
    SCOPED_ARENA(keep);
    const char *paths[PATHS_MAX];
    size_t count = all_paths(&keep, paths);
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < count; n++) {
            SCOPED_ARENA(a);
            struct both b = both_new(&a);
            (void)both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D1", paths[i]);
            bool second = both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D2", paths[n]);
            for (size_t k = 0; k < count; k++) {
                if (both_take(&b, BOARD__HOLD__KIND__DEPLOY, "D3", paths[k])) {
                    both_drop(&b, BOARD__HOLD__KIND__DEPLOY, "D3", paths[k]);
                }
            }
            assert_false(both_take(&b, BOARD__HOLD__KIND__TEARDOWN, "T", "/"));
            if (second) {
                both_drop(&b, BOARD__HOLD__KIND__DEPLOY, "D2", paths[n]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_of_paths),
        cmocka_unit_test(all_threes_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

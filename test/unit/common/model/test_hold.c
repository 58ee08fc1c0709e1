/* The lock tree of a system: who holds what, who stands against whom, and what people are told. */
#include "common/model/hold.h"
#include "test/tool/cmocka.h"

#include <string.h>

enum { DEPLOY = BOARD__HOLD__KIND__DEPLOY, TEARDOWN = BOARD__HOLD__KIND__TEARDOWN };

static Board__Hold *entry(struct arena *a, int kind, const char *id, const char *path)
{
    Board__Hold *e = arena_message(a, &board__hold__descriptor);
    e->kind = (Board__Hold__Kind)kind;
    e->id = arena_strdup(a, id);
    e->path = arena_strdup(a, path);
    return e;
}

/* Takes it, which must come to this answer; the record as it stands then. */
static Board__HoldRecord *taken(struct arena *a, Board__HoldRecord *h, int kind, const char *id,
                                const char *path, enum hold_answer want)
{
    Board__HoldRecord *after = NULL;
    enum hold_answer answer = hold_take(a, h, entry(a, kind, id, path), &after);
    if (answer != want) {
        fail_msg("%s on %s: %d, not %d", id, path, (int)answer, (int)want);
    }
    assert_true((answer == HOLD_TAKEN) == (after != NULL));
    return after ? after : h;
}

static Board__HoldRecord *nothing_held(struct arena *a)
{
    return arena_message(a, &board__hold_record__descriptor);
}

static void it_is_taken_and_dropped_by_path(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = nothing_held(&a);
    h = taken(&a, h, DEPLOY, "a", "/a", HOLD_TAKEN);
    h = taken(&a, h, DEPLOY, "b", "/ab", HOLD_TAKEN); /* looks alike */
    h = taken(&a, h, DEPLOY, "c", "/b/c", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "d", "/a/x", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "d", "/b", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "d", "/b/c", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "d", "/", HOLD_CONFLICT);
    taken(&a, h, TEARDOWN, "t", "/", HOLD_CONFLICT);
    assert_int_equal(h->n_holds, 3);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "a");
    assert_int_equal(h->n_holds, 2);
    taken(&a, h, DEPLOY, "d", "/a/x", HOLD_TAKEN);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "c");
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "b");
    h = taken(&a, h, TEARDOWN, "t", "/", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "d", "/a/x", HOLD_CONFLICT);
    taken(&a, h, TEARDOWN, "u", "/", HOLD_CONFLICT); /* a true second one */
}

static void what_is_held_is_held_once(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = taken(&a, nothing_held(&a), DEPLOY, "a", "/a", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "a", "/a", HOLD_HELD);
    taken(&a, h, DEPLOY, "a", "/b", HOLD_OTHER_PATH);
    taken(&a, h, DEPLOY, "a", "/a/b", HOLD_OTHER_PATH);
    assert_null(hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "b"));
    assert_null(hold_drop(&a, h, BOARD__HOLD__KIND__TEARDOWN, "a"));
    Board__HoldRecord *none = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "a");
    assert_int_equal(none->n_holds, 0);
    assert_null(hold_drop(&a, none, BOARD__HOLD__KIND__DEPLOY, "a"));
    h = taken(&a, none, TEARDOWN, "t", "/", HOLD_TAKEN);
    taken(&a, h, TEARDOWN, "t", "/", HOLD_HELD);
}

static void it_says_who_holds_a_path(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = taken(&a, nothing_held(&a), DEPLOY, "a", "/a", HOLD_TAKEN);
    h = taken(&a, h, DEPLOY, "c", "/b/c", HOLD_TAKEN);
    assert_true(hold_covers(h, "a", "/a") && hold_covers(h, "a", "/a/b/c"));
    assert_false(hold_covers(h, "a", "/") || hold_covers(h, "a", "/ab") ||
                 hold_covers(h, "a", "/b/c") || hold_covers(h, "x", "/a"));
    assert_null(hold_over(h, "/b"));
    assert_string_equal(hold_over(h, "/b/c/d")->id, "c");
    assert_string_equal(hold_of(h, BOARD__HOLD__KIND__DEPLOY, "c")->path, "/b/c");
    assert_null(hold_of(h, BOARD__HOLD__KIND__TEARDOWN, "c"));
    assert_false(hold_over(h, "/a")->paused);
    h = hold_pause(&a, h, "a", true);
    assert_true(hold_over(h, "/a")->paused && !hold_over(h, "/b/c")->paused);
    assert_false(hold_over(hold_pause(&a, h, "a", false), "/a")->paused);
}

static void so_many_hold_at_once(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = nothing_held(&a);
    for (int i = 0; i < HOLD_ENTRIES_MAX; i++) {
        const char *id = arena_printf(&a, "d%d", i);
        h = taken(&a, h, DEPLOY, id, arena_printf(&a, "/%d", i), HOLD_TAKEN);
    }
    taken(&a, h, DEPLOY, "more", "/more", HOLD_FULL);
    taken(&a, h, DEPLOY, "more", "/7", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "d7", "/7", HOLD_HELD);
}

static void people_are_told_who_holds(void **state)
{
    static const struct {
        const char *deploys; /* a letter each, of the path of that name */
        bool teardown;
        const char *text;
    } rows[] = {
        {"a", false, "deploy a of /a is in progress"},
        {"", true, "teardown T is in progress"},
        {"ab", false, "deploys a of /a and b of /b are in progress"},
        {"abc", false, "deploys a of /a, b of /b and c of /c are in progress"},
        {"abcd", false, "deploys a of /a, b of /b, c of /c and 1 more are in progress"},
        {"abcdefgh", false, "deploys a of /a, b of /b, c of /c and 5 more are in progress"},
        {"a", true, "deploy a of /a and teardown T are in progress"},
        {"ab", true, "deploys a of /a, b of /b and teardown T are in progress"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        const Board__Hold *list[16];
        size_t count = 0;
        if (rows[i].teardown) {
            list[count++] = entry(&a, TEARDOWN, "T", "/");
        }
        for (const char *p = rows[i].deploys; *p; p++) {
            list[count++] = entry(&a, DEPLOY, arena_printf(&a, "%c", *p),
                                  arena_printf(&a, "/%c", *p));
        }
        assert_string_equal(hold_text(&a, list, count), rows[i].text);
    }
    SCOPED_ARENA(a);
    Board__Hold *d = entry(&a, DEPLOY, "D", "/a"), *t = entry(&a, TEARDOWN, "T", "/");
    const Board__Hold *list[] = {d, t};
    d->since = t->since = INT64_C(1767323045678000000);
    assert_string_equal(hold_text(&a, list, 1),
                        "deploy D of /a is in progress since 2026-01-02T03:04:05.678Z");
    assert_string_equal(hold_text(&a, list, 2), "deploy D of /a and teardown T are in progress");
}

/* The scenarios of an upstream's lock manager: who is active at the end. */
static void assert_active(const Board__HoldRecord *h, const char *ids)
{
    assert_int_equal(h->n_holds, strlen(ids));
    for (size_t i = 0; i < h->n_holds; i++) {
        assert_int_equal(h->holds[i]->id[0], ids[i]);
    }
}

static void one_after_the_other_holds_the_root(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = taken(&a, nothing_held(&a), DEPLOY, "a", "/", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "a", "/", HOLD_HELD);
    taken(&a, h, DEPLOY, "b", "/", HOLD_CONFLICT);
    taken(&a, h, TEARDOWN, "t", "/", HOLD_CONFLICT);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "a");
    assert_active(taken(&a, h, DEPLOY, "c", "/", HOLD_TAKEN), "c");
}

static void a_teardown_holds_all(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = taken(&a, nothing_held(&a), DEPLOY, "a", "/", HOLD_TAKEN);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "a");
    h = taken(&a, h, TEARDOWN, "c", "/", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "a", "/", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "b", "/", HOLD_CONFLICT);
    taken(&a, h, TEARDOWN, "d", "/", HOLD_CONFLICT);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__TEARDOWN, "c");
    assert_active(taken(&a, h, TEARDOWN, "e", "/", HOLD_TAKEN), "e");
}

static void paths_beside_each_other_are_held_at_once(void **state)
{
    SCOPED_ARENA(a);
    Board__HoldRecord *h = taken(&a, nothing_held(&a), DEPLOY, "a", "/", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "b", "/b", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "b", "/b/c", HOLD_CONFLICT);
    h = hold_drop(&a, h, BOARD__HOLD__KIND__DEPLOY, "a");
    h = taken(&a, h, DEPLOY, "c", "/a/b", HOLD_TAKEN);
    h = taken(&a, h, DEPLOY, "d", "/a/c", HOLD_TAKEN);
    taken(&a, h, DEPLOY, "e", "/a/b/c", HOLD_CONFLICT);
    taken(&a, h, DEPLOY, "f", "/a", HOLD_CONFLICT);
    assert_active(h, "cd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_taken_and_dropped_by_path),
        cmocka_unit_test(what_is_held_is_held_once),
        cmocka_unit_test(it_says_who_holds_a_path),
        cmocka_unit_test(so_many_hold_at_once),
        cmocka_unit_test(people_are_told_who_holds),
        cmocka_unit_test(one_after_the_other_holds_the_root),
        cmocka_unit_test(a_teardown_holds_all),
        cmocka_unit_test(paths_beside_each_other_are_held_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

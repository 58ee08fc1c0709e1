/* The state of a node pool: the rows of common/model/pool_state.h, each alone, which goes before
 * which, and all small pools by a table of their own. */
#include "common/lifecycle/pool.h"
#include "common/model/pool_state.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* Wanted 3, all well, and what differs. */
#define WELL .epochs = 1, .type = "small", .wanted = 3, .cells = 3, .serving = 3, .held = ""

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct {
    const char *name;
    struct pool_facts facts;
    int state;
    const char *text;
} rows[] = {
    {"5: well", {WELL}, POOL_STABLE, ""},
    {"5: none wanted", {WELL, .wanted = 0, .cells = 0, .serving = 0}, POOL_STABLE, ""},
    {"5: overdue, but all are there", {WELL, .overdue = true}, POOL_STABLE, ""},
    {"0: over, whatever else",
     {WELL, .deleting = true, .serving = 1, .old_cells = 1, .overdue = true},
     POOL_DELETING,
     "4 cells to give back: when nothing of it runs there"},
    {"0: none left",
     {WELL, .deleting = true, .cells = 0, .serving = 0},
     POOL_DELETING,
     "it has given its cells back"},
    {"1", {WELL, .epochs = 0, .cells = 0, .serving = 0, .overdue = true}, POOL_PENDING,
     "nobody has looked at it yet"},
    {"2: before several epochs",
     {WELL, .epochs = 2, .cells = 1, .serving = 1, .old_cells = 3, .overdue = true},
     POOL_FAILED,
     "needs 3 cells of type small, 1 is there, for more than 600 s: start cells with "
     "--optional-placement-tag type:small, or empty some"},
    {"2: lost", {WELL, .serving = 2, .overdue = true}, POOL_FAILED,
     "needs 3 cells of type small, 2 are there, for more than 600 s: start cells with "
     "--optional-placement-tag type:small, or empty some"},
    {"2: held",
     {WELL, .cells = 1, .serving = 1, .overdue = true, .held = "restored"},
     POOL_SCALING,
     "needs 3 cells of type small, 1 is there; restored"},
    {"3: takes them",
     {WELL, .epochs = 2, .cells = 0, .serving = 0, .old_cells = 3},
     POOL_UPDATING,
     "needs 3 cells of type small, 0 are there"},
    {"3: gives back",
     {WELL, .epochs = 2, .old_cells = 1},
     POOL_UPDATING,
     "1 cell of before to give back: when nothing is to run there"},
    {"4: short", {WELL, .wanted = 1, .cells = 0, .serving = 0}, POOL_SCALING,
     "needs 1 cell of type small, 0 are there"},
    {"4: one with other work", {WELL, .cells = 2, .serving = 2, .occupied = 1}, POOL_SCALING,
     "needs 3 cells of type small, 2 are there; 1 more has other work on it: empty it with rep "
     "evacuate, and end units that stay with bbs units destroy-unit"},
    {"2: two with other work",
     {WELL, .cells = 2, .serving = 2, .occupied = 2, .overdue = true},
     POOL_FAILED,
     "needs 3 cells of type small, 2 are there, for more than 600 s: start cells with "
     "--optional-placement-tag type:small; 2 more have other work on them: empty some with rep "
     "evacuate, and end units that stay with bbs units destroy-unit"},
    {"4: lost", {WELL, .serving = 2}, POOL_SCALING, "needs 3 cells of type small, 2 are there"},
    {"4: surplus", {WELL, .wanted = 1}, POOL_SCALING,
     "2 cells more than wanted: they go when nothing runs there"},
    {"4: lost and replaced", {WELL, .cells = 4}, POOL_SCALING,
     "1 cell more than wanted: it goes when nothing runs there"},
};
#pragma GCC diagnostic pop

static void each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        int is = pool_state_of(&rows[i].facts);
        const char *text = pool_state_text(&a, &rows[i].facts);
        if (is != rows[i].state || strcmp(text, rows[i].text) != 0) {
            fail_msg("%s: %d, \"%s\"", rows[i].name, is, text);
        }
    }
}

/* By hand: what each small pool is, without the order of the rows. */
static bool may_be(const struct pool_facts *f, int state)
{
    bool lacks = f->serving < f->wanted;
    switch (state) {
    case POOL_DELETING:
        return f->deleting;
    case POOL_PENDING:
        return !f->deleting && f->epochs == 0;
    case POOL_FAILED:
        return !f->deleting && f->epochs > 0 && lacks && f->overdue;
    case POOL_UPDATING:
        return !f->deleting && f->epochs > 1 && !(lacks && f->overdue);
    case POOL_SCALING:
        return !f->deleting && f->epochs == 1 && !(lacks && f->overdue) &&
               (f->wanted != f->cells || lacks || f->serving > f->wanted);
    default:
        return state == POOL_STABLE && !f->deleting && f->epochs == 1 && f->wanted == f->cells &&
               f->wanted == f->serving;
    }
}

/* Each is in exactly one state, and all that is not stable says why. */
static void every_small_pool(void **state)
{
    (void)state;
    for (int bits = 0; bits < 1 << 12; bits++) {
        SCOPED_ARENA(a);
        struct pool_facts f = {.type = "small", .held = ""};
        f.deleting = bits & 1;
        f.overdue = bits >> 1 & 1;
        f.epochs = (size_t)(bits >> 2 & 3);
        f.wanted = bits >> 4 & 3;
        f.cells = bits >> 6 & 3;
        f.serving = bits >> 8 & 3;
        f.old_cells = bits >> 10 & 3;
        if (f.serving > f.cells) {
            continue;
        }
        int is = pool_state_of(&f), fits = 0;
        for (int s = POOL_NONE + 1; s < POOL_STATE_COUNT; s++) {
            fits += may_be(&f, s);
        }
        assert_int_equal(fits, 1);
        assert_true(may_be(&f, is));
        assert_int_equal(is == POOL_STABLE, pool_state_text(&a, &f)[0] == '\0');
    }
}

/* It is what its newest epoch has. */
static void ready_is_the_newest_epoch(void **state)
{
    (void)state;
    static char a[] = "a", b[] = "b";
    char *cells[] = {a, b};
    Board__PoolEpoch old = BOARD__POOL_EPOCH__INIT, new = BOARD__POOL_EPOCH__INIT;
    Board__PoolEpoch *epochs[] = {&old, &new};
    Board__PoolRecord pool = BOARD__POOL_RECORD__INIT;
    pool.state = (char *)"updating";
    pool.wanted = 2;
    assert_false(pool_is_ready(&pool));
    old.number = 1;
    old.cells = new.cells = cells;
    old.n_cells = 2;
    new.number = 2;
    new.n_cells = 1;
    pool.epochs = epochs;
    pool.n_epochs = 2;
    assert_false(pool_is_ready(&pool));
    new.n_cells = 2;
    assert_true(pool_is_ready(&pool));
    new.n_cells = 1;
    pool.wanted = 1;
    assert_true(pool_is_ready(&pool));
    pool.state = (char *)"deleting";
    assert_false(pool_is_ready(&pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(every_small_pool),
        cmocka_unit_test(ready_is_the_newest_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

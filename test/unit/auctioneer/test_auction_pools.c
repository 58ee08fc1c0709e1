/* Node pools in an auction: a cell of a pool takes only what bears its tag, and that goes nowhere
 * else (docs/systems.md, Node pools). */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

#define MAIN "pool:u//:main#1"
#define NEXT "pool:u//:main#2"

/* Leading, with cell a of this pool. */
static void lead(struct auction_rig *f, const char *pool)
{
    f->pool = pool;
    play_leader_lock(f, "a");
}

/* web/0 bears this tag, and waits. */
static void want(struct auction_rig *f, const char *tag)
{
    f->tag = tag;
    play_desired(f, PUT, "web", 1);
    play_actual(f, PUT, "web", 0);
    play_send(f);
}

/* The cell says of itself that it has these tags, and it takes nothing. */
static void refuses(struct auction_rig *f, const char *tags, const char *optional,
                    const char *reason)
{
    Cell__CellState *s = play_row(f, "a");
    cell_row_tags(&f->arena, s, tags, optional);
    play_tell_state(f, play_state_call(f, "a"), s);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    const struct entry *e = map_get(&f->x->backlog.entries, "actual/web/0000000000/0");
    assert_string_equal(reason_text(e->reason), reason);
}

static void takes(struct auction_rig *f, const char *tags, const char *optional)
{
    Cell__CellState *s = play_row(f, "a");
    cell_row_tags(&f->arena, s, tags, optional);
    play_tell_state(f, play_state_call(f, "a"), s);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 0);
    assert_int_equal(f->x->backlog.counts[ENTRY_TAKEN], 1); /* on its way to the cell */
}

static void a_cell_of_a_pool_takes_what_bears_its_tag(void **state)
{
    lead(*state, MAIN);
    want(*state, MAIN);
    takes(*state, "", "type:small");
}

static void a_plain_app_never_lands_there(void **state)
{
    lead(*state, MAIN);
    want(*state, NULL);
    refuses(*state, "", "type:small", "found no compatible cell with no placement tags");
}

static void a_tag_of_the_type_does_not_do(void **state)
{
    lead(*state, MAIN);
    want(*state, "type:small");
    refuses(*state, "", "type:small", "found no compatible cell with placement tag \"type:small\"");
}

static void another_epoch_is_another_place(void **state)
{
    lead(*state, MAIN);
    want(*state, NEXT);
    refuses(*state, "", "type:small", "found no compatible cell in node pool /:main");
}

static void what_bears_a_tag_goes_to_no_cell_without_it(void **state)
{
    lead(*state, NULL);
    want(*state, MAIN);
    refuses(*state, "", "type:small", "found no compatible cell in node pool /:main");
}

/* Only the board says of which pool a cell is. */
static void a_cell_does_not_choose_its_pool(void **state)
{
    lead(*state, NULL);
    want(*state, MAIN);
    refuses(*state, MAIN, MAIN, "found no compatible cell in node pool /:main");
}

static void nor_is_it_kept_from_work_by_such_a_tag(void **state)
{
    lead(*state, NULL);
    want(*state, NULL);
    takes(*state, MAIN, "");
}

static void optional_tags_keep_their_sense(void **state)
{
    lead(*state, NULL);
    want(*state, "type:small");
    takes(*state, "", "type:small");
}

/* What is known of it stays: it need not be asked anew. */
static void a_cell_that_is_given_to_a_pool_is_one_at_once(void **state)
{
    struct auction_rig *f = *state;
    lead(f, NULL);
    want(f, MAIN);
    refuses(f, "", "type:small", "found no compatible cell in node pool /:main");
    const struct cell *cell = map_get(&f->x->cells.by_id, "a");
    assert_int_equal(cell->state->n_placementtags, 0);
    f->pool = MAIN;
    play_cell(f, PUT, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    assert_int_equal(cell->state->n_placementtags, 1);
    assert_string_equal(cell->state->placementtags[0], MAIN);
    f->pool = NULL;
    play_cell(f, PUT, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    assert_int_equal(cell->state->n_placementtags, 0);
}

/* Also when it is told while an auction relies on the cell; kept, it takes what is new again. */
static void a_cell_that_leaves_its_pool_takes_nothing_new(void **state)
{
    struct auction_rig *f = *state;
    lead(f, MAIN);
    want(f, MAIN);
    uint64_t asked = play_state_call(f, "a"), call;
    f->pool_leaves = true;
    play_cell(f, PUT, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    Cell__CellState *s = play_row(f, "a");
    cell_row_tags(&f->arena, s, "", "type:small");
    play_tell_state(f, asked, s);
    const struct cell *cell = map_get(&f->x->cells.by_id, "a");
    assert_false(cell->usable);
    assert_string_equal(cell->why, "its node pool gives it back");
    assert_string_equal(play_failed(f, &call), "web/0=unable to communicate to compatible cells ");
    f->pool_leaves = false;
    play_cell(f, PUT, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    takes(f, "", "type:small");
    assert_true(cell->usable);
    play_applied(f, call, 1);
    f->pool_leaves = true;
    play_cell(f, PUT, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_send(f);
    assert_false(cell->usable);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cell_of_a_pool_takes_what_bears_its_tag),
        TEST(a_plain_app_never_lands_there),
        TEST(a_tag_of_the_type_does_not_do),
        TEST(another_epoch_is_another_place),
        TEST(what_bears_a_tag_goes_to_no_cell_without_it),
        TEST(a_cell_does_not_choose_its_pool),
        TEST(nor_is_it_kept_from_work_by_such_a_tag),
        TEST(optional_tags_keep_their_sense),
        TEST(a_cell_that_is_given_to_a_pool_is_one_at_once),
        TEST(a_cell_that_leaves_its_pool_takes_nothing_new),
    };
    return cmocka_run_group_tests_name("node pools in auctions", tests, NULL, NULL);
}

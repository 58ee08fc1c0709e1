/* Marks of removals: how long they are kept, and how many (bbs/board/removals.c). */
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

#include <stdio.h>

#define SETTLED_NS (300 * SECOND_NS)
#define LOOK_NS (31 * SECOND_NS)

static void put_removal(struct rig *r, const char *process_guid, int from,
                        const char *board_generation)
{
    SCOPED_ARENA(a);
    Board__RemovalRecord m = BOARD__REMOVAL_RECORD__INIT;
    m.process_guid = arena_strdup(&a, process_guid);
    m.definition_id = (char *)"D1";
    m.from_index = from;
    m.board_generation = arena_strdup(&a, board_generation);
    put_record(r, key_removal(&a, process_guid, "D1"), &m.base);
}

static void put_cell(struct rig *r, Board__CellRecord__State state)
{
    Board__CellRecord m = BOARD__CELL_RECORD__INIT;
    m.state = state;
    put_record(r, "cell/c1", &m.base);
}

static const char *board_generation_of(struct rig *r)
{
    return board_rig_board(r, 0)->board_generation;
}

static void they_are_kept_until_a_lost_cell_is_back_for_a_while(void **state)
{
    struct rig *r = ready_rig(2, NULL);
    put_cell(r, BOARD__CELL_RECORD__STATE__LOST);
    put_removal(r, "web", 0, board_generation_of(r));
    board_rig_run(r, 3600 * SECOND_NS);
    assert_int_equal(count_prefix(r, "removal/"), 1);
    put_cell(r, BOARD__CELL_RECORD__STATE__PRESENT);
    board_rig_run(r, SETTLED_NS - SECOND_NS);
    assert_int_equal(count_prefix(r, "removal/"), 1);
    board_rig_run(r, LOOK_NS);
    assert_int_equal(count_prefix(r, "removal/"), 0);
    board_rig_free(r);
}

static void they_are_kept_for_a_day_when_it_never_comes(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    put_cell(r, BOARD__CELL_RECORD__STATE__LOST);
    put_removal(r, "web", 0, board_generation_of(r));
    board_rig_run(r, REMOVAL_KEPT_NS - SECOND_NS);
    assert_int_equal(count_prefix(r, "removal/"), 1);
    board_rig_run(r, LOOK_NS);
    assert_int_equal(count_prefix(r, "removal/"), 0);
    board_rig_free(r);
}

static void they_are_kept_while_a_record_of_them_stands(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    Models__ActualLRP m = MODELS__ACTUAL_LRP__INIT;
    put_record(r, "actual/web/0000000001/0", &m.base);
    put_record(r, "actual/web/0000000002/0", &m.base);
    put_record(r, "actual/webby/0000000009/0", &m.base);
    put_removal(r, "web", 2, board_generation_of(r));
    board_rig_run(r, 2 * SETTLED_NS);
    assert_int_equal(count_prefix(r, "removal/"), 1);
    board_rig_free(r);

    r = ready_rig(1, NULL);
    put_record(r, "actual/web/0000000001/0", &m.base);
    put_record(r, "actual/webby/0000000009/0", &m.base);
    put_removal(r, "web", 2, board_generation_of(r));
    board_rig_run(r, SETTLED_NS + LOOK_NS);
    assert_int_equal(count_prefix(r, "removal/"), 0);
    board_rig_free(r);
}

static void one_of_another_board_generation_goes_and_one_of_a_later_format_stays(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    put_cell(r, BOARD__CELL_RECORD__STATE__LOST);
    put_removal(r, "web", 0, "another");
    static const uint8_t later[] = {RECORD_VERSION + 1, 1, 2};
    put_raw(r, "removal/api/D1", (struct bytes){.data = later, .size = sizeof(later)});
    board_rig_run(r, LOOK_NS);
    assert_int_equal(mod_revision(r, "removal/web/D1"), 0);
    assert_true(mod_revision(r, "removal/api/D1") > 0);
    board_rig_free(r);
}

/* More than one transaction deletes, in less than two looks. */
static void the_oldest_go_beyond_the_bound(void **state)
{
    enum { MORE = 250 };
    struct rig *r = ready_rig(1, NULL);
    put_cell(r, BOARD__CELL_RECORD__STATE__LOST);
    for (int i = REMOVALS_MAX + MORE; i > 0; i--) {
        char guid[20];
        snprintf(guid, sizeof(guid), "web-%06d", i);
        put_removal(r, guid, 0, board_generation_of(r));
        if (i % 1000 == 0) {
            board_rig_run(r, SECOND_NS); /* each event is a step of the rig */
        }
    }
    board_rig_run(r, LOOK_NS + SECOND_NS);
    assert_int_equal(count_prefix(r, "removal/"), REMOVALS_MAX);
    char oldest_kept[40], newest_gone[40];
    snprintf(oldest_kept, sizeof(oldest_kept), "removal/web-%06d/D1", REMOVALS_MAX);
    snprintf(newest_gone, sizeof(newest_gone), "removal/web-%06d/D1", REMOVALS_MAX + 1);
    assert_true(mod_revision(r, oldest_kept) > 0);
    assert_int_equal(mod_revision(r, newest_gone), 0);
    assert_true(mod_revision(r, "removal/web-000001/D1") > 0);
    board_rig_run(r, 600 * SECOND_NS);
    assert_int_equal(count_prefix(r, "removal/"), REMOVALS_MAX);
    board_rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_kept_until_a_lost_cell_is_back_for_a_while),
        cmocka_unit_test(they_are_kept_for_a_day_when_it_never_comes),
        cmocka_unit_test(they_are_kept_while_a_record_of_them_stands),
        cmocka_unit_test(one_of_another_board_generation_goes_and_one_of_a_later_format_stays),
        cmocka_unit_test(the_oldest_go_beyond_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

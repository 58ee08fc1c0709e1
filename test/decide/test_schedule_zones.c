/* How the instances of a process spread over zones (rep-auctioneer.md 5.3), and which zone an index
 * prefers. */
#include "auctioneer/zone.h"
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>

static void the_emptier_zone_wins_over_the_better_score(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_lrp(&x->arena, with_cell(x, "a", "z1"), "web");
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z2")->availableresources->memorymb = 100;
    with_lrp(x, "web", 1);
    assert_string_equal(plan_of(x), "web/1=c");
    /* No room there: the next number of instances. */
    x->cells[2].state->availableresources->memorymb = 99;
    assert_string_equal(plan_of(x), "web/1=b");
}

static void zones_with_the_same_number_compete(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->availableresources->memorymb = 500;
    with_cell(x, "b", "z2");
    cell_row_lrp(&x->arena, with_cell(x, "c", "z3"), "web");
    with_lrp(x, "web", 1);
    with_lrp(x, "web", 2);
    with_lrp(x, "web", 3);
    assert_string_equal(plan_of(x), "web/1=b web/2=a web/3=c");
}

static void incompatible_cells_count_for_their_zone(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    cell_row_tags(&x->arena, a, "t", "");
    cell_row_lrp(&x->arena, a, "web");
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z2")->availableresources->memorymb = 150;
    with_lrp(x, "web", 1);
    assert_string_equal(plan_of(x), "web/1=c");
}

static void a_closed_cell_takes_nothing_and_counts_for_its_zone(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_lrp(&x->arena, with_cell(x, "a", "z1"), "web");
    x->cells[0].closed = true;
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z2")->availableresources->memorymb = 150;
    with_lrp(x, "web", 1);
    assert_string_equal(plan_of(x), "web/1=c");
}

/* ---- The preferred zone ---------------------------------------------------------------------- */

/* The preferred zone (docs/instances.md, Zones): position of "z1", "z2", "z3". */
static const char *preferred(const char *guid, int32_t index)
{
    static const char *const names[] = {"z1", "z2", "z3"};
    return names[zone_preferred(guid, index, 3)];
}

static void the_preferred_zone_turns_with_the_index(void **state)
{
    for (int32_t i = 0; i < 9; i++) {
        assert_int_equal(zone_preferred("web", i, 3), (zone_preferred("web", 0, 3) + i) % 3);
    }
    assert_int_equal(zone_preferred("web", INT32_MAX, 1), 0);
    /* f is fixed for ever: instances must not move when the auctioneer is upgraded. */
    assert_string_equal(preferred("web", 0), "z1");
    assert_string_equal(preferred("db", 0), "z1");
    assert_string_equal(preferred("cache", 0), "z2");
    /* ... and spreads. */
    unsigned counts[3] = {0};
    for (int i = 0; i < 3000; i++) {
        char guid[32];
        snprintf(guid, sizeof(guid), "guid-%d", i);
        counts[zone_preferred(guid, 0, 3)]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(counts[i], 900, 1100);
    }
}

static void low_indices_prefer_high_ones_wait(void **state)
{
    struct schedule_rows *x = *state;
    static const char *const zones[] = {"z1", "z2", "z3"};
    x->rules.zones = zones;
    x->rules.zone_count = 3;
    Cell__CellState *z1 = with_cell(x, "a", "z1"), *z2 = with_cell(x, "b", "z2"),
                    *z3 = with_cell(x, "c", "z3");
    z1->availableresources->memorymb = 300; /* the worst by score */
    for (int i = 0; i < 6; i++) {
        with_lrp(x, "web", i);
    }
    assert_string_equal(plan_of(x), "web/0=a web/1=b web/2=c web/3=a web/4=b web/5=c");
    /* No room in z1: index 0 goes elsewhere, index 3 waits. */
    z1->availableresources->memorymb = 0;
    assert_string_equal(plan_of(x),
                        "web/0=b web/1=b web/2=c web/3=(insufficient resources: memory) "
                        "web/4=b web/5=c");
    /* Only what was tried is named: z3 is short of disk, but is not z1. */
    z3->availableresources->diskmb = 0;
    z2->availableresources->memorymb = 200;
    assert_string_equal(plan_of(x), "web/0=b web/1=b web/2=(insufficient resources: disk) "
                                    "web/3=(insufficient resources: memory) "
                                    "web/4=(insufficient resources: memory) "
                                    "web/5=(insufficient resources: disk)");
}

static void a_preferred_zone_without_cells(void **state)
{
    struct schedule_rows *x = *state;
    static const char *const zones[] = {"z1", "z2", "z3"};
    x->rules.zones = zones;
    x->rules.zone_count = 3;
    with_cell(x, "a", "elsewhere"); /* a zone that nobody told us of: for low indices only */
    for (int i = 0; i < 3; i++) {
        with_lrp(x, "web", i);
    }
    assert_string_equal(plan_of(x), "web/0=a web/1=a "
                                    "web/2=(unable to communicate to compatible cells)");
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_emptier_zone_wins_over_the_better_score),
        TEST(zones_with_the_same_number_compete),
        TEST(incompatible_cells_count_for_their_zone),
        TEST(a_closed_cell_takes_nothing_and_counts_for_its_zone),
        cmocka_unit_test(the_preferred_zone_turns_with_the_index),
        TEST(low_indices_prefer_high_ones_wait),
        TEST(a_preferred_zone_without_cells),
    };
    return cmocka_run_group_tests_name("schedule: zones", tests, NULL, NULL);
}

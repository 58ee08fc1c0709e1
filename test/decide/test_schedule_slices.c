/* What slices have reserved and not used is kept free (docs/edge.md, Slices; auctioneer/reserve.h).
 */
#include "auctioneer/reserve.h"
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>

#define KEPT "insufficient resources: what is free is kept for slices"

/* So many jobs of 100 MB of the process. */
static void with_lrps(struct schedule_rows *x, const char *guid, int count)
{
    for (int i = 0; i < count; i++) {
        with_lrp(x, guid, i);
    }
}

static size_t placed(struct schedule_rows *x)
{
    const struct decision *d = decisions_of(x);
    size_t count = 0;
    for (size_t i = 0; i < x->job_count; i++) {
        count += d[i].cell >= 0;
    }
    return count;
}

/* Rule 1: 1000 MB, of which 700 are reserved, have 300 for others. */
static void what_is_reserved_is_kept_free(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_slice(x, "u1", 7, 100, "");
    with_lrps(x, "web", 4);
    assert_string_equal(plan_of(x), "web/0=a web/1=a web/2=a web/3=(" KEPT ")");
}

/* It need not be free on the same cell. */
static void it_is_a_sum_over_cells(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1");
    with_slice(x, "u1", 1, 1000, "");
    with_lrps(x, "web", 11);
    assert_int_equal(placed(x), 10);
}

/* A run of many, which the cells close to on the way. */
static void many_stop_where_the_rest_is_reserved(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z2");
    with_cell(x, "c", "z2");
    with_slice(x, "u1", 12, 100, "");
    with_lrps(x, "web", 40);
    assert_int_equal(placed(x), 18);
}

static void the_work_of_a_slice_has_its_room(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_use(x, with_slice(x, "u1", 10, 100, ""), "in");
    with_lrps(x, "in", 2);
    with_lrps(x, "out", 1);
    assert_string_equal(plan_of(x), "in/0=a in/1=a out/0=(" KEPT ")");
}

/* 800 free beside 900 reserved, of which 100 are used. */
static void what_a_slice_uses_is_not_kept_twice(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *s = with_cell(x, "a", "z1");
    with_use(x, with_slice(x, "u1", 9, 100, ""), "in");
    cell_row_lrp(&x->arena, s, "in");
    s->lrps[0]->memorymb = 100;
    s->availableresources->memorymb = 900;
    with_lrps(x, "out", 2);
    assert_string_equal(plan_of(x), "out/0=a out/1=(" KEPT ")");
}

/* Rule 3: 300 reserved, all used; the new ones beside the old need what nobody has reserved. */
static void an_update_takes_of_nobody_else(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *s = with_cell(x, "a", "z1");
    Board__SliceRecord *own = with_slice(x, "u1", 3, 100, "");
    with_use(x, own, "old");
    with_use(x, own, "new");
    for (size_t i = 0; i < 3; i++) {
        cell_row_lrp(&x->arena, s, "old");
        s->lrps[i]->memorymb = 100;
    }
    s->availableresources->memorymb = 700;
    with_slice(x, "u2", 5, 100, "");
    with_lrps(x, "new", 3);
    assert_string_equal(plan_of(x), "new/0=a new/1=a new/2=(" KEPT ")");
}

/* A cell went, and what is left covers nothing: each slice has its own all the same. */
static void a_slice_has_its_room_also_when_all_is_short(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->availableresources->memorymb = 200;
    with_use(x, with_slice(x, "u1", 10, 100, ""), "in");
    with_lrps(x, "out", 1);
    with_lrps(x, "in", 3);
    assert_string_equal(plan_of(x),
                        "out/0=(" KEPT ") in/0=a in/1=a in/2=(insufficient resources: memory)");
}

static void disk_and_containers_are_kept_as_well(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_slice(x, "u1", 1, 0, "")->node->disk_mb = 901;
    with_lrps(x, "web", 1);
    assert_string_equal(plan_of(x), "web/0=(" KEPT ")");
    x->jobs[0].disk_mb = 99;
    assert_string_equal(plan_of(x), "web/0=a");
    x->slices[0]->node->disk_mb = 0;
    x->slices[0]->node->containers = 100;
    assert_string_equal(plan_of(x), "web/0=(" KEPT ")");
    x->slices[0]->node->containers = 99;
    assert_string_equal(plan_of(x), "web/0=a");
}

static void tasks_and_units_are_kept_off(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_use(x, with_slice(x, "u1", 10, 100, ""), "in");
    with_task(x, "in"); /* a task of that name is in no slice */
    with_unit(x, "web", 0);
    assert_string_equal(plan_of(x), "in/0=(" KEPT ") web/0=(" KEPT ")");
}

/* Its cells take no other work: nothing is kept beside. */
static void whole_cells_reserve_nothing_beside(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "slice:u1", "");
    with_cell(x, "b", "z1");
    Board__SliceRecord *s = with_slice(x, "u1", 10, 100, "");
    s->cells = ARENA_ARRAY(&x->arena, 1, char *);
    s->cells[s->n_cells++] = arena_strdup(&x->arena, "a");
    with_use(x, s, "in");
    with_tags(x, with_lrp(x, "in", 0), "slice:u1");
    with_lrps(x, "out", 11);
    with_tags(x, with_lrp(x, "other", 0), "slice:u2");
    assert_string_equal(plan_of(x),
                        "in/0=a out/0=b out/1=b out/2=b out/3=b out/4=b out/5=b out/6=b out/7=b "
                        "out/8=b out/9=b out/10=(insufficient resources: disk, memory) "
                        "other/0=(found no compatible cell in slice u2)");
}

/* Nor does the free room of cells count that have none for a quota: of a pool, of another slice,
 * left out of this auction. */
static void only_cells_for_the_slices_cover_them(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    cell_row_tags(&x->arena, with_cell(x, "b", "z1"), "slice:u2", "");
    cell_row_tags(&x->arena, with_cell(x, "c", "z1"), "pool:u//:main#1", "");
    cell_row_tags(&x->arena, with_cell(x, "d", "z1"), "gpu", "");
    with_cell(x, "e", "z1");
    x->cells[4].closed = true;
    with_slice(x, "u1", 10, 100, "");
    with_lrps(x, "web", 1);
    with_tags(x, with_lrp(x, "gpu", 0), "gpu"); /* where the slice can have nothing */
    assert_string_equal(plan_of(x), "web/0=(" KEPT ") gpu/0=d");
}

/* Rule 2: there is enough elsewhere, but not with the tag. */
static void a_slice_with_tags_has_its_cells(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "", "ssd");
    with_cell(x, "b", "z1");
    with_slice(x, "u1", 10, 100, "ssd");
    with_tags(x, with_lrp(x, "fast", 0), "ssd");
    with_lrps(x, "web", 11);
    assert_int_equal(placed(x), 10);
    assert_int_equal(decisions_of(x)[0].cell, -1);
}

/* Both sets of tags are of cell a: what is reserved there is the sum. */
static void slices_of_the_same_cells_are_added_up(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "", "ssd gpu");
    with_cell(x, "b", "z1");
    with_slice(x, "u1", 5, 100, "ssd");
    with_slice(x, "u2", 5, 100, "gpu");
    with_tags(x, with_lrp(x, "fast", 0), "ssd");
    assert_string_equal(plan_of(x), "fast/0=(" KEPT ")");
}

/* The bound: of further sets only the sum over all cells counts. */
static void so_many_sets_of_tags_are_told_apart(void **state)
{
    struct schedule_rows *x = *state;
    char tag[16];
    for (int i = 0; i <= RESERVE_TAG_SETS_MAX; i++) {
        snprintf(tag, sizeof(tag), "t%d", i);
        cell_row_tags(&x->arena, with_cell(x, arena_printf(&x->arena, "cell-%02d", i), "z1"), "",
                      tag);
        with_slice(x, arena_printf(&x->arena, "u%02d", i), i < RESERVE_TAG_SETS_MAX - 1 ? 0 : 10,
                   100, tag);
    }
    with_tags(x, with_lrp(x, "last", 0), "t15");
    with_tags(x, with_lrp(x, "more", 0), "t16");
    assert_string_equal(plan_of(x), "last/0=(" KEPT ") more/0=cell-16");
}

/* What was placed before in the same auction. */
static void what_was_placed_before_counts(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_use(x, with_slice(x, "u1", 8, 100, ""), "in");
    struct job in = *with_lrp(x, "in", 0), out = *with_lrp(x, "out", 0);
    x->job_count = 0;
    x->taken[x->taken_count++] = (struct schedule_taken){.job = &in, .cell = 0};
    x->taken[x->taken_count++] = (struct schedule_taken){.job = &out, .cell = 0};
    with_lrp(x, "out", 1);
    with_lrp(x, "out", 2);
    assert_string_equal(plan_of(x), "out/1=a out/2=(" KEPT ")");
}

/* An LRP needs the proxy's memory too, on whichever cell. */
static void the_proxy_counts(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->proxymemoryallocationmb = 32;
    with_slice(x, "u1", 9, 100, "");
    with_lrps(x, "web", 1);
    with_task(x, "t");
    assert_string_equal(plan_of(x), "web/0=(" KEPT ") t/0=a");
}

static void what_fits_nowhere_says_so(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_slice(x, "u1", 10, 100, "");
    with_lrp(x, "big", 0)->memory_mb = 1001;
    assert_string_equal(plan_of(x), "big/0=(insufficient resources: memory)");
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_reserved_is_kept_free),
        TEST(it_is_a_sum_over_cells),
        TEST(many_stop_where_the_rest_is_reserved),
        TEST(the_work_of_a_slice_has_its_room),
        TEST(what_a_slice_uses_is_not_kept_twice),
        TEST(an_update_takes_of_nobody_else),
        TEST(a_slice_has_its_room_also_when_all_is_short),
        TEST(disk_and_containers_are_kept_as_well),
        TEST(tasks_and_units_are_kept_off),
        TEST(whole_cells_reserve_nothing_beside),
        TEST(only_cells_for_the_slices_cover_them),
        TEST(a_slice_with_tags_has_its_cells),
        TEST(slices_of_the_same_cells_are_added_up),
        TEST(so_many_sets_of_tags_are_told_apart),
        TEST(what_was_placed_before_counts),
        TEST(the_proxy_counts),
        TEST(what_fits_nowhere_says_so),
    };
    return cmocka_run_group_tests_name("schedule: slices", tests, NULL, NULL);
}

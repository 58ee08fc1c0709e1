/* Why a job is on no cell: cells before, and which filter each falls to, which comes nearest. */
#include "auctioneer/why.h"
#include "auctioneer/zone.h"
#include "common/base/bytes.h"
#include "test/decide/cell_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 8 };

struct fixture {
    struct arena arena;
    struct schedule_rules rules;
    struct why_cell cells[CELLS_MAX];
    size_t count;
    Board__SliceRecord *slices[CELLS_MAX * 2];
    size_t slice_count;
    struct job job;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    x->job = (struct job){
        .guid = "web", .root_fs = "preloaded:busybox", .memory_mb = 100, .disk_mb = 100};
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    arena_done(&x->arena);
    buf_done(&x->text);
    free(x);
    return 0;
}

static Cell__CellState *cell(struct fixture *x, const char *id)
{
    Cell__CellState *s = cell_row_new(&x->arena, id, "z1", 1000, 1000);
    x->cells[x->count++] = (struct why_cell){.id = id, .state = s};
    return s;
}

/* "3 cells, 1 fit; resources 2; short of memory 2; nearest a resources 20/0/0 (why)" */
static const char *explained(struct fixture *x)
{
    Auction__Why why = AUCTION__WHY__INIT;
    why_explain(&x->arena,
                &(struct why_input){.rules = &x->rules,
                                    .cells = x->cells,
                                    .cell_count = x->count,
                                    .slices = (const Board__SliceRecord *const *)x->slices,
                                    .slice_count = x->slice_count},
                &x->job, &why);
    buf_clear(&x->text);
    buf_printf(&x->text, "%u cells, %u fit", why.cells, why.fit);
    uint32_t sum = why.fit;
    for (size_t i = 0; i < why.n_filters; i++) {
        sum += why.filters[i]->cells;
        if (why.filters[i]->cells > 0) {
            buf_printf(&x->text, "; %s %u", why.filters[i]->filter, why.filters[i]->cells);
        }
    }
    assert_int_equal(sum, why.cells); /* each falls once */
    if (why.short_of_memory + why.short_of_disk + why.short_of_containers > 0) {
        buf_printf(&x->text, "; short of %u/%u/%u", why.short_of_memory, why.short_of_disk,
                   why.short_of_containers);
    }
    if (why.nearest) {
        const Auction__NearMiss *n = why.nearest;
        buf_printf(&x->text, "; nearest %s %s", n->cell_id, n->filter);
        if (strcmp(n->filter, "resources") == 0) {
            buf_printf(&x->text, " %d/%d/%d", n->lacks_memory_mb, n->lacks_disk_mb,
                       n->lacks_containers);
        }
        buf_printf(&x->text, *n->why ? " (%s)" : "%s", n->why);
    }
    if (why.slice) {
        buf_printf(&x->text, "; in %s of %s %d", why.slice->uid, why.slice->owner,
                   (int)why.slice->memory_mb);
    }
    for (size_t i = 0; why.kept && i < why.kept->n_slices; i++) {
        buf_printf(&x->text, "%s%s %d/%d/%d", i ? ", " : "; kept by ", why.kept->slices[i]->uid,
                   (int)why.kept->slices[i]->memory_mb, (int)why.kept->slices[i]->disk_mb,
                   (int)why.kept->slices[i]->containers);
    }
    if (why.kept) {
        buf_printf(&x->text, ": %d/%d/%d of %d/%d/%d, %u slices", (int)why.kept->kept_memory_mb,
                   (int)why.kept->kept_disk_mb, (int)why.kept->kept_containers,
                   (int)why.kept->free_memory_mb, (int)why.kept->free_disk_mb,
                   (int)why.kept->free_containers, why.kept->slice_count);
    }
    buf_append_string(&x->text, why.in_flight_limit ? "; limit in flight" : "");
    buf_append_string(&x->text, *why.zone ? "; only zone " : "");
    buf_append_string(&x->text, why.zone);
    return buf_string(&x->text);
}

static void no_cells(void **state)
{
    struct fixture *x = *state;
    assert_string_equal(explained(x), "0 cells, 0 fit");
}

static void cells_that_fit_need_no_nearest(void **state)
{
    struct fixture *x = *state;
    cell(x, "a");
    cell(x, "b")->availableresources->memorymb = 0;
    assert_string_equal(explained(x), "2 cells, 1 fit; resources 1; short of 1/0/0");
}

static void each_cell_falls_to_the_first_filter(void **state)
{
    struct fixture *x = *state;
    char **drivers;
    x->job.driver_count = cell_row_words(&x->arena, "nfs", &drivers);
    x->job.drivers = drivers;
    cell(x, "a");
    x->cells[0].unusable = "evacuating";
    x->cells[x->count++] = (struct why_cell){.id = "b", .unusable = "lost"};
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; unusable 2; nearest a unusable (evacuating)");
    cell(x, "c")->n_rootfsproviders = 0;
    assert_string_equal(explained(x), "3 cells, 0 fit; unusable 2; rootfs 1; nearest c rootfs");
    cell(x, "d");
    Cell__CellState *e = cell(x, "e");
    cell_row_drivers(&x->arena, e, "nfs");
    cell_row_tags(&x->arena, e, "t", "");
    assert_string_equal(explained(x), "5 cells, 0 fit; unusable 2; rootfs 1; volume_drivers 1; "
                                      "placement_tags 1; nearest e placement_tags");
    e->n_placementtags = 0;
    e->availableresources->containers = 0;
    assert_string_equal(explained(x), "5 cells, 0 fit; unusable 2; rootfs 1; volume_drivers 1; "
                                      "resources 1; short of 0/0/1; nearest e resources 0/0/1");
}

static void the_nearest_lacks_the_smallest_part_of_what_it_has(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *small = cell(x, "a"), *large = cell(x, "b");
    small->availableresources->memorymb = 80;
    large->totalresources->memorymb = 10000;
    large->availableresources->memorymb = 50; /* lacks more, but a smaller part */
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; resources 2; short of 2/0/0; nearest b resources 50/0/0");
    large->availableresources->diskmb = 0; /* the largest lack counts */
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; resources 2; short of 2/1/0; nearest a resources 20/0/0");
    /* A cell with a total of nothing never wins, whatever it says is free. */
    small->totalresources->diskmb = 0;
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; resources 2; short of 2/1/0; nearest a resources 20/0/0");
}

static void the_proxys_memory_counts_for_instances(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a");
    a->availableresources->memorymb = 120;
    a->proxymemoryallocationmb = 32;
    assert_string_equal(explained(x),
                        "1 cells, 0 fit; resources 1; short of 1/0/0; nearest a resources 12/0/0");
    x->job.kind = JOB_TASK;
    assert_string_equal(explained(x), "1 cells, 1 fit");
}

static void the_limit_in_flight(void **state)
{
    struct fixture *x = *state;
    cell(x, "a")->startingcontainercount = 2;
    x->rules.starting_container_maximum = 3;
    assert_string_equal(explained(x), "1 cells, 1 fit");
    x->rules.starting_container_maximum = 2;
    assert_string_equal(explained(x), "1 cells, 1 fit; limit in flight");
}

static void high_indices_have_one_zone(void **state)
{
    struct fixture *x = *state;
    static const char *const zones[] = {"z1", "z2"};
    x->rules.zones = zones;
    x->rules.zone_count = 2;
    cell(x, "a");
    cell(x, "b")->zone = arena_strdup(&x->arena, "z2");
    x->job.index = ZONE_LAST_FREE_INDEX;
    assert_string_equal(explained(x), "2 cells, 2 fit");
    x->job.index = ZONE_LAST_FREE_INDEX + 1;
    const char *zone = zones[zone_preferred("web", x->job.index, 2)];
    assert_string_equal(explained(x),
                        arena_printf(&x->arena, "2 cells, 1 fit; zone 1; only zone %s", zone));
    x->job.kind = JOB_TASK;
    assert_string_equal(explained(x), "2 cells, 2 fit");
}

/* ---- What slices keep free ------------------------------------------------------------------- */

static Board__SliceRecord *slice(struct fixture *x, const char *uid, uint32_t nodes)
{
    Board__SliceRecord *s = slice_row_new(&x->arena, uid, nodes, 100, "");
    x->slices[x->slice_count++] = s;
    return s;
}

static void what_slices_keep_is_told_in_numbers(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a");
    slice_row_use(&x->arena, slice(x, "u1", 4), "in");
    slice(x, "u2", 5);
    slice(x, "u3", 0);
    cell_row_lrp(&x->arena, a, "in");
    a->lrps[0]->memorymb = 100;
    a->availableresources->memorymb = 850;
    a->availableresources->containers = 99;
    x->cells[x->count++] = (struct why_cell){.id = "b", .unusable = "lost"};
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; unusable 1; slices 1; nearest a slices; kept by u2 "
                        "500/0/5, u1 300/0/3: 800/0/8 of 850/1000/99, 2 slices");
    x->job.memory_mb = 50;
    assert_string_equal(explained(x), "2 cells, 1 fit; unusable 1");
    x->job.memory_mb = 900; /* which it has not */
    assert_string_equal(explained(x), "2 cells, 0 fit; unusable 1; resources 1; short of 1/0/0; "
                                      "nearest a resources 50/0/0");
    x->job.guid = "in";
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; unusable 1; resources 1; short of 1/0/0; nearest a "
                        "resources 50/0/0; in u1 of owner of u1 300");
    x->job.memory_mb = 400; /* more than its slice has left, and u2 has the rest */
    assert_string_equal(explained(x),
                        "2 cells, 0 fit; unusable 1; slices 1; nearest a slices; in u1 of owner of "
                        "u1 300; kept by u2 500/0/5, u1 300/0/3: 800/0/8 of 850/1000/99, 2 slices");
    x->job.kind = JOB_TASK;
    assert_null(strstr(explained(x), "in u1"));
}

/* The bound: the largest are told, and how many there are. */
static void the_largest_slices_are_told(void **state)
{
    struct fixture *x = *state;
    char uid[8];
    cell(x, "a");
    for (uint32_t i = 1; i <= WHY_SLICES_MAX + 1; i++) {
        snprintf(uid, sizeof(uid), "u%u", i);
        slice(x, uid, i % 5 + 1);
    }
    assert_string_equal(explained(x),
                        "1 cells, 0 fit; slices 1; nearest a slices; kept by u4 500/0/5, u9 "
                        "500/0/5, u3 400/0/4, u8 400/0/4, u2 300/0/3, u7 300/0/3, u1 200/0/2, u6 "
                        "200/0/2: 2900/0/29 of 1000/1000/100, 9 slices");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(no_cells),
        TEST(cells_that_fit_need_no_nearest),
        TEST(each_cell_falls_to_the_first_filter),
        TEST(the_nearest_lacks_the_smallest_part_of_what_it_has),
        TEST(the_proxys_memory_counts_for_instances),
        TEST(the_limit_in_flight),
        TEST(high_indices_have_one_zone),
        TEST(what_slices_keep_is_told_in_numbers),
        TEST(the_largest_slices_are_told),
    };
    return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}

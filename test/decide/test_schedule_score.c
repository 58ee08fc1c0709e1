/* Which of the cells that may take a job wins (rep-auctioneer.md 5.2), and what comes of it for a
 * batch. */
#include "auctioneer/filter.h"
#include "common/base/random.h"
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>

static void diego_golden_values(void **state)
{
    struct schedule_rows *x = *state;
    static const struct {
        int32_t memory, disk, containers, starting;
        double lrp, task;
    } rows[] = {
        {1000, 1000, 100, 0, 1001.614000, 2000.103333},
        {500, 1000, 50, 2, 1002.447333, 2000.936667},
    };
    struct score_rules diego = {.scoring = SCORING_DIEGO,
                                .starting_container_weight = 0.25,
                                .bin_pack_first_fit_weight = 0.5};
    Cell__CellState *s = with_cell(x, "a", "z1");
    s->cell_index = 3;
    s->proxymemoryallocationmb = 32;
    cell_row_tasks(&x->arena, s, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        s->availableresources->memorymb = rows[i].memory;
        s->availableresources->diskmb = rows[i].disk;
        s->availableresources->containers = rows[i].containers;
        s->startingcontainercount = rows[i].starting;
        struct room r;
        room_init(&r, s);
        struct demand q = {JOB_LRP, 100, 200};
        char text[64];
        snprintf(text, sizeof(text), "%.6f", score_with(score_base(&r, &diego, &q), 1));
        assert_string_equal(text, arena_printf(&x->arena, "%.6f", rows[i].lrp));
        q.kind = JOB_TASK;
        snprintf(text, sizeof(text), "%.6f", score_base(&r, &diego, &q));
        assert_string_equal(text, arena_printf(&x->arena, "%.6f", rows[i].task));
    }
}

static void diego_does_not_take_the_proxys_memory_off(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    a->proxymemoryallocationmb = 50;
    a->availableresources->memorymb = 250;
    with_lrp(x, "web", 0);
    with_lrp(x, "web", 1);
    assert_string_equal(plan_of(x), "web/0=a web/1=(insufficient resources: memory)");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan_of(x), "web/0=a web/1=a");
}

static void bin_packing_fills_the_lowest_index_first(void **state)
{
    struct schedule_rows *x = *state;
    x->rules.score =
        (struct score_rules){.scoring = SCORING_DIEGO, .bin_pack_first_fit_weight = 1.0};
    with_cell(x, "a", "z1")->cell_index = 90;
    with_cell(x, "b", "z1")->cell_index = 70;
    with_cell(x, "c", "z1")->cell_index = 80;
    with_lrp(x, "one", 0);
    with_lrp(x, "three", 0);
    with_lrp(x, "two", 0);
    assert_string_equal(plan_of(x), "one/0=b three/0=b two/0=b");
}

static void the_emptiest_by_its_fullest_resource_wins(void **state)
{
    struct schedule_rows *x = *state;
    /* Diego's mean prefers a (0.1 + 0.7) to b (0.5 + 0.5); the largest prefers b. */
    Cell__CellState *a = with_cell(x, "a", "z1"), *b = with_cell(x, "b", "z1");
    a->availableresources->memorymb = 1000;
    a->availableresources->diskmb = 300;
    b->availableresources->memorymb = b->availableresources->diskmb = 500;
    with_lrp(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=b");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan_of(x), "web/0=a");
}

static void starting_containers_weigh_in_diego(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->startingcontainercount = 1;
    with_cell(x, "b", "z1")->availableresources->memorymb = 500;
    with_lrp(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=a");
    x->rules.score =
        (struct score_rules){.scoring = SCORING_DIEGO, .starting_container_weight = 0.25};
    assert_string_equal(plan_of(x), "web/0=b");
}

static void instances_of_a_process_go_apart(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_lrp(&x->arena, with_cell(x, "a", "z1"), "web");
    with_cell(x, "b", "z1")->availableresources->memorymb = 200;
    with_lrp(x, "web", 1);
    with_lrp(x, "web", 2);
    with_lrp(x, "web", 3);
    with_lrp(x, "db", 0);
    assert_string_equal(plan_of(x), "web/1=b web/2=a web/3=b db/0=a");
}

/* Those that are on machines count, as instances do; not what only has the same guid as a process.
 */
static void units_of_a_service_go_apart(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    cell_row_unit(&x->arena, a, "web");
    cell_row_unit(&x->arena, a, "web");
    with_cell(x, "b", "z1")->availableresources->memorymb = 300;
    Cell__CellState *c = with_cell(x, "c", "z2");
    cell_row_unit(&x->arena, c, "db");
    c->availableresources->memorymb = 200;
    with_unit(x, "web", 2);
    with_unit(x, "web", 3);
    with_unit(x, "web", 4);
    with_unit(x, "web", 5);
    assert_string_equal(plan_of(x), "web/2=c web/3=c web/4=b web/5=b");
    schedule_rows_clear(x);
    cell_row_unit(&x->arena, with_cell(x, "a", "z1"), "db");
    with_cell(x, "b", "z1")->availableresources->memorymb = 900;
    with_unit(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=a");
}

static void what_was_placed_before_in_the_auction_counts(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1")->availableresources->memorymb = 200;
    struct job *before = with_lrp(x, "web", 0);
    with_lrp(x, "web", 1);
    x->taken[x->taken_count++] = (struct schedule_taken){.job = before, .cell = 0};
    assert_string_equal(plan_of(x), "web/0=b web/1=a");
}

static void tasks_go_where_the_fewest_tasks_are(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_tasks(&x->arena, with_cell(x, "a", "z1"), 2);
    cell_row_tasks(&x->arena, with_cell(x, "b", "z2"), 1);
    with_task(x, "t1");
    with_task(x, "t2");
    with_task(x, "t3");
    assert_string_equal(plan_of(x), "t1/0=b t2/0=a t3/0=b");
}

/* Each of a few is a quarter of a full cell; more, or less than none, is nonsense. */
static void starts_that_failed_make_a_cell_worse(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1"), *b = with_cell(x, "b", "z1");
    with_task(x, "t");
    a->failedstarts = 1;
    b->availableresources->memorymb = 751;
    assert_string_equal(plan_of(x), "t/0=b");
    b->availableresources->memorymb = 749;
    assert_string_equal(plan_of(x), "t/0=a");
    b->availableresources->memorymb = 100; /* as full as can be: four are as bad */
    a->failedstarts = 3;
    assert_string_equal(plan_of(x), "t/0=a");
    a->failedstarts = 4;
    assert_string_equal(plan_of(x), "t/0=b");
    b->failedstarts = 4;
    a->failedstarts = INT32_MAX;
    assert_string_equal(plan_of(x), "t/0=a");
    b->failedstarts = INT32_MIN;
    assert_string_equal(plan_of(x), "t/0=b");
    b->availableresources->memorymb = 99; /* it is the only one with room */
    assert_string_equal(plan_of(x), "t/0=a");
}

/* However many: one that fails is taken before a second instance beside the first, or in its zone.
 */
static void failed_starts_do_not_outweigh_what_keeps_apart(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1"), *b = with_cell(x, "b", "z1");
    Cell__CellState *c = with_cell(x, "c", "z2");
    a->failedstarts = c->failedstarts = 4;
    a->availableresources->memorymb = 200; /* fuller than b as well */
    cell_row_lrp(&x->arena, b, "web");
    cell_row_lrp(&x->arena, c, "web");
    with_lrp(x, "web", 2);
    assert_string_equal(plan_of(x), "web/2=a");
    c->n_lrps = 0;
    assert_string_equal(plan_of(x), "web/2=c");
    cell_row_tags(&x->arena, a, "", "ssd");
    with_tags(x, &x->jobs[0], "ssd");
    assert_string_equal(plan_of(x), "web/2=a");
}

static void diego_knows_no_failed_starts(void **state)
{
    struct schedule_rows *x = *state;
    x->rules.score.scoring = SCORING_DIEGO;
    with_cell(x, "a", "z1")->failedstarts = 4;
    with_cell(x, "b", "z1")->availableresources->memorymb = 999;
    with_lrp(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=a");
}

/* An instance has crashed: its cell is empty, the other one has its sibling. */
static void what_is_over_holds_no_others_off(void **state)
{
    static const char *const over[] = {"CRASHED", "SHUTDOWN"};
    struct schedule_rows *x = *state;
    for (int i = 0; i < 2; i++) {
        arena_reset(&x->arena);
        schedule_rows_clear(x);
        x->rules.score.scoring = SCORING_LARGEST;
        Cell__CellState *a = with_cell(x, "a", "z1");
        a->availableresources->diskmb = 900; /* what it wrote is still there */
        cell_row_lrp_is(&x->arena, a, "web", over[i]);
        cell_row_lrp(&x->arena, with_cell(x, "b", "z1"), "web");
        with_lrp(x, "web", 0);
        assert_string_equal(plan_of(x), "web/0=a");
        /* So it is with zones. */
        a->zone = arena_strdup(&x->arena, "z2");
        assert_string_equal(plan_of(x), "web/0=a");
        /* Diego counts them in any state: one here, one there, and b has more disk. */
        x->rules.score.scoring = SCORING_DIEGO;
        assert_string_equal(plan_of(x), "web/0=b");
    }
}

static void a_task_that_is_over_holds_no_others_off(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1"), *b = with_cell(x, "b", "z1");
    cell_row_tasks(&x->arena, a, 2);
    cell_row_tasks(&x->arena, b, 1);
    a->tasks[0]->state = a->tasks[1]->state = arena_strdup(&x->arena, "Completed");
    b->tasks[0]->state = arena_strdup(&x->arena, "Running");
    with_task(x, "t");
    assert_string_equal(plan_of(x), "t/0=a");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan_of(x), "t/0=b");
}

static void equal_scores_go_to_the_lower_rank(void **state)
{
    struct schedule_rows *x = *state;
    static const uint32_t ranks[] = {1, 2, 0};
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z1");
    with_lrp(x, "p1", 0);
    with_lrp(x, "p2", 0);
    with_lrp(x, "p3", 0);
    with_lrp(x, "p4", 0);
    assert_string_equal(plan_of(x), "p1/0=a p2/0=b p3/0=c p4/0=a");
    x->ranks = ranks;
    assert_string_equal(plan_of(x), "p1/0=c p2/0=a p3/0=b p4/0=c");
}

static void a_total_of_nothing_never_wins(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    a->totalresources->memorymb = 0;
    with_lrp(x, "web", 0)->memory_mb = 0;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources)");
    a->availableresources->memorymb = 0;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources)");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources)");
    a->availableresources->memorymb = 100;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources)");
}

/* design.md 10: 1,000 mixed instances on 100 cells in 3 zones, in one batch: the coefficient of
 * variation of the memory used stays below 0.15. */
static void a_batch_spreads_memory_evenly(void **state)
{
    enum { CELLS = 100, PROCESSES = 100, INSTANCES = 10, JOBS = PROCESSES * INSTANCES };
    static const int32_t sizes[] = {64, 128, 256, 512, 1024};
    SCOPED_ARENA(a);
    struct random r;
    random_seed(&r, (uint64_t[2]){1, 2});
    struct schedule_cell *cells = ARENA_ARRAY(&a, CELLS, struct schedule_cell);
    for (int i = 0; i < CELLS; i++) {
        const char *id = arena_printf(&a, "cell-%03d", i);
        cells[i].state = cell_row_new(&a, id, arena_printf(&a, "z%d", i % 3), 32 * 1024, 64 * 1024);
    }
    struct job *jobs = ARENA_ARRAY(&a, JOBS, struct job);
    for (int i = 0; i < JOBS; i++) {
        bool first = i % INSTANCES == 0;
        jobs[i] = (struct job){
            .guid = arena_printf(&a, "p%d", i / INSTANCES),
            .index = i % INSTANCES,
            .root_fs = "preloaded:busybox",
            .memory_mb = first ? sizes[random_below(&r, 5)] : jobs[i - 1].memory_mb,
            .disk_mb = first ? (int32_t)random_below(&r, 1024) : jobs[i - 1].disk_mb,
        };
    }
    struct schedule_rules rules = {0};
    struct schedule_input in = {
        .rules = &rules, .cells = cells, .cell_count = CELLS, .jobs = jobs, .job_count = JOBS};
    struct decision *d = schedule(&a, &in);
    double used[CELLS] = {0}, sum = 0, squares = 0;
    for (int i = 0; i < JOBS; i++) {
        assert_in_range(d[i].cell, 0, CELLS - 1);
        used[d[i].cell] += jobs[i].memory_mb;
    }
    for (int i = 0; i < CELLS; i++) {
        sum += used[i];
        squares += used[i] * used[i];
    }
    double mean = sum / CELLS, variance = squares / CELLS - mean * mean;
    if (variance > 0.15 * 0.15 * mean * mean) {
        fail_msg("squared coefficient of variation %.4f", variance / (mean * mean));
    }
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(diego_golden_values),
        TEST(diego_does_not_take_the_proxys_memory_off),
        TEST(bin_packing_fills_the_lowest_index_first),
        TEST(the_emptiest_by_its_fullest_resource_wins),
        TEST(starting_containers_weigh_in_diego),
        TEST(instances_of_a_process_go_apart),
        TEST(units_of_a_service_go_apart),
        TEST(what_was_placed_before_in_the_auction_counts),
        TEST(tasks_go_where_the_fewest_tasks_are),
        TEST(starts_that_failed_make_a_cell_worse),
        TEST(failed_starts_do_not_outweigh_what_keeps_apart),
        TEST(diego_knows_no_failed_starts),
        TEST(what_is_over_holds_no_others_off),
        TEST(a_task_that_is_over_holds_no_others_off),
        TEST(equal_scores_go_to_the_lower_rank),
        TEST(a_total_of_nothing_never_wins),
        cmocka_unit_test(a_batch_spreads_memory_evenly),
    };
    return cmocka_run_group_tests_name("schedule: score", tests, NULL, NULL);
}

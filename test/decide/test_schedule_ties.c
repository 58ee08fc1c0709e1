/* Between equal cells chance decides, by the entropy of the step: each is as likely, the same
 * entropy gives the same, and what else the score says goes before. Prints its figures. */
#include "auctioneer/tie.h"
#include "common/base/random.h"
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

enum { CELLS = 3, TASKS = 30, SEEDS = 1000 };

/* As a step would: entropy of its own, from a seed. */
static void rank(struct schedule_rows *x, struct random *r)
{
    uint64_t entropy[2] = {random_next(r), random_next(r)};
    x->ranks = tie_ranks(&x->arena, entropy, x->cell_count);
}

static struct random seeded(uint64_t seed)
{
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, ~seed});
    return r;
}

static int place_one(struct schedule_rows *x)
{
    struct schedule_input in = schedule_rows_input(x);
    return schedule(&x->arena, &in)[0].cell;
}

/* The ranks are an order of the cells, the same for the same entropy; and each of the six orders of
 * three cells comes about as often: 6,000 draws, 1,000 of each expected with a deviation of 29. */
static void each_order_is_as_likely(void **state)
{
    struct schedule_rows *x = *state;
    unsigned orders[CELLS * CELLS * CELLS] = {0}, seen = 0;
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct random r = seeded(seed);
        uint64_t entropy[2] = {random_next(&r), random_next(&r)};
        uint32_t *ranks = tie_ranks(&x->arena, entropy, CELLS);
        assert_memory_equal(ranks, tie_ranks(&x->arena, entropy, CELLS), CELLS * sizeof(*ranks));
        assert_int_equal(1u << ranks[0] | 1u << ranks[1] | 1u << ranks[2], 7);
        orders[ranks[0] * 9 + ranks[1] * 3 + ranks[2]]++;
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        seen += orders[i] > 0;
        assert_true(orders[i] == 0 || (orders[i] > 800 && orders[i] < 1200));
    }
    assert_int_equal(seen, 6);
}

/* Tasks one after another, each over before the next comes, find the cells idle each time. Of one
 * seed a cell gets 10 of 30 with a deviation of 2.6; over all seeds 10,000 with one of 82. The
 * bounds are six of these away. */
static void tasks_one_after_another_go_to_all_idle_cells(void **state)
{
    struct schedule_rows *x = *state;
    unsigned sum[CELLS] = {0}, most = 0, least = TASKS;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        unsigned placed[CELLS] = {0};
        struct random r = seeded(seed);
        arena_reset(&x->arena);
        schedule_rows_clear(x);
        with_cell(x, "a", "z1");
        with_cell(x, "b", "z1");
        with_cell(x, "c", "z2");
        with_task(x, "t");
        for (int step = 0; step < TASKS; step++) {
            rank(x, &r);
            placed[place_one(x)]++;
        }
        for (int i = 0; i < CELLS; i++) {
            sum[i] += placed[i];
            most = placed[i] > most ? placed[i] : most;
            least = placed[i] < least ? placed[i] : least;
        }
    }
    print_message("%d tasks one after another on %d idle cells, %d seeds: a cell got %.2f, %.2f, "
                  "%.2f at the mean, %u at least, %u at most\n",
                  TASKS, CELLS, SEEDS, (double)sum[0] / SEEDS, (double)sum[1] / SEEDS,
                  (double)sum[2] / SEEDS, least, most);
    assert_true(most <= 25);
    for (int i = 0; i < CELLS; i++) {
        assert_in_range(sum[i], SEEDS * TASKS / CELLS - 490, SEEDS * TASKS / CELLS + 490);
    }
}

/* In Diego's scoring as well: there the first of equals in arbitrary order wins (5.2). */
static void so_they_do_in_diegos_scoring(void **state)
{
    struct schedule_rows *x = *state;
    unsigned placed[CELLS] = {0};
    struct random r = seeded(1);
    x->rules.score = (struct score_rules){.scoring = SCORING_DIEGO,
                                          .starting_container_weight = 0.25};
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z2");
    with_lrp(x, "web", 0);
    for (int step = 0; step < SEEDS; step++) {
        rank(x, &r);
        placed[place_one(x)]++;
    }
    for (int i = 0; i < CELLS; i++) {
        assert_in_range(placed[i], SEEDS / CELLS - 90, SEEDS / CELLS + 90);
    }
}

/* One MB less is worse, whatever is drawn. */
static void chance_decides_between_equals_only(void **state)
{
    struct schedule_rows *x = *state;
    struct random r = seeded(1);
    with_cell(x, "a", "z1")->availableresources->memorymb = 999;
    with_cell(x, "b", "z1");
    with_cell(x, "c", "z1");
    with_lrp(x, "web", 0);
    for (int step = 0; step < SEEDS; step++) {
        rank(x, &r);
        assert_int_not_equal(place_one(x), 0);
    }
}

/* The cells of a zone are renumbered, so that none of them are equal. */
static void bin_packing_leaves_nothing_to_chance(void **state)
{
    struct schedule_rows *x = *state;
    struct random r = seeded(1);
    x->rules.score.bin_pack_first_fit_weight = 1.0;
    with_cell(x, "a", "z1")->cell_index = 2;
    with_cell(x, "b", "z1")->cell_index = 1;
    with_cell(x, "c", "z1")->cell_index = 1;
    with_lrp(x, "web", 0);
    for (int step = 0; step < 100; step++) {
        rank(x, &r);
        assert_int_equal(place_one(x), 1);
    }
}

static void no_cell_and_one_cell_have_ranks_too(void **state)
{
    struct schedule_rows *x = *state;
    struct random r = seeded(1);
    with_lrp(x, "web", 0);
    rank(x, &r);
    assert_int_equal(place_one(x), -1);
    with_cell(x, "a", "z1");
    rank(x, &r);
    assert_int_equal(place_one(x), 0);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_order_is_as_likely),
        TEST(tasks_one_after_another_go_to_all_idle_cells),
        TEST(so_they_do_in_diegos_scoring),
        TEST(chance_decides_between_equals_only),
        TEST(bin_packing_leaves_nothing_to_chance),
        TEST(no_cell_and_one_cell_have_ranks_too),
    };
    return cmocka_run_group_tests_name("schedule: ties", tests, NULL, NULL);
}

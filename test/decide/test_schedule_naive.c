/* Placing gives what looking at every cell gives (naive_schedule.h): for random small worlds, and
 * for processes with more instances than the lower bound of their locality follows by itself. */
#include "auctioneer/filter.h"
#include "auctioneer/tie.h"
#include "common/base/random.h"
#include "test/decide/naive_schedule.h"
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static int32_t below(struct random *r, uint64_t bound)
{
    return (int32_t)random_below(r, bound);
}

static void random_cell(struct schedule_rows *x, struct random *r, int number, bool alike)
{
    static const char *const zone_names[] = {"z1", "z2", "z3", "z4"};
    static const char *const states[] = {"RUNNING", "CLAIMED", "CRASHED", "SHUTDOWN", ""};
    static const int32_t sizes[] = {0, 500, 2000, 4000, 1000, 2000};
    char id[32], guid[32];
    snprintf(id, sizeof(id), "cell-%02d", number);
    Cell__CellState *s = with_cell(x, id, zone_names[below(r, 4)]);
    s->totalresources->memorymb = sizes[below(r, 6)];
    s->availableresources->memorymb = below(r, (uint64_t)s->totalresources->memorymb + 1) / 50 * 50;
    s->availableresources->diskmb = below(r, 8) ? 1000 : below(r, 1001) / 50 * 50;
    s->availableresources->containers = below(r, 30);
    s->startingcontainercount = below(r, 3);
    s->failedstarts = below(r, 3) ? 0 : below(r, 8) - 1;
    s->cell_index = below(r, 5);
    s->proxymemoryallocationmb = below(r, 3) ? 0 : 32;
    cell_row_tags(&x->arena, s, below(r, 6) ? "" : "t1", below(r, 2) ? "" : "o1 o2");
    if (below(r, 2)) {
        cell_row_provider(&x->arena, s, "docker", "arbitrary", "");
    }
    if (below(r, 2)) {
        cell_row_drivers(&x->arena, s, "nfs");
    }
    cell_row_tasks(&x->arena, s, (size_t)below(r, 3));
    for (size_t i = 0; i < s->n_tasks; i++) {
        s->tasks[i]->state = arena_strdup(&x->arena, below(r, 2) ? "Running" : "Completed");
    }
    for (int i = below(r, 4); i > 0; i--) {
        snprintf(guid, sizeof(guid), "p%d", below(r, 4));
        cell_row_lrp_is(&x->arena, s, guid, states[below(r, 5)]);
    }
    x->cells[number].closed = below(r, 10) == 0;
    x->cells[number].machine = (struct machine_sight){
        .is = below(r, 2), .open = below(r, 4), .clean = below(r, 2), .number = (uint32_t)number};
    if (alike) {
        s->totalresources->memorymb = s->availableresources->memorymb = 2000;
        s->availableresources->diskmb = 1000;
        s->availableresources->containers = s->totalresources->containers;
        s->startingcontainercount = s->n_tasks = 0;
    }
}

static void random_job(struct schedule_rows *x, struct random *r, int number, bool uniform)
{
    static const char *const root_fs[] = {
        "preloaded:busybox", "preloaded:busybox", "preloaded:busybox", "preloaded:busybox",
        "docker:///x",       "docker:///y",       "docker:///y",       "foo:bar"};
    static const char *const tag_sets[] = {"", "", "", "", "", "", "t1", "t1 o1", "o2"};
    /* Usually all that a process asks for follows from its name. */
    int process = below(r, 4) + 4 * below(r, 20);
    struct random own;
    random_seed(&own, (uint64_t[2]){uniform ? 1 : (uint64_t)process, 7});
    struct random *of = uniform || below(r, 8) ? &own : r;
    struct job *j =
        with_lrp(x, arena_printf(&x->arena, "p%d", process % 4 + 4 * (process / 40)), number);
    if (below(r, 5) == 0) {
        j->kind = JOB_TASK;
        j->guid = arena_printf(&x->arena, "t%d", number);
        j->index = 0;
    }
    if (j->kind == JOB_LRP && below(r, 4) == 0) {
        j->kind = JOB_UNIT;
        j->guid = arena_printf(&x->arena, "s%s", j->guid);
        j->machine.only = below(of, 4) == 0;
        j->machine.number = (uint32_t)below(of, 4);
        j->machine.unused = below(of, 3) == 0;
    }
    j->root_fs = root_fs[below(of, 8)];
    j->memory_mb = below(of, 4) * 50;
    j->disk_mb = below(of, 3) * 50;
    with_tags(x, j, tag_sets[below(of, 9)]);
    if (below(of, 8) == 0) {
        with_drivers(x, j, "nfs");
    }
}

/* Some have one or more late cells, in any order; few have all. */
static void random_late(struct schedule_rows *x, struct random *r, struct job *j)
{
    if (below(r, 6)) {
        return;
    }
    size_t count = below(r, 4) ? 1 + (size_t)below(r, 3) : x->cell_count;
    uint32_t *late = ARENA_ARRAY(&x->arena, count, uint32_t);
    uint32_t first = (uint32_t)below(r, x->cell_count);
    j->late_count = count < x->cell_count ? count : x->cell_count;
    for (size_t i = 0; i < j->late_count; i++) {
        late[i] = (uint32_t)((first + i) % x->cell_count);
    }
    j->late = late;
}

/* Units of the services that jobs are of, on some cells. */
static void random_units(struct schedule_rows *x, uint64_t seed)
{
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, 11});
    for (size_t i = 0; i < x->cell_count; i++) {
        for (int n = below(&r, 4); n > 0; n--) {
            cell_row_unit(&x->arena, (Cell__CellState *)(uintptr_t)x->cells[i].state,
                          arena_printf(&x->arena, "sp%d", below(&r, 8)));
        }
    }
}

/* In every third world; what the cells hold is of some of them. */
static void random_slices(struct schedule_rows *x, uint64_t seed)
{
    static const char *const tag_sets[] = {"", "", "", "t1", "o1", "t1 o1"};
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, 13});
    for (int i = 0, n = seed % 3 ? 0 : below(&r, 5); i < n; i++) {
        Board__SliceRecord *s = with_slice(x, arena_printf(&x->arena, "u%d", i),
                                           1 + (uint32_t)below(&r, 8), 50 + below(&r, 8) * 50,
                                           tag_sets[below(&r, 6)]);
        s->node->disk_mb = below(&r, 3) * 100;
        s->node->containers = below(&r, 6);
        if (below(&r, 8) == 0) {
            s->n_cells = 1; /* whole cells */
            s->cells = ARENA_ARRAY(&x->arena, 1, char *);
            s->cells[0] = arena_strdup(&x->arena, "cell-00");
        }
        for (int p = i; p < 8; p += 5) {
            with_use(x, s, arena_printf(&x->arena, "p%d", p));
        }
    }
    for (size_t i = 0; i < x->cell_count; i++) {
        const Cell__CellState *s = x->cells[i].state;
        for (size_t k = 0; k < s->n_lrps; k++) {
            s->lrps[k]->memorymb = below(&r, 4) * 50;
            s->lrps[k]->diskmb = below(&r, 3) * 50;
        }
    }
}

static void random_world(struct schedule_rows *x, uint64_t seed)
{
    static const char *const zones[] = {"z1", "z2", "z3"};
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, ~seed}); /* the first draw is of the second half alone */
    arena_reset(&x->arena);
    schedule_rows_clear(x);
    x->rules = (struct schedule_rules){.zones = zones, .zone_count = below(&r, 2) ? 3 : 0};
    x->rules.score.scoring = below(&r, 2) ? SCORING_DIEGO : SCORING_LARGEST;
    x->rules.score.starting_container_weight = below(&r, 2) ? 0.25 : 0;
    x->rules.score.bin_pack_first_fit_weight = below(&r, 4) ? 0 : 0.5;
    x->rules.starting_container_maximum = below(&r, 8) ? 0 : below(&r, 40);
    for (int i = 0, cells = below(&r, 24); i < cells; i++) {
        random_cell(x, &r, i, seed % 4 == 2);
    }
    random_units(x, seed);
    random_slices(x, seed);
    /* All alike in every other world: long runs. */
    for (int i = 0, jobs = below(&r, SCHEDULE_ROWS_MAX - 4); i < jobs; i++) {
        random_job(x, &r, i, seed % 2);
    }
    for (int i = 0; i < (int)x->job_count && x->cell_count > 1; i++) {
        if (below(&r, 6) == 0) {
            uint32_t *barred = ARENA_ARRAY(&x->arena, 2, uint32_t);
            barred[0] = (uint32_t)below(&r, x->cell_count - 1);
            barred[1] = (uint32_t)x->cell_count - 1;
            x->jobs[i].barred = barred;
            x->jobs[i].barred_count = 1 + (size_t)below(&r, 2);
        }
        random_late(x, &r, &x->jobs[i]);
    }
    if (below(&r, 4)) {
        x->ranks = tie_ranks(&x->arena, (uint64_t[2]){seed, 3}, x->cell_count);
    }
    if (x->cell_count && x->job_count) {
        x->taken[x->taken_count++] =
            (struct schedule_taken){.job = &x->jobs[0], .cell = (size_t)below(&r, x->cell_count)};
    }
}

static void gives_what_looking_at_every_cell_gives(void **state)
{
    struct schedule_rows *x = *state;
    size_t placed = 0, refused = 0, drawn = 0, spared = 0, late = 0, other = 0, kept = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_world(x, seed);
        struct schedule_input in = schedule_rows_input(x);
        in.explains = true;
        struct decision *d = schedule(&x->arena, &in);
        size_t turns[SCHEDULE_ROWS_MAX];
        for (size_t i = 0; i < x->job_count; i++) {
            turns[d[i].turn] = i;
        }
        for (size_t i = 1; i < x->job_count; i++) {
            assert_true(naive_may_follow(&x->jobs[turns[i - 1]], &x->jobs[turns[i]]));
        }
        struct decision *plain = naive_schedule(&x->arena, &in, turns);
        for (size_t i = 0; i < x->job_count; i++) {
            if (d[i].cell != plain[i].cell || strcmp(d[i].refusal ? d[i].refusal : "",
                                                     plain[i].refusal ? plain[i].refusal : "")) {
                fail_msg("seed %llu job %zu: cell %d (%s), plainly %d (%s)",
                         (unsigned long long)seed, i, d[i].cell, d[i].refusal, plain[i].cell,
                         plain[i].refusal);
            }
            assert_int_equal(d[i].equals, plain[i].equals);
            assert_int_equal(d[i].spared, plain[i].spared);
            spared += d[i].spared >= 0;
            bool is_late = naive_is_late(&x->jobs[i], d[i].cell);
            late += is_late;
            other += x->jobs[i].late_count > 0 && d[i].cell >= 0 && !is_late;
            drawn += d[i].equals > 1;
            placed += d[i].cell >= 0;
            refused += d[i].cell < 0;
            kept += d[i].refusal && strcmp(d[i].refusal, FILTER_TEXT_KEPT) == 0;
        }
    }
    /* The worlds are neither all empty nor all full. */
    if (placed < 10000 || refused < 10000 || drawn < 1000 || spared < 1000 || late < 500 ||
        other < 500 || kept < 500) {
        fail_msg("%zu placed, %zu refused, %zu drawn, %zu spared, %zu late, %zu not though they "
                 "could, %zu kept off",
                 placed, refused, drawn, spared, late, other, kept);
    }
}

/* ---- Large processes ------------------------------------------------------------------------- */

/* A process with more instances than the lower bound of its locality follows by itself. `mixed`:
 * its jobs ask for different things, so that a cell too full for one may be free of the process. */
static void place_a_large_process(bool mixed)
{
    enum { CELLS = 100, JOBS = 1500 };
    SCOPED_ARENA(a);
    struct schedule_cell *cells = ARENA_ARRAY(&a, CELLS, struct schedule_cell);
    for (int i = 0; i < CELLS; i++) {
        Cell__CellState *s = cell_row_new(&a, arena_printf(&a, "cell-%03d", i),
                                          mixed || i % 3 ? "z1" : "z2", 1000 + i % 7 * 100, 100000);
        if (mixed && i % 5 == 0) {
            s->availableresources->memorymb = 80;
        }
        cells[i].state = s;
    }
    struct job *jobs = ARENA_ARRAY(&a, JOBS, struct job);
    size_t *turns = ARENA_ARRAY(&a, JOBS, size_t);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.guid = i % 10 ? "huge" : "other",
                               .index = i,
                               .root_fs = "preloaded:busybox",
                               .memory_mb = mixed && i > 400 ? 20 : 90};
    }
    struct schedule_rules rules = {0};
    struct schedule_input in = {.rules = &rules,
                                .cells = cells,
                                .cell_count = CELLS,
                                .jobs = jobs,
                                .job_count = JOBS,
                                .ranks = tie_ranks(&a, (uint64_t[2]){1, 2}, CELLS)};
    struct decision *d = schedule(&a, &in);
    size_t refused = 0;
    for (size_t i = 0; i < JOBS; i++) {
        turns[d[i].turn] = i;
        refused += d[i].cell < 0;
    }
    assert_true(mixed ? refused == 0 : refused > 0 && refused < JOBS / 2);
    struct decision *plain = naive_schedule(&a, &in, turns);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(d[i].cell, plain[i].cell);
    }
}

static void a_large_process_on_many_cells(void **state)
{
    place_a_large_process(false);
}

static void a_large_process_that_asks_for_different_things(void **state)
{
    place_a_large_process(true);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(gives_what_looking_at_every_cell_gives),
        cmocka_unit_test(a_large_process_on_many_cells),
        cmocka_unit_test(a_large_process_that_asks_for_different_things),
    };
    return cmocka_run_group_tests_name("schedule: naive", tests, NULL, NULL);
}

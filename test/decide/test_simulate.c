/* A dry run of an auction: cells and jobs before, what people read after. */
#include "auctioneer/cli/simulate_cells.h"
#include "auctioneer/cli/simulate_text.h"
#include "auctioneer/simulate.h"
#include "common/model/pool_tag.h"
#include "test/decide/cell_rows.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 8 };

struct fixture {
    struct arena arena;
    struct schedule_rules rules;
    struct why_cell cells[CELLS_MAX];
    size_t cell_count;
    struct job *jobs;
    size_t job_count;
    Board__SliceRecord *slices[CELLS_MAX];
    size_t slice_count;
    Auction__Simulation s;
    struct buf text;
    uint64_t seed;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    x->jobs = ARENA_ARRAY(&x->arena, SIMULATE_JOBS_MAX, struct job);
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

static Cell__CellState *cell(struct fixture *x, const char *id, const char *zone, int32_t memory_mb)
{
    Cell__CellState *s = cell_row_new(&x->arena, id, zone, 1000, 1000);
    s->availableresources->memorymb = memory_mb;
    x->cells[x->cell_count++] = (struct why_cell){.id = id, .state = s};
    return s;
}

static void job(struct fixture *x, enum job_kind kind, const char *guid, int32_t index,
                int32_t memory_mb, int32_t disk_mb)
{
    x->jobs[x->job_count++] = (struct job){.kind = kind,
                                           .guid = guid,
                                           .index = index,
                                           .root_fs = "preloaded:busybox",
                                           .memory_mb = memory_mb,
                                           .disk_mb = disk_mb};
}

/* Of the service `web`. */
static struct job *unit(struct fixture *x, uint32_t number, struct machine_wish wish)
{
    job(x, JOB_UNIT, "guid-of-web", (int32_t)number, 100, 100);
    struct job *j = &x->jobs[x->job_count - 1];
    j->unit = arena_printf(&x->arena, "web/%u", number);
    j->machine = wish;
    return j;
}

static void machine(struct fixture *x, const char *cell_id, uint32_t number, const char *state,
                    bool cordoned, bool clean, bool down)
{
    Board__MachineRecord m = BOARD__MACHINE_RECORD__INIT;
    Board__MachineEntry e = BOARD__MACHINE_ENTRY__INIT, *list = &e;
    m.cell_id = (char *)(uintptr_t)cell_id;
    m.state = (char *)(uintptr_t)state;
    m.number = number;
    m.host_units = true;
    m.cordoned = cordoned;
    m.clean = clean;
    e.machine = &m;
    e.down = down;
    simulate_machines(x->cells, x->cell_count, &list, 1);
}

static void pool(struct fixture *x, const char *cell_id, const char *tag, bool leaves)
{
    Models__CellPresence p = MODELS__CELL_PRESENCE__INIT;
    Board__CellStatus s = BOARD__CELL_STATUS__INIT, *list = &s;
    p.cell_id = (char *)(uintptr_t)cell_id;
    s.presence = &p;
    s.pool = (char *)(uintptr_t)tag;
    s.pool_leaves = leaves;
    simulate_pools(&x->arena, x->cells, x->cell_count, &list, 1);
}

static const char *told(struct fixture *x)
{
    struct simulate_input in = {.rules = &x->rules,
                                .cells = x->cells,
                                .cell_count = x->cell_count,
                                .jobs = x->jobs,
                                .job_count = x->job_count,
                                .slices = (const Board__SliceRecord *const *)x->slices,
                                .slice_count = x->slice_count,
                                .seed = x->seed};
    simulate(&x->arena, &in, &x->s);
    buf_clear(&x->text);
    simulate_text(&x->arena, &x->s, &x->text);
    return buf_string(&x->text);
}

/* In the order of the auction: index 0, tasks, the other instances. Each sees the cells as the ones
 * before it left them. */
static void places_as_an_auction_would(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z2", 400);
    cell(x, "b", "z1", 1000);
    x->cells[x->cell_count++] = (struct why_cell){.id = "c", .unusable = "no answer in time"};
    for (int32_t i = 0; i < 5; i++) {
        job(x, JOB_LRP, "web", i, 300, 100);
    }
    job(x, JOB_TASK, "backup", 0, 50, 2000);
    assert_string_equal(told(x),
                        "WHAT         CELL  ZONE  WHY\n"
                        "web/0        b     z1    fits 2 cells; score 0.300\n"
                        "task backup  -     -     insufficient resources: disk\n"
                        "    of 3 cells: 1 cannot be used now, 2 without the room\n"
                        "    it wants 50 MB of memory and 2000 MB of disk\n"
                        "    the nearest is a, which lacks 1000 MB of disk\n"
                        "web/1        a     z2    fits 2 cells; score 0.900\n"
                        "web/2        b     z1    fits 1 cell; score 1000.600\n"
                        "web/3        b     z1    fits 1 cell; score 2000.900\n"
                        "web/4        -     -     insufficient resources: memory\n"
                        "    of 3 cells: 1 cannot be used now, 2 without the room\n"
                        "    it wants 300 MB of memory and 100 MB of disk\n"
                        "    the nearest is a, which lacks 200 MB of memory\n"
                        "\n"
                        "CELL  ZONE  PLACED  FREE MEMORY/MB  FREE DISK/MB  FREE CONTAINERS\n"
                        "a     z2    1       100 of 1000     900 of 1000   99 of 100\n"
                        "b     z1    3       100 of 1000     700 of 1000   97 of 100\n"
                        "c     -     -       -               -             -\n"
                        "    not usable: no answer in time\n"
                        "\n"
                        "4 would be placed, 2 not; nothing was changed\n");
}

/* What is placed on the way counts for its slice, and is free no more. */
static void tells_what_slices_keep(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000);
    x->slices[x->slice_count++] = slice_row_new(&x->arena, "u1", 5, 100, "");
    slice_row_use(&x->arena, x->slices[0], "in");
    x->slices[x->slice_count++] = slice_row_new(&x->arena, "u2", 1, 300, "");
    job(x, JOB_LRP, "in", 0, 400, 100);
    job(x, JOB_LRP, "in", 1, 400, 100);
    job(x, JOB_LRP, "out", 0, 200, 100);
    job(x, JOB_LRP, "out", 1, 100, 100);
    assert_string_equal(
        told(x), "WHAT   CELL  ZONE  WHY\n"
                 "in/0   a     z1    fits 1 cell; score 0.400\n"
                 "out/0  a     z1    fits 1 cell; score 0.600\n"
                 "in/1   -     -     insufficient resources: what is free is kept for slices\n"
                 "    of 1 cell: 1 whose room is kept for slices\n"
                 "    it is in the slice of owner of u1, which does not use 100 MB of memory, 0 MB "
                 "of disk, 4 containers\n"
                 "    it wants 400 MB of memory and 100 MB of disk\n"
                 "    slices keep what is free: 400 MB of memory wanted, 400 free, 400 of it "
                 "reserved and not used\n"
                 "    reserved and not used: owner of u2 has 300 MB of memory, 0 MB of disk, 1 "
                 "container; owner of u1 has 100 MB of memory, 0 MB of disk, 4 containers\n"
                 "    the nearest is a\n"
                 "out/1  -     -     insufficient resources: what is free is kept for slices\n"
                 "    of 1 cell: 1 whose room is kept for slices\n"
                 "    it wants 100 MB of memory and 100 MB of disk\n"
                 "    slices keep what is free: 100 MB of memory wanted, 400 free, 400 of it "
                 "reserved and not used\n"
                 "    reserved and not used: owner of u2 has 300 MB of memory, 0 MB of disk, 1 "
                 "container; owner of u1 has 100 MB of memory, 0 MB of disk, 4 containers\n"
                 "    the nearest is a\n"
                 "\n"
                 "CELL  ZONE  PLACED  FREE MEMORY/MB  FREE DISK/MB  FREE CONTAINERS\n"
                 "a     z1    2       400 of 1000     800 of 1000   98 of 100\n"
                 "\n"
                 "2 would be placed, 2 not; nothing was changed\n");
}

/* Chance has its part in the explanation; the same seed tells the same, another may tell another.
 */
static void tells_what_was_drawn(void **state)
{
    struct fixture *x = *state;
    bool seen[3] = {false};
    cell(x, "a", "z1", 1000);
    cell(x, "b", "z1", 1000);
    cell(x, "c", "z1", 999);
    job(x, JOB_TASK, "t", 0, 100, 100);
    for (x->seed = 0; x->seed < 64; x->seed++) {
        const char *first = arena_strdup(&x->arena, told(x));
        assert_string_equal(told(x), first);
        seen[x->s.jobs[0]->cell_id[0] - 'a'] = true;
        assert_non_null(strstr(first, "fits 3 cells; score 0.100, drawn from 2 equal ones\n"));
    }
    assert_true(seen[0] && seen[1] && !seen[2]);
}

static void tells_what_failed_starts_make_of_it(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000)->failedstarts = 3;
    cell(x, "b", "z1", 900);
    job(x, JOB_TASK, "t", 0, 100, 100);
    job(x, JOB_LRP, "web", 1, 850, 100);
    assert_string_equal(
        told(x), "WHAT    CELL  ZONE  WHY\n"
                 "task t  b     z1    fits 2 cells; score 0.200\n"
                 "    a would be chosen but for its failed starts\n"
                 "web/1   a     z1    fits 1 cell; score 1.600\n"
                 "    of the score 0.750 is for a: its last 3 starts failed at once\n"
                 "\n"
                 "CELL  ZONE  PLACED  FREE MEMORY/MB  FREE DISK/MB  FREE CONTAINERS\n"
                 "a     z1    1       150 of 1000     900 of 1000   99 of 100\n"
                 "    its last 3 starts failed at once: it counts as worse by 0.750 for a while\n"
                 "b     z1    1       800 of 1000     900 of 1000   99 of 100\n"
                 "\n"
                 "2 would be placed, 0 not; nothing was changed\n");
    x->rules.score.scoring = SCORING_DIEGO; /* which knows none of it */
    assert_null(strstr(told(x), "failed"));
}

/* Of a group of zones: the other zone has one of them already, so its cell is not as good. */
static void draws_among_the_zones_that_are_tried_together(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000);
    cell(x, "b", "z1", 1000);
    cell(x, "c", "z2", 1000);
    cell_row_lrp(&x->arena, cell(x, "d", "z2", 1000), "web");
    job(x, JOB_LRP, "web", 1, 100, 100);
    assert_non_null(strstr(told(x), "fits 4 cells; score 0.100, drawn from 2 equal ones\n"));
}

static void nothing_to_place_and_no_cell(void **state)
{
    struct fixture *x = *state;
    assert_non_null(strstr(told(x), "0 would be placed, 0 not"));
    job(x, JOB_LRP, "web", 0, 1, 1);
    assert_non_null(
        strstr(told(x), "web/0  -     -     unable to communicate to compatible cells"));
    x->cells[x->cell_count++] = (struct why_cell){.id = "c"};
    assert_non_null(strstr(told(x), "not usable: not known"));
}

/* rep-auctioneer.md 5.2, its golden values. */
static void tells_the_score_that_decided(void **state)
{
    struct fixture *x = *state;
    x->rules.score = (struct score_rules){.scoring = SCORING_DIEGO,
                                          .starting_container_weight = 0.25,
                                          .bin_pack_first_fit_weight = 0.5};
    for (int kind = JOB_LRP; kind <= JOB_TASK; kind++) {
        x->cell_count = x->job_count = 0;
        Cell__CellState *s = cell(x, "a", "z1", 500);
        s->availableresources->containers = 50;
        s->startingcontainercount = 2;
        s->cell_index = 3;
        s->proxymemoryallocationmb = 32;
        cell_row_lrp(&x->arena, s, "web");
        cell_row_tasks(&x->arena, s, 2);
        job(x, (enum job_kind)kind, "web", 1, 100, 200);
        /* The only cell of its zone: bin packing counts it as the first, not as cell_index 3. */
        assert_non_null(strstr(told(x), kind == JOB_LRP ? "score 1000.947" : "score 2000.937"));
    }
}

static void says_which_zone_is_the_only_one(void **state)
{
    struct fixture *x = *state;
    static const char *const zones[] = {"z9"};
    x->rules.zones = zones;
    x->rules.zone_count = 1;
    cell(x, "a", "z1", 1000);
    job(x, JOB_LRP, "web", 2, 10, 10);
    const char *text = told(x);
    assert_non_null(strstr(text, "of 1 cell: 1 in another zone\n    it may go to zone z9 only\n"));
}

/* The instances of a process share their explanation, and so many are explained. */
static void so_many_are_explained(void **state)
{
    struct fixture *x = *state;
    char *guids[SIMULATE_EXPLAINED_MAX + 2];
    cell(x, "a", "z1", 0);
    for (size_t i = 0; i < SIMULATE_EXPLAINED_MAX + 2; i++) {
        guids[i] = arena_printf(&x->arena, "p%03zu", i);
        job(x, JOB_LRP, guids[i], 0, 10, 10);
    }
    for (int32_t i = 1; i < 10; i++) {
        job(x, JOB_LRP, guids[0], i, 10, 10);
    }
    told(x);
    size_t explained = 0;
    for (size_t i = 0; i < x->s.n_jobs; i++) {
        explained += x->s.jobs[i]->why != NULL;
        assert_string_equal(x->s.jobs[i]->reason, "insufficient resources: memory");
    }
    assert_int_equal(explained, SIMULATE_EXPLAINED_MAX);
    x->job_count = 0;
    for (int32_t i = 0; i < 10; i++) {
        job(x, JOB_LRP, guids[0], i, 10, 10);
    }
    told(x);
    assert_non_null(x->s.jobs[0]->why);
    assert_null(x->s.jobs[1]->why);
}

/* At its bounds it is done, and the sums are right. */
static void as_many_as_it_takes(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000);
    cell(x, "b", "z1", 1000);
    for (int32_t i = 0; i < SIMULATE_JOBS_MAX; i++) {
        job(x, JOB_LRP, "web", i, 10, 10);
    }
    told(x);
    assert_int_equal(x->s.n_jobs, SIMULATE_JOBS_MAX);
    assert_int_equal(x->s.placed, 200);
    assert_int_equal(x->s.refused, SIMULATE_JOBS_MAX - 200);
}

/* docs/units.md, Placement: after index 0, before tasks, apart from the others of their service,
 * those that cells have among them. */
static void units_go_where_machines_take_them(void **state)
{
    struct fixture *x = *state;
    cell_row_unit(&x->arena, cell(x, "a", "z1", 1000), "guid-of-web");
    cell(x, "b", "z1", 900);
    cell(x, "c", "z1", 1000);
    machine(x, "a", 4, "alive", false, false, false);
    machine(x, "c", 5, "alive", true, true, false);
    unit(x, 1, (struct machine_wish){0});
    unit(x, 2, (struct machine_wish){0});
    job(x, JOB_TASK, "t", 0, 10, 10);
    job(x, JOB_LRP, "app", 0, 10, 10);
    assert_string_equal(
        told(x), "WHAT        CELL  ZONE  WHY\n"
                 "app/0       a     z1    fits 3 cells; score 0.010, drawn from 2 equal ones\n"
                 "unit web/1  b     z1    fits 2 cells; score 0.200\n"
                 "unit web/2  a     z1    fits 2 cells; score 1000.110\n"
                 "task t      c     z1    fits 3 cells; score 0.010\n"
                 "\n"
                 "CELL  ZONE  MACHINE            PLACED  FREE MEMORY/MB  FREE DISK/MB  FREE "
                 "CONTAINERS\n"
                 "a     z1    4                  2       890 of 1000     890 of 1000   98 of 100\n"
                 "b     z1    -                  1       800 of 1000     900 of 1000   99 of 100\n"
                 "c     z1    5, unused, closed  1       990 of 1000     990 of 1000   99 of 100\n"
                 "\n"
                 "4 would be placed, 0 not; nothing was changed\n");
}

/* Each unused machine gets one; those that are left are told why. */
static void units_that_ask_for_machines(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000);
    cell(x, "b", "z1", 1000);
    cell(x, "c", "z1", 1000);
    machine(x, "a", 4, "alive", false, true, false);
    machine(x, "b", 5, "alive", false, false, false);
    unit(x, 0, (struct machine_wish){.unused = true});
    unit(x, 1, (struct machine_wish){.unused = true});
    unit(x, 2, (struct machine_wish){.unused = true});
    unit(x, 3, (struct machine_wish){.unused = true});
    unit(x, 4, (struct machine_wish){.only = true, .number = 5});
    unit(x, 5, (struct machine_wish){.only = true, .number = 9});
    unit(x, 6, (struct machine_wish){.only = true}); /* 0 is a machine as others */
    const char *text = told(x);
    assert_int_equal(x->s.placed, 3);
    assert_string_not_equal(x->s.jobs[0]->cell_id, "b");
    assert_string_not_equal(x->s.jobs[1]->cell_id, "b");
    assert_string_equal(x->s.jobs[4]->cell_id, "b");
    assert_non_null(strstr(text, "unit web/2  -     -     insufficient machines that never had a "
                                 "unit\n"
                                 "    of 3 cells: 3 whose machine takes no such unit\n"));
    assert_null(x->s.jobs[3]->why); /* the same */
    assert_non_null(
        strstr(text, "unit web/5  -     -     found no compatible cell that is machine 9, open to "
                     "units\n"
                     "    of 3 cells: 3 whose machine takes no such unit\n"));
    assert_non_null(x->s.jobs[6]->why);
    assert_string_equal(x->s.jobs[6]->why->unit, "web/6");
}

/* By the board: of what died or is another's now nothing stays, the newest counts. */
static void machines_are_those_that_cells_are_now(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1", 1000);
    machine(x, "a", 3, "alive", false, true, true);
    assert_false(x->cells[0].machine.is);
    machine(x, "no such cell", 3, "alive", false, true, false);
    assert_false(x->cells[0].machine.is);
    machine(x, "a", 3, "dying", false, false, false);
    assert_true(x->cells[0].machine.is && !x->cells[0].machine.open);
    machine(x, "a", 7, "alive", false, true, false);
    machine(x, "a", 5, "alive", true, false, false);
    assert_int_equal(x->cells[0].machine.number, 7);
    assert_true(x->cells[0].machine.open && x->cells[0].machine.clean);
}

#define POOL "pool:6f0c-2a//:main#1"
#define NEXT "pool:6f0c-2a//:main#2"
#define OTHER "pool:77aa-01//:main#1"

/* docs/systems.md, Node pools: what is for the pool goes there alone, and nothing else does. */
static void node_pools_have_whole_cells(void **state)
{
    struct fixture *x = *state;
    static char *const tags[] = {(char *)(uintptr_t)POOL};
    const char *tag;
    struct err err;
    cell_row_tags(&x->arena, cell(x, "a", "z1", 1000), OTHER, ""); /* nobody believes it */
    cell_row_tags(&x->arena, cell(x, "b", "z1", 1000), "", "type:small");
    cell(x, "c", "z1", 1000);
    pool(x, "a", "", false);
    pool(x, "b", POOL, false);
    pool(x, "c", POOL, true);
    pool(x, "no such cell", NEXT, false);
    assert_int_equal(simulate_pool_tag(&x->arena, x->cells, x->cell_count, "/:main", &tag, &err),
                     0);
    assert_string_equal(tag, POOL);
    for (int32_t i = 0; i < 2; i++) {
        job(x, JOB_LRP, "api", i, 100, 100);
        x->jobs[x->job_count - 1].tags = tags;
        x->jobs[x->job_count - 1].tag_count = 1;
    }
    job(x, JOB_LRP, "web", 0, 100, 100);
    job(x, JOB_LRP, "web", 1, 1000, 100);
    assert_string_equal(
        told(x),
        "WHAT   CELL  ZONE  WHY\n"
        "api/0  b     z1    fits 1 cell; score 0.100\n"
        "web/0  a     z1    fits 1 cell; score 0.100\n"
        "web/1  -     -     insufficient resources: memory\n"
        "    of 3 cells: 1 cannot be used now, 1 without the placement tags, 1 without the "
        "room\n"
        "    it wants no placement tags\n"
        "    it wants 1000 MB of memory and 100 MB of disk\n"
        "    the nearest is a, which lacks 100 MB of memory\n"
        "api/1  b     z1    fits 1 cell; score 1000.200\n"
        "\n"
        "CELL  ZONE  POOL               PLACED  FREE MEMORY/MB  FREE DISK/MB  FREE "
        "CONTAINERS\n"
        "a     z1    -                  1       900 of 1000     900 of 1000   99 of 100\n"
        "b     z1    /:main of 6f0c-2a  2       800 of 1000     800 of 1000   98 of 100\n"
        "c     -     -                  -       -               -             -\n"
        "    not usable: its node pool gives it back\n"
        "\n"
        "3 would be placed, 1 not; nothing was changed\n");
}

static void a_pool_is_named(void **state)
{
    struct fixture *x = *state;
    const char *tag = NULL;
    struct err err;
    cell_row_tags(&x->arena, cell(x, "a", "z1", 1000), NEXT, "");
    cell_row_tags(&x->arena, cell(x, "b", "z1", 1000), POOL, "");
    x->cells[x->cell_count++] = (struct why_cell){.id = "c"};
    struct arena *a = &x->arena;
    assert_int_equal(simulate_pool_tag(a, x->cells, 3, "/:main", &tag, &err), 0);
    assert_string_equal(tag, NEXT); /* the newest */
    assert_int_equal(simulate_pool_tag(a, x->cells, 3, POOL, &tag, &err), 0);
    assert_string_equal(tag, POOL);
    assert_int_equal(simulate_pool_tag(a, x->cells, 3, "/:small", &tag, &err), -ERR_INVALID);
    assert_string_equal(err.text, "--pool /:small: no cell is of such a node pool; bbs cells shows "
                                  "which are");
    cell_row_tags(&x->arena, cell(x, "d", "z1", 1000), OTHER, "");
    assert_int_equal(simulate_pool_tag(a, x->cells, 4, "/:main", &tag, &err), -ERR_INVALID);
    assert_string_equal(err.text, "--pool /:main: two systems have such a pool; give the tag, " NEXT
                                  " or " OTHER);
    assert_int_equal(simulate_pool_tag(a, x->cells, 4, OTHER, &tag, &err), 0);
    assert_string_equal(tag, OTHER);
}

/* New units of a service that cells have units of are of that one. */
static void a_service_is_known_by_its_units(void **state)
{
    struct fixture *x = *state;
    static const char *const units[] = {"web/3", "web/11", "webs/40", "nonsense", "web/4294967295"};
    Cell__CellState *s = cell(x, "a", "z1", 1000);
    x->cells[x->cell_count++] = (struct why_cell){.id = "b"};
    struct simulated_service found = simulate_service(&x->arena, x->cells, x->cell_count, "web");
    assert_string_equal(found.guid, "web");
    assert_int_equal(found.next, 0);
    s->units = ARENA_ARRAY(&x->arena, 5, Cell__UnitHere *);
    for (; s->n_units < 5; s->n_units++) {
        Cell__UnitHere *u = s->units[s->n_units] = ARENA_NEW(&x->arena, Cell__UnitHere);
        cell__unit_here__init(u);
        u->unit = (char *)(uintptr_t)units[s->n_units];
        u->service_guid = (char *)(uintptr_t)(s->n_units == 2 ? "other" : "guid-of-web");
    }
    found = simulate_service(&x->arena, x->cells, x->cell_count, "web");
    assert_string_equal(found.guid, "guid-of-web");
    assert_int_equal(found.next, 12);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(places_as_an_auction_would),
        TEST(tells_what_slices_keep),
        TEST(nothing_to_place_and_no_cell),
        TEST(tells_what_failed_starts_make_of_it),
        TEST(tells_what_was_drawn),
        TEST(draws_among_the_zones_that_are_tried_together),
        TEST(tells_the_score_that_decided),
        TEST(says_which_zone_is_the_only_one),
        TEST(so_many_are_explained),
        TEST(as_many_as_it_takes),
        TEST(units_go_where_machines_take_them),
        TEST(units_that_ask_for_machines),
        TEST(machines_are_those_that_cells_are_now),
        TEST(node_pools_have_whole_cells),
        TEST(a_pool_is_named),
        TEST(a_service_is_known_by_its_units),
    };
    return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}

/* Placing: before (cells), when (jobs), plan (where each goes, or the text of its refusal). Numbers
 * in brackets are sections of rep-auctioneer.md. */
#include "auctioneer/filter.h"
#include "auctioneer/schedule.h"
#include "auctioneer/zone.h"
#include "common/base/bytes.h"
#include "common/base/random.h"
#include "test/decide/cell_rows.h"
#include "test/decide/naive_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MAX = 64 };

struct fixture {
    struct arena arena;
    struct schedule_rules rules;
    struct schedule_cell cells[ROWS_MAX];
    size_t cell_count;
    struct job jobs[ROWS_MAX];
    size_t job_count;
    struct schedule_taken taken[ROWS_MAX];
    size_t taken_count;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
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

static void begin(struct fixture *x)
{
    x->cell_count = x->job_count = x->taken_count = 0;
}

static Cell__CellState *cell(struct fixture *x, const char *cell_id, const char *zone)
{
    Cell__CellState *s = cell_row(&x->arena, cell_id, zone, 1000, 1000);
    x->cells[x->cell_count++] = (struct schedule_cell){.state = s};
    return s;
}

static struct job *lrp(struct fixture *x, const char *process_guid, int32_t index)
{
    struct job *j = &x->jobs[x->job_count++];
    *j = (struct job){.guid = process_guid,
                      .index = index,
                      .root_fs = "preloaded:busybox",
                      .memory_mb = 100,
                      .disk_mb = 100};
    return j;
}

static struct job *task(struct fixture *x, const char *guid)
{
    struct job *j = lrp(x, guid, 0);
    j->kind = JOB_TASK;
    return j;
}

static void tags(struct fixture *x, struct job *j, const char *words)
{
    char **list;
    j->tag_count = cell_row_words(&x->arena, words, &list);
    j->tags = list;
}

static struct decision *decide(struct fixture *x)
{
    struct schedule_input in = {.rules = &x->rules,
                                .cells = x->cells,
                                .cell_count = x->cell_count,
                                .jobs = x->jobs,
                                .job_count = x->job_count,
                                .taken = x->taken,
                                .taken_count = x->taken_count};
    return schedule(&x->arena, &in);
}

/* "web/0=a db/0=(insufficient resources)", in the order of the jobs. */
static const char *plan(struct fixture *x)
{
    struct decision *d = decide(x);
    buf_clear(&x->text);
    for (size_t i = 0; i < x->job_count; i++) {
        buf_printf(&x->text, "%s%s/%d=", i ? " " : "", x->jobs[i].guid, x->jobs[i].index);
        if (d[i].cell < 0) {
            buf_printf(&x->text, "(%s)", d[i].refusal);
        } else {
            assert_null(d[i].refusal);
            buf_append_string(&x->text, x->cells[d[i].cell].state->cell_id);
        }
    }
    return buf_string(&x->text);
}

/* The same in the order of deciding, only the names. */
static const char *order(struct fixture *x)
{
    struct decision *d = decide(x);
    buf_clear(&x->text);
    for (uint32_t turn = 0; turn < x->job_count; turn++) {
        for (size_t i = 0; i < x->job_count; i++) {
            if (d[i].turn == turn) {
                buf_printf(&x->text, "%s%s/%d", turn ? " " : "", x->jobs[i].guid,
                           x->jobs[i].index);
            }
        }
    }
    return buf_string(&x->text);
}

/* ---- 5.1 Limits and filters ------------------------------------------------------------------ */

static void without_cells_nothing_is_placed(void **state)
{
    struct fixture *x = *state;
    lrp(x, "web", 0);
    task(x, "t");
    x->rules.starting_container_maximum = 1;
    assert_string_equal(plan(x), "web/0=(unable to communicate to compatible cells) "
                                 "t/0=(unable to communicate to compatible cells)");
    cell(x, "a", "z1");
    x->cells[0].closed = true;
    assert_string_equal(plan(x), "web/0=(unable to communicate to compatible cells) "
                                 "t/0=(unable to communicate to compatible cells)");
}

static void the_limit_in_flight_counts_what_starts_and_what_was_placed(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1")->startingcontainercount = 1;
    cell(x, "b", "z1")->startingcontainercount = 1;
    lrp(x, "web", 0);
    lrp(x, "web", 1);
    x->rules.starting_container_maximum = 3;
    assert_string_equal(plan(x),
                        "web/0=a web/1=(waiting to start instance: reached in-flight start limit)");
    x->rules.starting_container_maximum = 4;
    assert_string_equal(plan(x), "web/0=a web/1=b");
    x->rules.starting_container_maximum = -1;
    assert_string_equal(plan(x), "web/0=a web/1=b");
    x->rules.starting_container_maximum = 3;
    x->taken[x->taken_count++] = (struct schedule_taken){.job = &x->jobs[0], .cell = 0};
    assert_string_equal(plan(x),
                        "web/0=(waiting to start instance: reached in-flight start limit) "
                        "web/1=(waiting to start instance: reached in-flight start limit)");
}

static void root_filesystems(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *root_fs;
        bool matches;
    } rows[] = {
        {"preloaded:busybox", true},
        {"preloaded:busybox?tag=1", true},
        {"preloaded:linux", false},
        {"preloaded:busy", false},
        {"preloaded:busyboxes", false},
        {"preloaded://linux", false},
        {"preloaded+layer:linux?layer=x", true},
        {"preloaded+layer:busybox", false},
        {"docker:///x", true},
        {"docker:", true},
        {"foo:bar", false},
        {"busybox", false},
        {":busybox", false},
        {"", false},
    };
    Cell__CellState *s = cell(x, "a", "z1");
    cell_row_provider(&x->arena, s, "preloaded+layer", "fixed_set", "linux mac");
    cell_row_provider(&x->arena, s, "docker", "arbitrary", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->job_count = 0;
        lrp(x, "web", 0)->root_fs = rows[i].root_fs;
        assert_string_equal(plan(x), rows[i].matches
                                         ? "web/0=a"
                                         : "web/0=(found no compatible cell for required rootfs)");
    }
}

static void volume_drivers(void **state)
{
    struct fixture *x = *state;
    cell_row_drivers(&x->arena, cell(x, "a", "z1"), "nfs");
    cell_row_drivers(&x->arena, cell(x, "b", "z1"), "nfs smb");
    char **list;
    struct job *j = lrp(x, "web", 0);
    j->driver_count = cell_row_words(&x->arena, "nfs smb", &list);
    j->drivers = list;
    assert_string_equal(plan(x), "web/0=b");
    j->driver_count = cell_row_words(&x->arena, "nfs cifs", &list);
    j->drivers = list;
    assert_string_equal(plan(x), "web/0=(found no compatible cell with required volume drivers)");
}

static void placement_tags(void **state)
{
    struct fixture *x = *state;
    static const struct {
        const char *tags;
        const char *refusal; /* NULL: it matches */
    } rows[] = {
        {"", "found no compatible cell with no placement tags"},
        {"t1", NULL},
        {"t1 o1", NULL},
        {"o1 t1", NULL},
        {"o1", "found no compatible cell with placement tag \"o1\""},
        {"t1 y", "found no compatible cell with placement tags \"t1\" and \"y\""},
        {"t1 y z", "found no compatible cell with placement tags \"t1\", \"y\" and \"z\""},
    };
    cell_row_tags(&x->arena, cell(x, "a", "z1"), "t1", "o1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->job_count = 0;
        tags(x, lrp(x, "web", 0), rows[i].tags);
        assert_string_equal(plan(x), rows[i].refusal
                                         ? arena_printf(&x->arena, "web/0=(%s)", rows[i].refusal)
                                         : "web/0=a");
    }
    /* A cell that asks for none takes only those that ask for none, or for its optional ones. */
    begin(x);
    cell_row_tags(&x->arena, cell(x, "a", "z1"), "", "o1");
    lrp(x, "none", 0);
    tags(x, lrp(x, "one", 0), "o1");
    tags(x, lrp(x, "other", 0), "x");
    assert_string_equal(
        plan(x), "none/0=a one/0=a other/0=(found no compatible cell with placement tag \"x\")");
}

static void the_furthest_step_gives_the_text(void **state)
{
    struct fixture *x = *state;
    cell_row_provider(&x->arena, cell(x, "a", "z1"), "docker", "arbitrary", "");
    cell_row_tags(&x->arena, cell(x, "b", "z2"), "t1", "");
    struct job *j = lrp(x, "web", 0);
    assert_string_equal(plan(x), "web/0=a");
    j->root_fs = "docker:///x"; /* only a has docker, and it has no tags */
    tags(x, j, "t1");
    assert_string_equal(plan(x), "web/0=(found no compatible cell with placement tag \"t1\")");
    char **list;
    j->driver_count = cell_row_words(&x->arena, "nfs", &list);
    j->drivers = list;
    assert_string_equal(plan(x), "web/0=(found no compatible cell with required volume drivers)");
}

static void resources(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a", "z1");
    struct job *j = lrp(x, "web", 0);
    static const struct {
        int32_t memory, disk, containers;
        const char *plan;
    } rows[] = {
        {100, 100, 1, "web/0=a"},
        {99, 100, 1, "web/0=(insufficient resources: memory)"},
        {100, 99, 1, "web/0=(insufficient resources: disk)"},
        {100, 100, 0, "web/0=(insufficient resources: containers)"},
        {99, 99, 1, "web/0=(insufficient resources: disk, memory)"},
        {99, 100, 0, "web/0=(insufficient resources: containers, memory)"},
        {100, 99, 0, "web/0=(insufficient resources: containers, disk)"},
        {0, 0, 0, "web/0=(insufficient resources: containers, disk, memory)"},
        {-5, 100, 1, "web/0=(insufficient resources: memory)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        a->availableresources->memorymb = rows[i].memory;
        a->availableresources->diskmb = rows[i].disk;
        a->availableresources->containers = rows[i].containers;
        assert_string_equal(plan(x), rows[i].plan);
    }
    /* The proxy's memory counts for LRPs, not for tasks. */
    a->availableresources->memorymb = a->availableresources->diskmb = 131;
    a->availableresources->containers = 10;
    a->proxymemoryallocationmb = 32;
    assert_string_equal(plan(x), "web/0=(insufficient resources: memory)");
    j->kind = JOB_TASK;
    assert_string_equal(plan(x), "web/0=a");
}

static void only_common_problems_are_named(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1")->availableresources->memorymb = 50;
    Cell__CellState *b = cell(x, "b", "z1");
    b->availableresources->diskmb = 50;
    b->availableresources->containers = 0;
    lrp(x, "web", 0);
    assert_string_equal(plan(x), "web/0=(insufficient resources)");
    b->availableresources->memorymb = 50;
    assert_string_equal(plan(x), "web/0=(insufficient resources: memory)");
    /* A cell that is not compatible does not count. */
    cell_row_tags(&x->arena, cell(x, "c", "z1"), "t", "");
    assert_string_equal(plan(x), "web/0=(insufficient resources: memory)");
}

/* ---- 5.2 Score ------------------------------------------------------------------------------- */

static void diego_golden_values(void **state)
{
    struct fixture *x = *state;
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
    Cell__CellState *s = cell(x, "a", "z1");
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
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a", "z1");
    a->proxymemoryallocationmb = 50;
    a->availableresources->memorymb = 250;
    lrp(x, "web", 0);
    lrp(x, "web", 1);
    assert_string_equal(plan(x), "web/0=a web/1=(insufficient resources: memory)");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan(x), "web/0=a web/1=a");
}

static void bin_packing_fills_the_lowest_index_first(void **state)
{
    struct fixture *x = *state;
    x->rules.score =
        (struct score_rules){.scoring = SCORING_DIEGO, .bin_pack_first_fit_weight = 1.0};
    cell(x, "a", "z1")->cell_index = 90;
    cell(x, "b", "z1")->cell_index = 70;
    cell(x, "c", "z1")->cell_index = 80;
    lrp(x, "one", 0);
    lrp(x, "three", 0);
    lrp(x, "two", 0);
    assert_string_equal(plan(x), "one/0=b three/0=b two/0=b");
}

static void the_emptiest_by_its_fullest_resource_wins(void **state)
{
    struct fixture *x = *state;
    /* Diego's mean prefers a (0.1 + 0.7) to b (0.5 + 0.5); the largest prefers b. */
    Cell__CellState *a = cell(x, "a", "z1"), *b = cell(x, "b", "z1");
    a->availableresources->memorymb = 1000;
    a->availableresources->diskmb = 300;
    b->availableresources->memorymb = b->availableresources->diskmb = 500;
    lrp(x, "web", 0);
    assert_string_equal(plan(x), "web/0=b");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan(x), "web/0=a");
}

static void starting_containers_weigh_in_diego(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1")->startingcontainercount = 1;
    cell(x, "b", "z1")->availableresources->memorymb = 500;
    lrp(x, "web", 0);
    assert_string_equal(plan(x), "web/0=a");
    x->rules.score =
        (struct score_rules){.scoring = SCORING_DIEGO, .starting_container_weight = 0.25};
    assert_string_equal(plan(x), "web/0=b");
}

static void instances_of_a_process_go_apart(void **state)
{
    struct fixture *x = *state;
    cell_row_lrp(&x->arena, cell(x, "a", "z1"), "web");
    cell(x, "b", "z1")->availableresources->memorymb = 200;
    lrp(x, "web", 1);
    lrp(x, "web", 2);
    lrp(x, "web", 3);
    lrp(x, "db", 0);
    assert_string_equal(plan(x), "web/1=b web/2=a web/3=b db/0=a");
}

static void tasks_go_where_the_fewest_tasks_are(void **state)
{
    struct fixture *x = *state;
    cell_row_tasks(&x->arena, cell(x, "a", "z1"), 2);
    cell_row_tasks(&x->arena, cell(x, "b", "z2"), 1);
    task(x, "t1");
    task(x, "t2");
    task(x, "t3");
    assert_string_equal(plan(x), "t1/0=b t2/0=a t3/0=b");
}

static void equal_scores_go_to_the_lower_cell_id(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1");
    cell(x, "b", "z1");
    cell(x, "c", "z1");
    lrp(x, "p1", 0);
    lrp(x, "p2", 0);
    lrp(x, "p3", 0);
    lrp(x, "p4", 0);
    assert_string_equal(plan(x), "p1/0=a p2/0=b p3/0=c p4/0=a");
}

static void a_total_of_nothing_never_wins(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a", "z1");
    a->totalresources->memorymb = 0;
    lrp(x, "web", 0)->memory_mb = 0;
    assert_string_equal(plan(x), "web/0=(insufficient resources)");
    a->availableresources->memorymb = 0;
    assert_string_equal(plan(x), "web/0=(insufficient resources)");
    x->rules.score.scoring = SCORING_DIEGO;
    assert_string_equal(plan(x), "web/0=(insufficient resources)");
    a->availableresources->memorymb = 100;
    assert_string_equal(plan(x), "web/0=(insufficient resources)");
}

/* ---- 5 The order of jobs --------------------------------------------------------------------- */

static void first_instances_then_tasks_then_the_others(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1");
    lrp(x, "small", 2);
    lrp(x, "large", 2)->memory_mb = 200;
    lrp(x, "small", 1);
    lrp(x, "small", 0);
    lrp(x, "large", 0)->memory_mb = 200;
    task(x, "t-small");
    task(x, "t-large")->memory_mb = 300;
    assert_string_equal(order(x), "large/0 small/0 t-large/0 t-small/0 small/1 large/2 small/2");
}

/* docs/tasks.md, where Diego would take the task first. */
static void first_instances_come_before_tasks_also_without_others(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1");
    lrp(x, "web", 0)->memory_mb = 50;
    task(x, "t")->memory_mb = 500;
    assert_string_equal(order(x), "web/0 t/0");
}

/* ---- 5.3 Zones
 * ----------------------------------------------------------------------------------- */

static void the_emptier_zone_wins_over_the_better_score(void **state)
{
    struct fixture *x = *state;
    cell_row_lrp(&x->arena, cell(x, "a", "z1"), "web");
    cell(x, "b", "z1");
    cell(x, "c", "z2")->availableresources->memorymb = 100;
    lrp(x, "web", 1);
    assert_string_equal(plan(x), "web/1=c");
    /* No room there: the next number of instances. */
    x->cells[2].state->availableresources->memorymb = 99;
    assert_string_equal(plan(x), "web/1=b");
}

static void zones_with_the_same_number_compete(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1")->availableresources->memorymb = 500;
    cell(x, "b", "z2");
    cell_row_lrp(&x->arena, cell(x, "c", "z3"), "web");
    lrp(x, "web", 1);
    lrp(x, "web", 2);
    lrp(x, "web", 3);
    assert_string_equal(plan(x), "web/1=b web/2=a web/3=c");
}

static void incompatible_cells_count_for_their_zone(void **state)
{
    struct fixture *x = *state;
    Cell__CellState *a = cell(x, "a", "z1");
    cell_row_tags(&x->arena, a, "t", "");
    cell_row_lrp(&x->arena, a, "web");
    cell(x, "b", "z1");
    cell(x, "c", "z2")->availableresources->memorymb = 150;
    lrp(x, "web", 1);
    assert_string_equal(plan(x), "web/1=c");
}

static void a_closed_cell_takes_nothing_and_counts_for_its_zone(void **state)
{
    struct fixture *x = *state;
    cell_row_lrp(&x->arena, cell(x, "a", "z1"), "web");
    x->cells[0].closed = true;
    cell(x, "b", "z1");
    cell(x, "c", "z2")->availableresources->memorymb = 150;
    lrp(x, "web", 1);
    assert_string_equal(plan(x), "web/1=c");
}

static void what_was_placed_before_in_the_auction_counts(void **state)
{
    struct fixture *x = *state;
    cell(x, "a", "z1");
    cell(x, "b", "z1")->availableresources->memorymb = 200;
    struct job *before = lrp(x, "web", 0);
    lrp(x, "web", 1);
    x->taken[x->taken_count++] = (struct schedule_taken){.job = before, .cell = 0};
    assert_string_equal(plan(x), "web/0=b web/1=a");
}

/* The zone that the seed's rule prefers: position of "z1", "z2", "z3". */
static const char *preferred(const char *guid, int32_t index)
{
    static const char *const names[] = {"z1", "z2", "z3"};
    return names[zone_preferred(guid, index, 3)];
}

static void the_preferred_zone_turns_with_the_index(void **state)
{
    (void)state;
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
    struct fixture *x = *state;
    static const char *const zones[] = {"z1", "z2", "z3"};
    x->rules.zones = zones;
    x->rules.zone_count = 3;
    Cell__CellState *z1 = cell(x, "a", "z1"), *z2 = cell(x, "b", "z2"), *z3 = cell(x, "c", "z3");
    z1->availableresources->memorymb = 300; /* the worst by score */
    for (int i = 0; i < 6; i++) {
        lrp(x, "web", i);
    }
    assert_string_equal(plan(x), "web/0=a web/1=b web/2=c web/3=a web/4=b web/5=c");
    /* No room in z1: index 0 goes elsewhere, index 3 waits. */
    z1->availableresources->memorymb = 0;
    assert_string_equal(plan(x), "web/0=b web/1=b web/2=c web/3=(insufficient resources: memory) "
                                 "web/4=b web/5=c");
    /* Only what was tried is named: z3 is short of disk, but is not z1. */
    z3->availableresources->diskmb = 0;
    z2->availableresources->memorymb = 200;
    assert_string_equal(plan(x), "web/0=b web/1=b web/2=(insufficient resources: disk) "
                                 "web/3=(insufficient resources: memory) "
                                 "web/4=(insufficient resources: memory) "
                                 "web/5=(insufficient resources: disk)");
}

static void a_preferred_zone_without_cells(void **state)
{
    struct fixture *x = *state;
    static const char *const zones[] = {"z1", "z2", "z3"};
    x->rules.zones = zones;
    x->rules.zone_count = 3;
    cell(x, "a", "elsewhere"); /* a zone that nobody told us of: for low indices only */
    for (int i = 0; i < 3; i++) {
        lrp(x, "web", i);
    }
    assert_string_equal(plan(x), "web/0=a web/1=a "
                                 "web/2=(unable to communicate to compatible cells)");
}

/* ---- The same as looking at every cell, for random small worlds ------------------------------ */

static int32_t below(struct random *r, uint64_t bound)
{
    return (int32_t)random_below(r, bound);
}

static void random_cell(struct fixture *x, struct random *r, int number)
{
    static const char *const zone_names[] = {"z1", "z2", "z3", "z4"};
    static const int32_t sizes[] = {0, 500, 2000, 4000, 1000, 2000};
    char id[32], guid[32];
    snprintf(id, sizeof(id), "cell-%02d", number);
    Cell__CellState *s = cell(x, id, zone_names[below(r, 4)]);
    s->totalresources->memorymb = sizes[below(r, 6)];
    s->availableresources->memorymb = below(r, (uint64_t)s->totalresources->memorymb + 1) / 50 * 50;
    s->availableresources->diskmb = below(r, 8) ? 1000 : below(r, 1001) / 50 * 50;
    s->availableresources->containers = below(r, 30);
    s->startingcontainercount = below(r, 3);
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
    for (int i = below(r, 4); i > 0; i--) {
        snprintf(guid, sizeof(guid), "p%d", below(r, 4));
        cell_row_lrp(&x->arena, s, guid);
    }
    x->cells[number].closed = below(r, 10) == 0;
}

static void random_job(struct fixture *x, struct random *r, int number, bool uniform)
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
        lrp(x, arena_printf(&x->arena, "p%d", process % 4 + 4 * (process / 40)), number);
    if (below(r, 5) == 0) {
        j->kind = JOB_TASK;
        j->guid = arena_printf(&x->arena, "t%d", number);
        j->index = 0;
    }
    j->root_fs = root_fs[below(of, 8)];
    j->memory_mb = below(of, 4) * 50;
    j->disk_mb = below(of, 3) * 50;
    tags(x, j, tag_sets[below(of, 9)]);
    if (below(of, 8) == 0) {
        char **list;
        j->driver_count = cell_row_words(&x->arena, "nfs", &list);
        j->drivers = list;
    }
}

static void random_world(struct fixture *x, uint64_t seed)
{
    static const char *const zones[] = {"z1", "z2", "z3"};
    struct random r;
    random_seed(&r, (uint64_t[2]){seed, 1});
    arena_reset(&x->arena);
    begin(x);
    x->rules = (struct schedule_rules){.zones = zones, .zone_count = below(&r, 2) ? 3 : 0};
    x->rules.score.scoring = below(&r, 2) ? SCORING_DIEGO : SCORING_LARGEST;
    x->rules.score.starting_container_weight = below(&r, 2) ? 0.25 : 0;
    x->rules.score.bin_pack_first_fit_weight = below(&r, 4) ? 0 : 0.5;
    x->rules.starting_container_maximum = below(&r, 8) ? 0 : below(&r, 40);
    for (int i = 0, cells = below(&r, 24); i < cells; i++) {
        random_cell(x, &r, i);
    }
    /* All alike in every other world: long runs. */
    for (int i = 0, jobs = below(&r, ROWS_MAX - 4); i < jobs; i++) {
        random_job(x, &r, i, seed % 2);
    }
    if (x->cell_count && x->job_count) {
        x->taken[x->taken_count++] =
            (struct schedule_taken){.job = &x->jobs[0], .cell = (size_t)below(&r, x->cell_count)};
    }
}

static void gives_what_looking_at_every_cell_gives(void **state)
{
    struct fixture *x = *state;
    size_t placed = 0, refused = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_world(x, seed);
        struct schedule_input in = {.rules = &x->rules,
                                    .cells = x->cells,
                                    .cell_count = x->cell_count,
                                    .jobs = x->jobs,
                                    .job_count = x->job_count,
                                    .taken = x->taken,
                                    .taken_count = x->taken_count};
        struct decision *d = schedule(&x->arena, &in);
        size_t turns[ROWS_MAX];
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
            placed += d[i].cell >= 0;
            refused += d[i].cell < 0;
        }
    }
    /* The worlds are neither all empty nor all full. */
    if (placed < 10000 || refused < 10000) {
        fail_msg("%zu placed, %zu refused", placed, refused);
    }
}

/* A process with more instances than the lower bound of its locality follows by itself. `mixed`:
 * its jobs ask for different things, so that a cell too full for one may be free of the process. */
static void place_a_large_process(bool mixed)
{
    enum { CELLS = 100, JOBS = 1500 };
    struct arena a;
    arena_init(&a);
    struct schedule_cell *cells = ARENA_ARRAY(&a, CELLS, struct schedule_cell);
    for (int i = 0; i < CELLS; i++) {
        Cell__CellState *s = cell_row(&a, arena_printf(&a, "cell-%03d", i),
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
    struct schedule_input in = {
        .rules = &rules, .cells = cells, .cell_count = CELLS, .jobs = jobs, .job_count = JOBS};
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
    arena_done(&a);
}

static void a_large_process_on_many_cells(void **state)
{
    (void)state;
    place_a_large_process(false);
}

static void a_large_process_that_asks_for_different_things(void **state)
{
    (void)state;
    place_a_large_process(true);
}

/* DESIGN 10: 1,000 mixed instances on 100 cells in 3 zones, in one batch: the coefficient of
 * variation of the memory used stays below 0.15. */
static void a_batch_spreads_memory_evenly(void **state)
{
    (void)state;
    enum { CELLS = 100, PROCESSES = 100, INSTANCES = 10, JOBS = PROCESSES * INSTANCES };
    static const int32_t sizes[] = {64, 128, 256, 512, 1024};
    struct arena a;
    struct random r;
    arena_init(&a);
    random_seed(&r, (uint64_t[2]){1, 2});
    struct schedule_cell *cells = ARENA_ARRAY(&a, CELLS, struct schedule_cell);
    for (int i = 0; i < CELLS; i++) {
        const char *id = arena_printf(&a, "cell-%03d", i);
        cells[i].state = cell_row(&a, id, arena_printf(&a, "z%d", i % 3), 32 * 1024, 64 * 1024);
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
    arena_done(&a);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(without_cells_nothing_is_placed),
        TEST(the_limit_in_flight_counts_what_starts_and_what_was_placed),
        TEST(root_filesystems),
        TEST(volume_drivers),
        TEST(placement_tags),
        TEST(the_furthest_step_gives_the_text),
        TEST(resources),
        TEST(only_common_problems_are_named),
        TEST(diego_golden_values),
        TEST(diego_does_not_take_the_proxys_memory_off),
        TEST(bin_packing_fills_the_lowest_index_first),
        TEST(the_emptiest_by_its_fullest_resource_wins),
        TEST(starting_containers_weigh_in_diego),
        TEST(instances_of_a_process_go_apart),
        TEST(tasks_go_where_the_fewest_tasks_are),
        TEST(equal_scores_go_to_the_lower_cell_id),
        TEST(a_total_of_nothing_never_wins),
        TEST(first_instances_then_tasks_then_the_others),
        TEST(first_instances_come_before_tasks_also_without_others),
        TEST(the_emptier_zone_wins_over_the_better_score),
        TEST(zones_with_the_same_number_compete),
        TEST(incompatible_cells_count_for_their_zone),
        TEST(a_closed_cell_takes_nothing_and_counts_for_its_zone),
        TEST(what_was_placed_before_in_the_auction_counts),
        TEST(the_preferred_zone_turns_with_the_index),
        TEST(low_indices_prefer_high_ones_wait),
        TEST(a_preferred_zone_without_cells),
        TEST(gives_what_looking_at_every_cell_gives),
        cmocka_unit_test(a_large_process_on_many_cells),
        cmocka_unit_test(a_large_process_that_asks_for_different_things),
        cmocka_unit_test(a_batch_spreads_memory_evenly),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}

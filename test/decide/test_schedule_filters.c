/* Which cells may take a job, and what a refusal says: the limit of starts in flight, filters,
 * resources (rep-auctioneer.md 5.1). */
#include "test/decide/schedule_rows.h"
#include "test/tool/cmocka.h"

static void without_cells_nothing_is_placed(void **state)
{
    struct schedule_rows *x = *state;
    with_lrp(x, "web", 0);
    with_task(x, "t");
    x->rules.starting_container_maximum = 1;
    assert_string_equal(plan_of(x), "web/0=(unable to communicate to compatible cells) "
                                    "t/0=(unable to communicate to compatible cells)");
    with_cell(x, "a", "z1");
    x->cells[0].closed = true;
    assert_string_equal(plan_of(x), "web/0=(unable to communicate to compatible cells) "
                                    "t/0=(unable to communicate to compatible cells)");
}

static void the_limit_in_flight_counts_what_starts_and_what_was_placed(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->startingcontainercount = 1;
    with_cell(x, "b", "z1")->startingcontainercount = 1;
    with_lrp(x, "web", 0);
    with_lrp(x, "web", 1);
    x->rules.starting_container_maximum = 3;
    assert_string_equal(plan_of(x),
                        "web/0=a web/1=(waiting to start instance: reached in-flight start limit)");
    x->rules.starting_container_maximum = 4;
    assert_string_equal(plan_of(x), "web/0=a web/1=b");
    x->rules.starting_container_maximum = -1;
    assert_string_equal(plan_of(x), "web/0=a web/1=b");
    x->rules.starting_container_maximum = 3;
    x->taken[x->taken_count++] = (struct schedule_taken){.job = &x->jobs[0], .cell = 0};
    assert_string_equal(plan_of(x),
                        "web/0=(waiting to start instance: reached in-flight start limit) "
                        "web/1=(waiting to start instance: reached in-flight start limit)");
}

static void root_filesystems(void **state)
{
    struct schedule_rows *x = *state;
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
    Cell__CellState *s = with_cell(x, "a", "z1");
    cell_row_provider(&x->arena, s, "preloaded+layer", "fixed_set", "linux mac");
    cell_row_provider(&x->arena, s, "docker", "arbitrary", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->job_count = 0;
        with_lrp(x, "web", 0)->root_fs = rows[i].root_fs;
        assert_string_equal(
            plan_of(x),
            rows[i].matches ? "web/0=a" : "web/0=(found no compatible cell for required rootfs)");
    }
}

static void volume_drivers(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_drivers(&x->arena, with_cell(x, "a", "z1"), "nfs");
    cell_row_drivers(&x->arena, with_cell(x, "b", "z1"), "nfs smb");
    struct job *j = with_lrp(x, "web", 0);
    with_drivers(x, j, "nfs smb");
    assert_string_equal(plan_of(x), "web/0=b");
    with_drivers(x, j, "nfs cifs");
    assert_string_equal(plan_of(x),
                        "web/0=(found no compatible cell with required volume drivers)");
}

static void placement_tags(void **state)
{
    struct schedule_rows *x = *state;
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
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "t1", "o1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->job_count = 0;
        with_tags(x, with_lrp(x, "web", 0), rows[i].tags);
        assert_string_equal(plan_of(x), rows[i].refusal
                                            ? arena_printf(&x->arena, "web/0=(%s)", rows[i].refusal)
                                            : "web/0=a");
    }
    /* A cell that asks for none takes only those that ask for none, or for its optional ones. */
    schedule_rows_clear(x);
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "", "o1");
    with_lrp(x, "none", 0);
    with_tags(x, with_lrp(x, "one", 0), "o1");
    with_tags(x, with_lrp(x, "other", 0), "x");
    assert_string_equal(
        plan_of(x), "none/0=a one/0=a other/0=(found no compatible cell with placement tag \"x\")");
}

/* Whatever one asks for, however it is spelt, others that ask for something else are judged by
 * themselves. */
static void odd_words_harm_nobody_else(void **state)
{
    struct schedule_rows *x = *state;
    char word[] = "t1\no1", *one[] = {word};
    cell_row_tags(&x->arena, with_cell(x, "a", "z1"), "t1", "o1");
    struct job *odd = with_lrp(x, "odd", 0);
    odd->tags = one;
    odd->tag_count = 1;
    with_tags(x, with_lrp(x, "web", 0), "t1 o1");
    assert_string_equal(plan_of(x),
                        "odd/0=(found no compatible cell with placement tag \"t1\no1\") web/0=a");
    schedule_rows_clear(x);
    cell_row_drivers(&x->arena, with_cell(x, "a", "z1"), "nfs");
    with_lrp(x, "odd", 0)->root_fs = "preloaded:busybox\nnfs";
    with_drivers(x, with_lrp(x, "web", 0), "nfs");
    assert_string_equal(plan_of(x), "odd/0=(found no compatible cell for required rootfs) web/0=a");
    schedule_rows_clear(x);
    cell_row_provider(&x->arena, with_cell(x, "a", "z1"), "docker", "arbitrary", "");
    with_lrp(x, "odd", 0)->root_fs = "docker";
    with_lrp(x, "web", 0)->root_fs = "docker:///x";
    assert_string_equal(plan_of(x), "odd/0=(found no compatible cell for required rootfs) web/0=a");
}

static void the_furthest_step_gives_the_text(void **state)
{
    struct schedule_rows *x = *state;
    cell_row_provider(&x->arena, with_cell(x, "a", "z1"), "docker", "arbitrary", "");
    cell_row_tags(&x->arena, with_cell(x, "b", "z2"), "t1", "");
    struct job *j = with_lrp(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=a");
    j->root_fs = "docker:///x"; /* only a has docker, and it has no tags */
    with_tags(x, j, "t1");
    assert_string_equal(plan_of(x), "web/0=(found no compatible cell with placement tag \"t1\")");
    with_drivers(x, j, "nfs");
    assert_string_equal(plan_of(x),
                        "web/0=(found no compatible cell with required volume drivers)");
}

static void resources(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    struct job *j = with_lrp(x, "web", 0);
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
        assert_string_equal(plan_of(x), rows[i].plan);
    }
    /* The proxy's memory counts for LRPs, not for tasks. */
    a->availableresources->memorymb = a->availableresources->diskmb = 131;
    a->availableresources->containers = 10;
    a->proxymemoryallocationmb = 32;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources: memory)");
    j->kind = JOB_TASK;
    assert_string_equal(plan_of(x), "web/0=a");
}

/* Each machine that a cell may be, and each that a unit may ask for (docs/units.md, Placement). */
static void machines_of_units(void **state)
{
    struct schedule_rows *x = *state;
    static const struct machine_sight none = {.is = false}, unused = {true, true, true, 1},
                                      used = {true, true, false, 1},
                                      closed = {true, false, true, 1};
    static const struct machine_wish any = {0}, first = {1, true, false}, second = {2, true, false},
                                     fresh = {0, false, true}, fresh_first = {1, true, true};
    static const struct {
        const struct machine_sight *is;
        const struct machine_wish *wish;
        const char *refusal; /* NULL = it is placed there */
    } rows[] = {
        {&none, &any, NULL},
        {&none, &fresh, NULL},
        {&none, &first, "that is machine 1, open to units"},
        {&unused, &any, NULL},
        {&unused, &fresh, NULL},
        {&unused, &first, NULL},
        {&unused, &fresh_first, NULL},
        {&unused, &second, "that is machine 2, open to units"},
        {&used, &any, NULL},
        {&used, &first, NULL},
        {&used, &fresh, "that is unused and open to units"},
        {&used, &fresh_first, "that is machine 1, unused and open to units"},
        {&closed, &any, "that is open to units"},
        {&closed, &first, "that is machine 1, open to units"},
        {&closed, &fresh, "that is unused and open to units"},
    };
    with_cell(x, "a", "z1");
    struct job *j = with_unit(x, "web", 3);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        x->cells[0].machine = *rows[i].is;
        j->machine = *rows[i].wish;
        const char *expected =
            rows[i].refusal
                ? arena_printf(&x->arena, "web/3=(found no compatible cell %s)", rows[i].refusal)
                : "web/3=a";
        assert_string_equal(plan_of(x), expected);
    }
    /* No LRP and no task minds. */
    j->kind = JOB_LRP;
    assert_string_equal(plan_of(x), "web/3=a");
    j->kind = JOB_TASK;
    assert_string_equal(plan_of(x), "web/3=a");
}

/* The first that is placed on a machine uses it, also one that a decision before placed there. */
static void one_unit_uses_a_machine(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1");
    with_cell(x, "b", "z1");
    for (int i = 0; i < 3; i++) {
        with_unit(x, "web", i)->machine.unused = true;
    }
    assert_string_equal(plan_of(x),
                        "web/0=a web/1=b web/2=(insufficient machines that never had a unit)");
    x->jobs[2].machine.unused = false;
    assert_string_equal(plan_of(x), "web/0=a web/1=b web/2=a");
    x->job_count = 1;
    x->taken[x->taken_count++] = (struct schedule_taken){.job = &x->jobs[1], .cell = 0};
    assert_string_equal(plan_of(x), "web/0=b");
}

/* As LRPs; but one that asks for a machine goes where that is. */
static void zones_of_units(void **state)
{
    struct schedule_rows *x = *state;
    static const char *const zones[] = {"z1", "z2"};
    x->rules.zones = zones;
    x->rules.zone_count = 2;
    with_cell(x, "a", "z1");
    x->cells[0].machine = (struct machine_sight){true, true, false, 1};
    for (int i = 2; i < 4; i++) {
        with_unit(x, "web", i);
        with_lrp(x, "web", i);
    }
    const struct decision *d = decisions_of(x);
    for (size_t i = 0; i < 4; i += 2) {
        assert_int_equal(d[i].cell, d[i + 1].cell);
    }
    assert_int_not_equal(d[0].cell, d[2].cell);
    x->jobs[0].machine = x->jobs[2].machine = (struct machine_wish){1, true, false};
    d = decisions_of(x);
    assert_int_equal(d[0].cell, 0);
    assert_int_equal(d[2].cell, 0);
}

/* Root filesystem, drivers, tags, resources: as LRPs, without a proxy. */
static void units_ask_for_what_lrps_do(void **state)
{
    struct schedule_rows *x = *state;
    Cell__CellState *a = with_cell(x, "a", "z1");
    struct job *j = with_unit(x, "web", 3);
    a->availableresources->memorymb = 100;
    a->proxymemoryallocationmb = 32;
    assert_string_equal(plan_of(x), "web/3=a");
    j->memory_mb = 101;
    assert_string_equal(plan_of(x), "web/3=(insufficient resources: memory)");
    cell_row_tags(&x->arena, a, "pool", ""); /* a node pool's cell */
    assert_string_equal(plan_of(x), "web/3=(found no compatible cell with no placement tags)");
    j->memory_mb = 100;
    with_tags(x, j, "pool");
    assert_string_equal(plan_of(x), "web/3=a");
    with_drivers(x, j, "nfs");
    assert_string_equal(plan_of(x),
                        "web/3=(found no compatible cell with required volume drivers)");
    j->root_fs = "foo:bar";
    assert_string_equal(plan_of(x), "web/3=(found no compatible cell for required rootfs)");
}

static void only_common_problems_are_named(void **state)
{
    struct schedule_rows *x = *state;
    with_cell(x, "a", "z1")->availableresources->memorymb = 50;
    Cell__CellState *b = with_cell(x, "b", "z1");
    b->availableresources->diskmb = 50;
    b->availableresources->containers = 0;
    with_lrp(x, "web", 0);
    assert_string_equal(plan_of(x), "web/0=(insufficient resources)");
    b->availableresources->memorymb = 50;
    assert_string_equal(plan_of(x), "web/0=(insufficient resources: memory)");
    /* A cell that is not compatible does not count. */
    cell_row_tags(&x->arena, with_cell(x, "c", "z1"), "t", "");
    assert_string_equal(plan_of(x), "web/0=(insufficient resources: memory)");
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, schedule_rows_setup, schedule_rows_teardown)
    const struct CMUnitTest tests[] = {
        TEST(without_cells_nothing_is_placed),
        TEST(the_limit_in_flight_counts_what_starts_and_what_was_placed),
        TEST(root_filesystems),
        TEST(volume_drivers),
        TEST(placement_tags),
        TEST(odd_words_harm_nobody_else),
        TEST(the_furthest_step_gives_the_text),
        TEST(resources),
        TEST(machines_of_units),
        TEST(one_unit_uses_a_machine),
        TEST(zones_of_units),
        TEST(units_ask_for_what_lrps_do),
        TEST(only_common_problems_are_named),
    };
    return cmocka_run_group_tests_name("schedule: filters", tests, NULL, NULL);
}

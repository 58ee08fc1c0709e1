/* bbs why: what is said of instances and tasks, for each way in which they may stand. */
#include "bbs/cli/why.h"
#include "common/appfile/app.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S ((int64_t)1000000000)
#define NOW (1000000 * S)

struct fixture {
    struct arena arena;
    struct buf out;
    Board__CellsStatus cells;
};

static Board__CellStatus *cell_of(struct arena *a, const char *id, const char *state,
                                  bool evacuating)
{
    Board__CellStatus *c = arena_message(a, &board__cell_status__descriptor);
    c->presence = arena_message(a, &models__cell_presence__descriptor);
    c->presence->cell_id = arena_strdup(a, id);
    static char *names[] = {(char *)"busybox", (char *)"alpine"};
    Models__Provider *provider = arena_message(a, &models__provider__descriptor);
    provider->name = arena_strdup(a, "preloaded");
    provider->properties = names;
    provider->n_properties = 2;
    c->presence->rootfs_providers = arena_copy(a, &provider, sizeof(Models__Provider *));
    c->presence->n_rootfs_providers = 1;
    c->presence->rep_url = arena_printf(a, "https://%s:1801", id);
    c->state = arena_strdup(a, state);
    c->since = NOW - 7 * S;
    c->evacuating = evacuating;
    return c;
}

/* here is well, gone is lost, dark is held, going is being evacuated. */
static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->out);
    board__cells_status__init(&f->cells);
    f->cells.n_cells = 4;
    f->cells.cells = ARENA_ARRAY(&f->arena, 4, Board__CellStatus *);
    f->cells.cells[0] = cell_of(&f->arena, "here", "PRESENT", false);
    f->cells.cells[1] = cell_of(&f->arena, "gone", "LOST", false);
    f->cells.cells[2] = cell_of(&f->arena, "dark", "LOST (held)", false);
    f->cells.cells[3] = cell_of(&f->arena, "going", "PRESENT", true);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_done(&f->arena);
    buf_done(&f->out);
    free(f);
    return 0;
}

struct record {
    int index, presence;
    const char *state, *cell, *placement_error, *crash_reason;
    int crash_count, age_s;
    bool stopping;
};

static Models__ActualLRP *actual_of(struct arena *a, const struct record *r)
{
    Models__ActualLRP *lrp = arena_message(a, &models__actual_lrp__descriptor);
    lrp->actual_lrp_key = arena_message(a, &models__actual_lrpkey__descriptor);
    lrp->actual_lrp_key->index = r->index;
    lrp->presence = (Models__ActualLRP__Presence)r->presence;
    lrp->state = arena_strdup(a, r->state);
    lrp->since = NOW - r->age_s * S;
    lrp->placement_error = arena_strdup(a, r->placement_error);
    lrp->crash_reason = arena_strdup(a, r->crash_reason);
    lrp->crash_count = r->crash_count;
    lrp->stopping = r->stopping;
    if (r->cell) {
        lrp->actual_lrp_instance_key = ARENA_NEW(a, Models__ActualLRPInstanceKey);
        models__actual_lrpinstance_key__init(lrp->actual_lrp_instance_key);
        lrp->actual_lrp_instance_key->cell_id = arena_strdup(a, r->cell);
    }
    return lrp;
}

static const char *said(struct fixture *f, const struct why *w)
{
    buf_clear(&f->out);
    for (size_t i = 0; i < w->count; i++) {
        buf_printf(&f->out, "%s%s", i ? "; " : "", w->lines[i]);
    }
    return buf_string(&f->out);
}

#define CELLS "cells that take work: 1 of 4 (1 evacuating, 2 lost)"
#define OFFERED                                                                                    \
    "it is offered to the cells every 30s; it fails when none has started it within 30m"
#define TRIED "it is tried again whenever a cell changes, and every 10 s"

static void instances(void **state)
{
    struct fixture *f = *state;
    enum { ORDINARY = 0, EVACUATING = 1, SUSPECT = 2 };
    static const struct {
        int index, instances; /* -1: not desired */
        bool fresh;
        struct record record; /* without a state: there is none */
        const char *said;
        bool well;
        const char *rootfs; /* NULL: one that cells have */
    } rows[] = {
        {0, 2, true, {.state = "RUNNING", .cell = "here", .age_s = 90}, "RUNNING on here for 90s",
         true},
        {0, 2, true, {.state = "UNCLAIMED", .age_s = 3},
         "UNCLAIMED for 3s; it waits for the auctioneer to find a cell for it; " CELLS},
        {0, 2, true,
         {.state = "UNCLAIMED", .age_s = 3, .placement_error = "insufficient resources"},
         "UNCLAIMED for 3s; no cell takes it: insufficient resources; " TRIED "; " CELLS},
        {0, 2, true, {.state = "CLAIMED", .cell = "here", .age_s = 1},
         "CLAIMED on here for 1s; its cell makes its container, which this shows: rep containers "
         "--url https://here:1801"},
        {0, 2, true,
         {.state = "CRASHED", .age_s = 10, .crash_count = 3,
          .crash_reason = "Exited with status 1"},
         "CRASHED for 10s; it crashed 3 times, the last time: Exited with status 1; it is started "
         "again in 20s"},
        {0, 2, true, {.state = "CRASHED", .age_s = 40, .crash_count = 3, .crash_reason = "x"},
         "CRASHED for 40s; it crashed 3 times, the last time: x; it is started again when the "
         "converger looks next, within 30 s"},
        {0, 2, true, {.state = "CRASHED", .age_s = 40, .crash_count = 200, .crash_reason = "x"},
         "CRASHED for 40s; it crashed 200 times, the last time: x; it crashed too often: it is not "
         "started again; apply a change, or remove it"},
        {0, 2, true, {.state = "RUNNING", .cell = "here", .age_s = 5, .crash_count = 2},
         "RUNNING on here for 5s", true},
        {0, 2, true, {.state = "RUNNING", .cell = "gone", .age_s = 9, .presence = SUSPECT},
         "RUNNING (suspect) on gone for 9s; its cell gone has been LOST for 7s; nobody knows "
         "whether it runs there; it is shown until the one that replaces it runs"},
        {0, 2, true, {.state = "RUNNING", .cell = "going", .age_s = 9, .presence = EVACUATING},
         "RUNNING (evacuating) on going for 9s; its cell going is being evacuated; it goes on "
         "there until the one that replaces it runs"},
        {0, 2, true, {.state = "RUNNING", .cell = "dark", .age_s = 9},
         "RUNNING on dark for 9s; its cell dark is silent, and held with others: bbs cells says "
         "what can be done"},
        {0, 2, true, {.state = "RUNNING", .cell = "away", .age_s = 9},
         "RUNNING on away for 9s; its cell away has left the board"},
        {0, 2, true, {.state = "RUNNING", .cell = "here", .age_s = 9, .stopping = true},
         "STOPPING on here for 9s; it was asked to stop; what does not end within 10 s is killed"},
        {1, 2, true, {0},
         "it has no record; the converger makes one when it looks next, within 30 s"},
        {1, 1, true, {0}, "there is none: 1 instance is desired, 0 to 0"},
        {0, 2, true,
         {.state = "CRASHED", .age_s = 40, .crash_count = 1, .crash_reason = "x"},
         "CRASHED for 40s; it crashed once: x; it is started again when the converger looks next, "
         "within 30 s"},
        {0, 2, true,
         {.state = "CRASHED", .age_s = 40, .crash_count = 2, .crash_reason = "x"},
         "CRASHED for 40s; it crashed twice, the last time: x; it is started again when the "
         "converger looks next, within 30 s"},
        {0, 2, true,
         {.state = "UNCLAIMED", .age_s = 3, .placement_error = "found no compatible cell"},
         "UNCLAIMED for 3s; no cell takes it: found no compatible cell; no cell has the root "
         "filesystem preloaded:busbox; did you mean preloaded:busybox? (cells have: busybox, "
         "alpine); " TRIED "; " CELLS,
         .rootfs = "preloaded:busbox"},
        {2, 2, true, {0}, "there is none: 2 instances are desired, 0 to 1"},
        {0, 0, true, {0}, "there is none: no instance is desired"},
        {2, 2, true, {.index = 2, .state = "RUNNING", .cell = "here", .age_s = 9},
         "RUNNING on here for 9s; it is not desired any more, and is stopped"},
        {0, -1, false, {.state = "RUNNING", .cell = "here", .age_s = 9},
         "RUNNING on here for 9s; it is not desired any more, but nobody vouches for its domain "
         "now: it is not stopped before somebody does (bbs apply does for its apps)"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
        Models__ActualLRP *one =
            rows[i].record.state ? actual_of(&f->arena, &rows[i].record) : NULL;
        struct why_facts facts = {&f->cells, rows[i].fresh, NOW, &SETTINGS_DEFAULT};
        struct why w;
        lrp.process_guid = arena_strdup(&f->arena, "web");
        lrp.root_fs = arena_strdup(&f->arena, rows[i].rootfs ? rows[i].rootfs : "preloaded:alpine");
        lrp.instances = rows[i].instances;
        why_instance(&f->arena, &facts, rows[i].instances < 0 ? NULL : &lrp, "web", rows[i].index,
                     &one, one ? 1 : 0, &w);
        if (strcmp(said(f, &w), rows[i].said) != 0) {
            fail_msg("row %zu: \"%s\", not \"%s\"", i, said(f, &w), rows[i].said);
        }
        assert_string_equal(w.subject,
                            arena_printf(&f->arena, "web/%d", rows[i].index));
        assert_int_equal(w.well, rows[i].well);
        assert_int_equal(w.waits, one && strcmp(one->state, "UNCLAIMED") == 0);
    }
}

static void tasks(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int state;
        const char *cell, *url, *reason, *rejection;
        bool failed;
        int rejections, max_retries; /* -1: not said */
        const char *said;
        const char *ran_on;
        int keep_s; /* 0: not said */
    } rows[] = {
        {MODELS__TASK__STATE__Pending, "", "", "", "", false, 0, -1,
         "PENDING for 5s; no cell can pull the image docker:///x: that takes the oci driver, root, "
         "skopeo and containers-storage; " OFFERED
         "; after 3 rejections the next one fails it (max_retries); " CELLS},
        {MODELS__TASK__STATE__Pending, "", "", "", "no room", false, 2, 1,
         "PENDING for 5s; it was rejected twice, the last time: no room; no cell can pull "
         "the image docker:///x: that takes the oci driver, root, skopeo and "
         "containers-storage; " OFFERED
         "; after 1 rejection the next one fails it (max_retries); " CELLS},
        {MODELS__TASK__STATE__Running, "here", "", "", "", false, 0, -1, "RUNNING on here for 5s"},
        {MODELS__TASK__STATE__Running, "gone", "", "", "", false, 0, -1,
         "RUNNING on gone for 5s; its cell gone has been LOST for 7s; a task runs at most once, so "
         "it "
         "is started nowhere else; it fails when its cell stays away for 60s"},
        {MODELS__TASK__STATE__Completed, "", "", "", "", false, 0, -1,
         "SUCCEEDED 5s ago; it is deleted in 23h (24h after its end, unless the converger is "
         "configured "
         "otherwise), or now by: bbs task t-1 --rm"},
        {MODELS__TASK__STATE__Completed, "", "", "", "", false, 0, -1,
         "SUCCEEDED on gone 5s ago; it is deleted in 55s (keep), or now by: bbs task t-1 --rm",
         "gone", 60},
        {MODELS__TASK__STATE__Completed, "", "", "", "", false, 0, -1,
         "SUCCEEDED on gone 5s ago; it is deleted when the converger looks next (keep), or now by: "
         "bbs task t-1 --rm",
         "gone", 4},
        {MODELS__TASK__STATE__Completed, "", "http://x", "no", "", true, 0, -1,
         "FAILED 5s ago; it failed: no; its callback is sent the outcome, then it is deleted: "
         "http://x"},
        {MODELS__TASK__STATE__Resolving, "", "", "", "", false, 0, -1,
         "SUCCEEDED (resolving) 5s ago; somebody takes note of how it ended, and deletes it"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct why_facts facts = {&f->cells, true, NOW, &SETTINGS_DEFAULT};
        Models__Task t = MODELS__TASK__INIT;
        Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
        struct why w;
        d.completion_callback_url = arena_strdup(&f->arena, rows[i].url);
        d.root_fs = arena_strdup(&f->arena, "docker:///x");
        t.task_definition = &d;
        t.task_guid = arena_strdup(&f->arena, "t-1");
        t.state = (Models__Task__State)rows[i].state;
        t.cell_id = arena_strdup(&f->arena, rows[i].cell);
        t.failed = rows[i].failed;
        t.failure_reason = arena_strdup(&f->arena, rows[i].reason);
        t.rejection_count = rows[i].rejections;
        t.rejection_reason = arena_strdup(&f->arena, rows[i].rejection);
        t.updated_at = NOW - 5 * S;
        t.first_completed_at = t.updated_at;
        t.ran_on_cell_id = arena_strdup(&f->arena, rows[i].ran_on ? rows[i].ran_on : "");
        if (rows[i].keep_s) {
            t.optional_keep_s_case = MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
            t.keep_s = (uint32_t)rows[i].keep_s;
        }
        if (rows[i].max_retries >= 0) {
            t.optional_max_retries_case = MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
            t.max_retries = rows[i].max_retries;
        }
        why_task(&f->arena, &facts, &t, &w);
        if (strcmp(said(f, &w), rows[i].said) != 0) {
            fail_msg("row %zu: \"%s\", not \"%s\"", i, said(f, &w), rows[i].said);
        }
    }
}

/* While an app has two definitions web/0 would be either. */
static void two_definitions_are_told_apart(void **state)
{
    struct fixture *f = *state;
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    struct why_facts facts = {.cells = &f->cells, .now_ns = NOW, .settings = &SETTINGS_DEFAULT};
    struct why w;
    lrp.process_guid = arena_strdup(&f->arena, "web-81c3f7580f");
    lrp.owner = app_owner(&f->arena, "web");
    why_instance(&f->arena, &facts, &lrp, lrp.process_guid, 0, NULL, 0, &w);
    assert_string_equal(w.subject, "web/0");
    facts.by_guid = true;
    why_instance(&f->arena, &facts, &lrp, lrp.process_guid, 0, NULL, 0, &w);
    assert_string_equal(w.subject, "web-81c3f7580f/0");
}

static void printed_for_people_and_programs(void **state)
{
    struct fixture *f = *state;
    struct why w = {.arena = &f->arena,
                    .subject = "web/1",
                    .guid = "web-1",
                    .index = 1,
                    .lines = {"first", "a\x1b[2J\"b"},
                    .count = 2};
    static const struct {
        const char *answer, *lines;
    } rows[] = {
        {"{\"state\":\"unplaced\",\"memory_mb\":64,\"disk_mb\":9,\"cells\":4,\"filters\":["
         "{\"filter\":\"unusable\",\"cells\":1},{\"filter\":\"rootfs\"},"
         "{\"filter\":\"resources\",\"cells\":3}],\"nearest\":{\"cell_id\":\"c\\u001b1\","
         "\"filter\":\"resources\",\"lacks_memory_mb\":20,\"lacks_containers\":1}}",
         "    the auctioneer says:\n"
         "      of 4 cells: 1 cannot be used now, 3 without the room\n"
         "      it wants 64 MB of memory and 9 MB of disk\n"
         "      the nearest is c?1, which lacks 20 MB of memory, 1 container\n"},
        {"{\"state\":\"being placed\",\"in_flight_limit\":true,\"zone\":\"z1\",\"cells\":1,"
         "\"fit\":1}",
         "    the auctioneer says:\n"
         "      it is being placed\n"
         "      so many containers are being started that no more may be\n"
         "      of 1 cell: 1 that would take it\n"
         "      it may go to zone z1 only\n"},
        {"{\"state\":\"unplaced\",\"placement_tags\":[\"a\",\"b\"],\"cells\":2,\"filters\":["
         "{\"filter\":\"placement_tags\",\"cells\":1},{\"filter\":\"newer\",\"cells\":1}],"
         "\"nearest\":{\"cell_id\":\"c1\",\"filter\":\"unusable\",\"why\":\"lost\"}}",
         "    the auctioneer says:\n"
         "      of 2 cells: 1 without the placement tags, 1 kept out by newer\n"
         "      it wants the placement tags a, b\n"
         "      the nearest is c1 (lost)\n"},
        {"{}", "    the auctioneer says:\n      no cell is known\n"},
        {"not JSON", ""},
        {"[1]", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        buf_clear(&f->out);
        why_print(&w, bytes_of(rows[i].answer), false, &f->out);
        assert_string_equal(buf_string(&f->out),
                            arena_printf(&f->arena, "web/1: first\n    a?[2J\"b\n%s",
                                         rows[i].lines));
    }
    buf_clear(&f->out);
    why_print(&w, bytes_of("{\"x\": 1}"), true, &f->out);
    why_print(&w, bytes_of("not JSON"), true, &f->out);
    w.index = -1;
    w.count = 0;
    why_print(&w, (struct bytes){0}, true, &f->out);
    assert_string_equal(
        buf_string(&f->out),
        "{\"subject\":\"web/1\",\"guid\":\"web-1\",\"index\":1,\"explanation\":[\"first\","
        "\"a\\u001b[2J\\\"b\"],\"auctioneer\":{\"x\":1}}\n"
        "{\"subject\":\"web/1\",\"guid\":\"web-1\",\"index\":1,\"explanation\":[\"first\","
        "\"a\\u001b[2J\\\"b\"],\"auctioneer\":null}\n"
        "{\"subject\":\"web/1\",\"guid\":\"web-1\",\"explanation\":[],\"auctioneer\":null}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(instances),
        TEST(tasks),
        TEST(two_definitions_are_told_apart),
        TEST(printed_for_people_and_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The machine of steps, row by row, with the numbers of rep/steps/machine.c: tree, facts, time, and
 * what is next; then the lines of the log. Times are in ms. */
#include "test/tool/cmocka.h"
#include "test/unit/rep/steps/steps_text.h"

#include <string.h>

struct row {
    int rule;
    const char *tree, *facts;
    int64_t now_ms;
    const char *next;
};

static const struct row rows[] = {
    /* Steps are numbered depth-first: whole 0, serial 1, its runs 2 and 3. */
    {1, "serial(run run)", "", 0, "begin 2"},
    {1, "serial(run run)", "0 begun 2", 1, "ready"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 0", 5, "begin 3; ready"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 0; 6 begun 3", 9, "ready"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 0; 6 begun 3; 9 ended 3 0", 9, "ready; well"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 3", 5,
     "ready; failed: APP: Exited with status 3"},
    {1, "serial(run run:WEB)", "0 begun 2; 5 ended 2 0; 6 begun 3; 9 ended 3 sig15", 9,
     "ready; failed: WEB: Exited with status 143"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 oom", 5,
     "ready; failed: APP: Exited with status 137 (out of memory)"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 full", 5,
     "ready; failed: APP: Exited with status 1 (out of disk)"},
    {1, "serial(run run)", "0 begun 2; 5 ended 2 \"no program /bin/x\"", 5,
     "ready; failed: no program /bin/x"},
    {1, "serial(serial(run run) run)", "0 begun 3; 1 ended 3 0; 2 begun 4; 3 ended 4 0", 3,
     "begin 5; ready"},

    {2, "parallel(run run)", "", 0, "begin 2 3"},
    {2, "parallel(run run)", "0 begun 2", 0, "begin 3"},
    {2, "parallel(run run)", "0 begun 2; 0 begun 3", 0, "ready"},
    {2, "parallel(run run)", "0 begun 2; 0 begun 3; 1 ended 2 1", 1, "ready"},
    {2, "parallel(run run)", "0 begun 2; 0 begun 3; 1 ended 2 1; 2 ended 3 0", 2,
     "ready; failed: APP: Exited with status 1"},
    {2, "parallel(run run:B)", "0 begun 2; 0 begun 3; 1 ended 3 2; 2 ended 2 1", 2,
     "ready; failed: APP: Exited with status 1; B: Exited with status 2"},
    {2, "parallel(run run)", "0 begun 2; 0 begun 3; 1 ended 3 0; 2 ended 2 0", 2, "ready; well"},
    {2, "parallel(serial(run run) run)", "", 0, "begin 3 5"},

    {3, "try(run)", "0 begun 2; 1 ended 2 7", 1, "ready; well"},
    {3, "serial(try(run) run)", "0 begun 3; 1 lost 3", 1, "begin 4; ready"},

    {4, "timeout:500(run)", "", 9000, "begin 2"},
    {4, "timeout:500(run)", "100 begun 2", 200, "due 600; ready"},
    {4, "timeout:500(run)", "100 begun 2", 600, "cut 1 timeout; ready"},
    {4, "timeout:500(run)", "100 begun 2; 600 cut 1 timeout", 600, "term 2; due 10600; ready"},
    {4, "timeout:500(run)", "100 begun 2; 600 cut 1 timeout; 700 ended 2 sig15", 700,
     "ready; failed: exceeded 500ms timeout"},
    {4, "timeout:60000(run)", "0 begun 2; 60000 cut 1 timeout; 60001 ended 2 0", 60001,
     "ready; failed: exceeded 1m0s timeout"},
    {4, "timeout:1500(parallel(run run))",
     "0 begun 3; 0 begun 4; 9 ended 3 4; 1500 cut 1 timeout; 1600 ended 4 0", 1600,
     "ready; failed: exceeded 1.5s timeout; APP: Exited with status 4"},
    {4, "timeout:500(run)", "100 begun 2; 599 ended 2 0", 9000, "ready; well"},
    {4, "timeout:500(run)", "100 begun 2; 900 ended 2 1", 9000, /* nobody had cut it */
     "ready; failed: APP: Exited with status 1"},
    {4, "timeout:500(run)", "100 begun 2; 600 ended 2 0; 600 cut 1 timeout", 600, "ready; well"},
    {4, "timeout:500(serial(run run))", "0 begun 3; 400 ended 3 0", 500, "cut 1 timeout; ready"},
    {4, "timeout:500(serial(run run))", "0 begun 3; 400 ended 3 0; 500 cut 1 timeout", 500,
     "ready; failed: exceeded 500ms timeout"},
    {4, "timeout:500(try(run))", "0 begun 3; 500 cut 1 timeout; 600 ended 3 0", 600,
     "ready; failed: exceeded 500ms timeout"},
    {4, "timeout:9223372036854775807(run)", "100 begun 2", 600, "ready"},
    {4, "timeout:0(run)", "100 begun 2", 100, "cut 1 timeout; ready"},
    {4, "timeout:900(timeout:500(run))", "0 begun 3; 500 cut 2 timeout; 600 ended 3 0", 950,
     "ready; failed: exceeded 500ms timeout"},
    {4, "timeout:900(timeout:500(run))",
     "0 begun 3; 500 cut 2 timeout; 900 cut 1 timeout; 950 ended 3 0", 950,
     "ready; failed: exceeded 900ms timeout; exceeded 500ms timeout"},

    {5, "say(run)", "0 begun 2; 1 ended 2 0", 1, "ready; well"},
    {5, "say(run)", "0 begun 2; 1 ended 2 1", 1, "ready; failed: APP: Exited with status 1"},

    {6, "codependent(run run)", "", 0, "begin 2 3"},
    {6, "codependent(run run)", "0 begun 2; 0 begun 3; 5 ended 2 0", 5, "cut 3 beside; ready"},
    {6, "codependent(run run run)", "0 begun 2; 5 ended 2 1", 5, "cut 3 beside; cut 4 beside"},
    {6, "codependent(run run)", "0 begun 2; 0 begun 3; 5 ended 2 0; 6 cut 3 beside; 7 ended 3 0",
     7, "ready; failed: Codependent step exited"},
    {6, "codependent(run run)", "0 begun 2; 0 begun 3; 5 ended 2 8; 6 cut 3 beside; 7 ended 3 9",
     7, "ready; failed: APP: Exited with status 8"},
    {6, "codependent(run run)", "0 begun 2; 0 begun 3; 5 ended 2 0; 6 ended 3 9", 6,
     "ready; failed: Codependent step exited; APP: Exited with status 9"},
    {6, "codependent(run run)", "0 begun 2; 0 begun 3; 5 ended 2 0; 6 ended 3 0; 6 cut 3 beside",
     6, "ready; failed: Codependent step exited; Codependent step exited"},
    {6, "codependent(run serial(run run))", "0 begun 2; 0 begun 4; 5 ended 2 0; 5 ended 4 0", 5,
     "cut 3 beside; ready"},
    {6, "codependent(run try(run))",
     "0 begun 2; 0 begun 4; 5 ended 2 0; 6 cut 3 beside; 7 ended 4 0", 7,
     "ready; failed: Codependent step exited"},
    {6, "serial(codependent(run run) run)",
     "0 begun 3; 0 begun 4; 5 ended 3 0; 6 cut 4 beside; 7 ended 4 0", 7,
     "ready; failed: Codependent step exited"},
    {6, "codependent(codependent(run run) run)", "0 begun 3; 0 begun 4; 0 begun 5; 5 ended 3 0", 5,
     "cut 4 beside; ready"},
    {6, "codependent(timeout:5(run) run)", "0 begun 3; 0 begun 4; 5 cut 2 timeout; 6 ended 3 0", 6,
     "cut 4 beside; ready"},

    {7, "run + run", "", 0, "begin 1 2"},
    {7, "run + run + run", "0 begun 1; 0 begun 2; 0 begun 3; 4 ended 1 0", 4,
     "cut 2 beside; cut 3 beside; ready"},
    {7, "run + run", "0 begun 1; 0 begun 2; 4 ended 1 0; 5 cut 2 beside; 6 ended 2 sig15", 6,
     "ready; well"},
    {7, "run + run", "0 begun 1; 0 begun 2; 4 ended 2 0; 5 cut 1 beside; 6 ended 1 3", 6,
     "ready; well 2"},
    {7, "run + run + run", "0 begun 1; 0 begun 2; 0 begun 3; 4 ended 3 0; 3 ended 2 0; 6 ended 1 0",
     6, "ready; well 2"},
    {7, "run + run:SIDE", "0 begun 1; 0 begun 2; 4 ended 2 2; 5 cut 1 beside; 6 ended 1 3", 6,
     "ready; failed: SIDE: Exited with status 2"},
    {7, "run + run", "0 begun 1; 0 begun 2; 4 ended 2 2; 4 ended 1 3", 6,
     "ready; failed: APP: Exited with status 3; APP: Exited with status 2"},
    {7, "run + codependent(run run)", "0 begun 1; 0 begun 3; 0 begun 4; 4 ended 1 0", 4,
     "cut 2 beside; ready"},

    {8, "setup: run + run", "", 0, "begin 1"},
    {8, "setup: run + run", "0 begun 1", 0, ""},
    {8, "setup: run + run", "0 begun 1; 3 ended 1 0", 3, "begin 2"},
    {8, "setup: run + run", "0 begun 1; 3 ended 1 0; 4 begun 2", 4, "ready"},
    {8, "setup: run + run", "0 begun 1; 3 ended 1 6", 3, "failed: APP: Exited with status 6"},
    {8, "setup: run + run + run", "0 begun 1; 3 ended 1 0", 3, "begin 2 3"},
    {8, "setup: codependent(run run) + run", "0 begun 2; 0 begun 3; 3 ended 2 0", 3,
     "cut 3 beside"},

    {9, "run + run", "0 begun 1; 3 cut 0 stopped", 3, "term 1; due 10003; ready"},
    {9, "serial(run run)", "0 begun 2; 3 cut 0 stopped; 4 ended 2 0", 4, "ready; cut"},
    {12, "watched: run", "0 begun 1; 5 ended 1 0", 5, "ready"},
    {12, "watched: run", "0 begun 1; 5 ended 1 3", 5, "ready; failed: APP: Exited with status 3"},
    {12, "watched: run", "0 begun 1; 5 ended 1 0; 9 cut 0 stopped", 9, "ready; cut"},
    {12, "watched: run + run", "0 begun 1; 0 begun 2; 5 ended 1 0", 5, "cut 2 beside; ready"},

    {9, "setup: run + run", "0 begun 1; 3 cut 0 stopped; 4 ended 1 0", 4, "cut"},
    {9, "serial(run run)", "0 cut 0 stopped", 0, "ready; cut"},
    {9, "serial(try(run) run)", "0 begun 3; 3 cut 0 stopped; 4 ended 3 0", 4, "ready; cut"},
    {9, "serial(run run)", "0 begun 2; 3 cut 0 stopped", 10002, "term 2; due 10003; ready"},
    {9, "serial(run run)", "0 begun 2; 3 cut 0 stopped", 10003, "kill 2; due 11003; ready"},
    {9, "serial(run run)", "0 begun 2; 3 cut 0 stopped", 11003, "cut 2 stuck; ready"},
    {9, "serial(run run)", "0 begun 2; 3 cut 0 stopped; 11003 cut 2 stuck", 11004,
     "stuck; ready; failed: process did not exit"},
    {9, "timeout:500(run)", "0 begun 2; 500 cut 1 timeout; 12000 cut 2 stuck", 12000,
     "stuck; ready; failed: exceeded 500ms timeout; process did not exit"},
    {9, "serial(run run)", "0 cut 0 stopped; 7 begun 2", 8, /* its shim was under way */
     "term 2; due 10007; ready"},
    {9, "codependent(run run)", "0 begun 2; 0 begun 3; 1 cut 0 stopped; 2 ended 2 0", 2,
     "term 3; due 10001; ready"},
    {9, "timeout:500(run)", "0 begun 2; 1 cut 0 stopped", 600, "term 2; due 10001; ready"},

    {10, "parallel(run run)",
     "0 begun 2; 0 begun 3; 1 ended 2 4; 2 cut 0 stopped; 3 ended 3 sig15", 3,
     "ready; failed: APP: Exited with status 4"},
    {10, "parallel(run run)",
     "0 begun 2; 0 begun 3; 1 ended 2 0; 2 cut 0 stopped; 3 ended 3 sig15", 3, "ready; cut"},
    {10, "codependent(run run)",
     "0 begun 2; 0 begun 3; 2 cut 0 stopped; 3 ended 2 0; 3 ended 3 0", 3, "ready; cut"},

    {11, "serial(run run)", "0 begun 2; 9 lost 2", 9, "ready; failed: its process was lost"},
    {11, "parallel(run run)", "0 begun 2; 9 lost 2", 9, "begin 3"},
    {11, "serial(run run)", "0 begun 2; 1 begun 2; 5 ended 2 0; 6 ended 2 1", 9,
     "begin 3; ready"}, /* the first word counts */
    {11, "serial(run run)", "0 begun 77; 5 ended 77 0", 9, "begin 2"},

    {13, "serial(get:A run)", "", 0, "begin 2"},
    {13, "serial(get:A run)", "0 begun 2", 1, ""}, /* not ready while files come */
    {13, "serial(get:A run)", "0 begun 2; 5 ended 2 0:17", 5, "begin 3"},
    {13, "serial(get:A run)", "0 begun 2; 5 ended 2 0:17; 6 begun 3", 6, "ready"},
    {13, "serial(run put:B)", "0 begun 2; 5 ended 2 0; 6 begun 3; 9 ended 3 0:1", 9, "ready; well"},
    {13, "serial(get run)", "0 begun 2; 5 ended 2 1:status 500", 5,
     "ready; failed: Downloading failed"},
    {13, "serial(get:A run)", "0 begun 2; 5 ended 2 1:status 500", 5,
     "ready; failed: Downloading A failed"},
    {13, "serial(get:A run)", "0 begun 2; 5 ended 2 4:no room", 5,
     "ready; failed: Copying A into the container failed: no room"},
    {13, "serial(put run)", "0 begun 2; 5 ended 2 1:status 500", 5,
     "ready; failed: Failed to upload payload"},
    {13, "serial(put:A run)", "0 begun 2; 5 ended 2 4:no file", 5,
     "ready; failed: Failed to establish stream from container for A"},
    {13, "serial(put:A run)", "0 begun 2; 5 ended 2 sig9", 5,
     "ready; failed: Failed to upload payload for A"},
    {13, "serial(get:A run)", "0 begun 2; 5 lost 2", 5, "begin 2"},
    {13, "serial(get:A run)", "0 begun 2; 5 lost 2; 6 begun 2", 9, ""},
    {13, "serial(get:A run)", "0 begun 2; 5 lost 2; 6 begun 2; 7 lost 2; 8 begun 2", 9, ""},
    {13, "serial(get:A run)", "0 begun 2; 5 lost 2; 6 begun 2; 7 lost 2; 8 begun 2; 9 lost 2", 9,
     "ready; failed: its process was lost"},
    {13, "timeout:500(get:A)", "100 begun 2; 200 lost 2; 300 begun 2", 400, "due 600"},
    {13, "timeout:500(get:A)", "100 begun 2; 600 cut 1 timeout", 600, "kill 2; due 11600"},
    {13, "timeout:500(get:A)", "100 begun 2; 600 cut 1 timeout; 601 ended 2 sig9", 601,
     "ready; failed: exceeded 500ms timeout"},
    {13, "timeout:500(get:A)", "100 begun 2; 500 lost 2; 600 cut 1 timeout", 600,
     "failed: exceeded 500ms timeout"},
    {13, "parallel(get:A run)", "0 begun 2; 0 begun 3; 9 cut 0 stopped", 9,
     "kill 2; term 3; due 10009"},

    {15, "serial(run run)", "0 begun 2; 5 lost 0", 5, "term 2; due 10005; ready"},
    {15, "serial(run run)", "0 begun 2; 5 lost 0; 6 ended 2 sig9", 6,
     "ready; failed: its shim was killed, and the container with it"},
    {15, "serial(run run)", "0 begun 2; 5 lost 0; 6 lost 2", 6,
     "ready; failed: its shim was killed, and the container with it"},
    {15, "serial(get:A run)", "0 begun 2; 5 lost 0; 6 ended 2 sig9", 6,
     "ready; failed: its shim was killed, and the container with it"},
    {15, "serial(run run)", "0 begun 2; 5 lost 0 its machine was restarted; 6 ended 2 sig9", 6,
     "ready; failed: its machine was restarted"},
    {15, "parallel(run run)", "0 begun 2; 0 begun 3; 4 ended 2 3; 5 lost 0; 6 ended 3 sig9", 6,
     "ready; failed: APP: Exited with status 3"},
    {15, "run", "0 begun 1; 4 ended 1 0; 5 lost 0", 6, "ready; well"},
    {15, "serial(run run)", "0 begun 2; 4 cut 0 stopped; 5 lost 0; 6 ended 2 sig9", 6,
     "ready; cut"},
};

/* Of containers that are made, and do not run yet. */
static const struct row before[] = {
    {14, "with: get:A get:B + run", "", 0, "begin 2 3"},
    {14, "with: get:A get:B + run", "0 begun 2; 0 begun 3; 5 ended 2 0:1", 5, ""},
    {14, "with: get:A get:B + run", "0 begun 2; 0 begun 3; 5 ended 2 0:1; 6 lost 3", 6, "begin 3"},
    {14, "with: get:A get:B + setup: run + run",
     "0 begun 2; 0 begun 3; 5 ended 2 0:1; 6 ended 3 0:0", 6, "start"},
    {14, "with: get:A get:B + run", "0 begun 2; 0 begun 3; 5 ended 2 1:no", 5, ""},
    {14, "with: get:A get:B + run", "0 begun 2; 0 begun 3; 5 ended 2 1:no; 6 ended 3 0:7", 6,
     "failed: failed to download cached artifacts"},
    {14, "run + run", "", 0, "start"},
};

static const struct row inside[] = {
    {14, "with: get:A + setup: run + run", "0 begun 2; 5 ended 2 0:1", 6, "begin 3"},
    {14, "with: get:A + run", "0 begun 2; 5 ended 2 0:1", 6, "begin 3"},
    {14, "with: get:A + run", "0 begun 2; 5 ended 2 0:1; 6 begun 3", 6, "ready"},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static struct steps_orders next_of(struct arena *a, const char *tree, const char *facts,
                                   int64_t now_ms, enum steps_where where)
{
    size_t count;
    struct action_tree *t = ARENA_NEW(a, struct action_tree);
    *t = steps_text_tree(a, tree);
    struct step_fact *f = steps_text_facts(a, facts, &count);
    return steps_next(a, t, f, count, now_ms * MILLISECOND_NS, where);
}

static unsigned try_rows(const struct row *list, size_t count, enum steps_where where)
{
    unsigned rules = 0;
    for (size_t i = 0; i < count; i++) {
        SCOPED_ARENA(a);
        const struct row *r = &list[i];
        struct steps_orders o = next_of(&a, r->tree, r->facts, r->now_ms, where);
        const char *next = steps_text_orders(&a, &o);
        if (strcmp(next, r->next) != 0) {
            fail_msg("%d: %s, facts \"%s\" at %d: \"%s\", not \"%s\"", r->rule, r->tree, r->facts,
                     (int)r->now_ms, next, r->next);
        }
        rules |= 1U << r->rule;
    }
    return rules;
}

static void every_row_says_what_is_next(void **state)
{
    unsigned rules = try_rows(rows, ROW_COUNT, STEPS_INSIDE);
    rules |= try_rows(before, sizeof(before) / sizeof(before[0]), STEPS_BEFORE);
    rules |= try_rows(inside, sizeof(inside) / sizeof(inside[0]), STEPS_INSIDE);
    assert_int_equal(rules, (1U << 16) - 2); /* each rule has a row */
}

/* Once its processes are gone it is over, whatever had been left to do. */
static void what_is_gone_is_over(void **state)
{
    static const struct row gone[] = {
        {0, "serial(run run)", "", 9, "failed: its process was lost"},
        {0, "serial(run run)", "0 begun 2", 9, "ready; failed: its process was lost"},
        {15, "serial(run run)", "0 begun 2; 5 lost 0 its machine was restarted", 9,
         "ready; failed: its machine was restarted"},
        {15, "serial(run run)", "0 begun 2; 4 ended 2 0; 5 lost 0 its machine was restarted", 9,
         "ready; failed: its machine was restarted"},
        {15, "serial(run run)", "0 begun 2; 4 ended 2 3; 5 lost 0 its machine was restarted", 9,
         "ready; failed: APP: Exited with status 3"},
        {15, "with: get:A + run", "0 begun 2; 5 lost 0 its machine was restarted", 9,
         "failed: its machine was restarted"},
        {0, "serial(run run)", "0 begun 2; 5 ended 2 1", 9,
         "ready; failed: APP: Exited with status 1"},
        {0, "serial(run run)", "0 begun 2; 5 ended 2 0", 9, "ready; failed: its process was lost"},
        {0, "serial(run run)", "0 begun 2; 5 cut 0 stopped", 9, "ready; cut"},
        /* At its end nobody says what time it is, and a cut that is a fact counts all the same. */
        {0, "serial(run run)", "0 begun 2; 5 cut 0 stopped", 0, "ready; cut"},
        {0, "timeout:5(run)", "0 begun 2; 5 cut 1 timeout", 0,
         "ready; failed: exceeded 5ms timeout"},
        {0, "serial(try(run) run)", "0 begun 3", 9, "ready; failed: its process was lost"},
        {0, "run + run", "0 begun 1; 0 begun 2; 3 ended 2 0; 3 cut 1 beside", 9, "ready; well 2"},
    };
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        SCOPED_ARENA(a);
        struct steps_orders o =
            next_of(&a, gone[i].tree, gone[i].facts, gone[i].now_ms, STEPS_GONE);
        assert_string_equal(steps_text_orders(&a, &o), gone[i].next);
    }
}

static void lines_of_the_log(void **state)
{
    static const struct row said[] = {
        {0, "serial(run run:WEB)", "", 0, ""},
        {0, "serial(run run:WEB)", "0 begun 2; 1 ended 2 0; 1 begun 3; 2 ended 3 sig9", 2,
         "out APP: Exit status 0; out WEB: Exit status 137"},
        {0, "serial(run run)", "0 begun 2; 1 ended 2 \"no program\"", 2, ""},
        {0, "serial(run run)", "0 begun 2; 1 lost 2", 2, ""},
        {0, "serial(run run)", "0 begun 2; 3 cut 0 stopped; 10004 ended 2 sig9", 10004,
         "out APP: Exit status 137 (exceeded 10s graceful shutdown interval)"},
        {0, "serial(run run)", "0 begun 2; 3 cut 0 stopped; 9004 ended 2 sig15", 9004,
         "out APP: Exit status 143"},
        {0, "say(run)", "", 0, "out SAY: begins"}, /* before it does */
        {0, "serial(run say(run))", "0 begun 2", 1, ""},
        {0, "codependent(run say(run))", "0 begun 2; 1 ended 2 0", 1, "out APP: Exit status 0"},
        {0, "say(run)", "0 begun 2", 0, "out SAY: begins"},
        {0, "say(run)", "0 begun 2; 1 ended 2 0", 1,
         "out SAY: begins; out APP: Exit status 0; out SAY: done"},
        {0, "say(run)", "0 begun 2; 1 ended 2 4", 1,
         "out SAY: begins; out APP: Exit status 4; err SAY: bad: APP: Exited with status 4"},
        {0, "say(run)", "0 begun 2; 1 cut 0 stopped; 2 ended 2 0", 2,
         "out SAY: begins; out APP: Exit status 0; err SAY: bad"},
        {0, "get:A", "", 0, "out APP: Downloading A..."},
        {0, "serial(get:A get)", "0 begun 2; 1 ended 2 0:1258291; 2 begun 3; 3 ended 3 0:9", 3,
         "out APP: Downloading A...; out APP: Downloaded A (1.2M)"},
        {0, "serial(get:A put:B)", "0 begun 2; 1 ended 2 0:0; 2 begun 3", 3, /* cached */
         "out APP: Downloading A...; out APP: Downloaded A; out APP: Uploading B..."},
        {0, "put:B", "0 begun 1; 1 ended 1 0:17", 1,
         "out APP: Uploading B...; out APP: Uploaded B (17B)"},
        {0, "get:A", "0 begun 1; 1 ended 1 1:status 500", 1,
         "out APP: Downloading A...; err APP: Downloading A failed: status 500"},
        {0, "get", "0 begun 1; 1 ended 1 1:status 500", 1,
         "err APP: Downloading failed: status 500"},
        {0, "get:A", "0 begun 1; 1 ended 1 4:no room", 1,
         "out APP: Downloading A...; err APP: Copying A into the container failed: no room"},
        {0, "put:A", "0 begun 1; 1 ended 1 4:no file", 1,
         "out APP: Uploading A...; "
         "err APP: Failed to establish stream from container for A: no file"},
        {0, "get:A", "0 begun 1; 1 cut 0 stopped; 2 ended 1 sig9", 2, "out APP: Downloading A..."},
        {0, "say(try(run))", "0 begun 3; 1 ended 3 4", 1,
         "out SAY: begins; out APP: Exit status 4; out SAY: done"},
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        SCOPED_ARENA(a);
        struct steps_orders o =
            next_of(&a, said[i].tree, said[i].facts, said[i].now_ms, STEPS_INSIDE);
        assert_string_equal(steps_text_lines(&a, &o), said[i].next);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_is_next),
        cmocka_unit_test(what_is_gone_is_over),
        cmocka_unit_test(lines_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The works of a CRM: where the site stands, and what is done next; how they fail (crm/work.h).
 * Each row is also that of a CRM that died and goes on. */
#include "common/base/bytes.h"
#include "crm/work.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_NS (100 * SECOND_NS)

enum { LRPS_MAX = 4 };

struct fixture {
    struct arena arena;
    struct crm_record record;
    struct crm_planned planned;
    struct crm_work work;
    struct crm_site_lrp lrps[LRPS_MAX];
    struct crm_site site;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    x->site.lrps = x->lrps;
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    crm_work_done(&x->work);
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

/* At second 1; the record's digest is "new". */
static void begin(struct fixture *x, enum crm_kind kind, int record_state, enum crm_task task)
{
    crm_work_done(&x->work);
    x->record = (struct crm_record){.kind = kind,
                                    .name = "acme/paris/dev/web",
                                    .uid = "u1",
                                    .state = record_state,
                                    .digest = "new",
                                    .former_digest = "old",
                                    .cluster_uid = "u1"};
    x->planned = (struct crm_planned){.kind = kind,
                                      .uid = "u1",
                                      .name = x->record.name,
                                      .record = &x->record,
                                      .action = {SAY_NOTHING, task}};
    crm_work_init(&x->work, &x->planned, 7, LIMIT_NS, SECOND_NS);
}

/* "-" = it does not stand. */
static void slice(struct fixture *x, const char *digest)
{
    x->site.slice = (struct crm_site_slice){.stands = strcmp(digest, "-") != 0, .digest = digest};
}

/* "old 2/2, new 0/2, gone 1": desired ones with what has run of what is wanted; others with their
 * instances. Each guid is "a-DIGEST". */
static void lrps(struct fixture *x, const char *text)
{
    char *rest, *words = arena_strdup(&x->arena, text);
    x->site.lrp_count = 0;
    for (char *w = strtok_r(words, ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
        struct crm_site_lrp *lrp = &x->lrps[x->site.lrp_count++];
        char digest[16];
        unsigned ran, wanted;
        int read = sscanf(w, " %15s %u/%u", digest, &ran, &wanted);
        *lrp = (struct crm_site_lrp){.process_guid = arena_printf(&x->arena, "a-%s", digest),
                                     .digest = arena_strdup(&x->arena, digest),
                                     .desired = read == 3,
                                     .instances = ran};
        lrp->ran = read == 3 ? ran : 0;
        lrp->wanted = read == 3 ? wanted : 0;
    }
}

/* "desire (1 of 3: it is desired at the site)" */
static const char *next(struct fixture *x, int64_t second)
{
    static const char *const words[CRM_STEP_KIND_COUNT] = {
        "wait", "make slice", "resize slice", "drop slice", "desire", "remove", "done", "failed"};
    struct crm_step step;
    crm_work_next(&x->work, &x->arena, &x->site, second * SECOND_NS, &step);
    buf_clear(&x->text);
    buf_append_string(&x->text, words[step.kind]);
    if (step.kind == STEP_REMOVE) {
        buf_printf(&x->text, " %s", step.process_guid);
    }
    if (step.text) {
        buf_printf(&x->text, " (%u of %u: %s)", step.number, step.of, step.text);
    }
    if (step.kind == STEP_FAILED) {
        buf_printf(&x->text, ": %s", step.error);
    }
    return buf_string(&x->text);
}

static void answer(struct fixture *x, enum crm_answer answer_is, const char *why, int64_t second)
{
    crm_work_answered(&x->work, answer_is, why, second * SECOND_NS);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static void a_slice_at_each_step(void **state)
{
    struct fixture *x = *state;
    static const struct {
        enum crm_task task;
        const char *slice, *step;
    } rows[] = {
        {WORK_MAKE, "-", "make slice (1 of 1: the slice is reserved)"},
        {WORK_MAKE, "new", "done"},
        {WORK_MAKE, "old", "resize slice (1 of 1: the slice is given its size)"},
        {WORK_REPLACE, "-", "make slice (1 of 1: the slice is reserved)"},
        {WORK_REPLACE, "new", "done"},
        {WORK_REPLACE, "old", "drop slice"},
        {WORK_REMOVE, "-", "done"},
        {WORK_REMOVE, "new", "drop slice"},
        {WORK_REMOVE, "old", "drop slice"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(x, CRM_CLUSTER, TRACKED_CREATING, rows[i].task);
        slice(x, rows[i].slice);
        assert_string_equal(next(x, 2), rows[i].step);
    }
}

static void a_slice_that_is_refused_fails(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_CLUSTER, TRACKED_CREATING, WORK_MAKE);
    slice(x, "-");
    answer(x, ANSWER_REFUSED, "slice u1: not enough room", 2);
    assert_string_equal(next(x, 2), "failed: slice u1: not enough room");
    begin(x, CRM_CLUSTER, TRACKED_UPDATING, WORK_MAKE); /* the former one stays */
    slice(x, "old");
    answer(x, ANSWER_REFUSED, "slice u1: not enough room", 2);
    assert_string_equal(next(x, 2), "failed: slice u1: not enough room");
}

static void what_is_to_go_is_tried_again(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_CLUSTER, TRACKED_DELETING, WORK_REMOVE);
    slice(x, "new");
    answer(x, ANSWER_REFUSED, "something runs in it", 2);
    assert_int_equal(crm_work_due_ns(&x->work), 2 * SECOND_NS + WORK_AGAIN_FIRST_NS);
    assert_string_equal(next(x, 2), "wait");
    assert_string_equal(next(x, 3), "drop slice");
    for (int i = 0; i < 20; i++) {
        answer(x, ANSWER_REFUSED, "something runs in it", 10);
    }
    assert_int_equal(crm_work_due_ns(&x->work), 10 * SECOND_NS + WORK_AGAIN_MOST_NS); /* the most */
    assert_string_equal(next(x, 90), "drop slice");
    assert_string_equal(next(x, 91), "failed: it did not come to an end in time: something runs in "
                                     "it; left behind: slice u1");
}

/* ---- App instances --------------------------------------------------------------------------- */

static void an_app_at_each_step(void **state)
{
    struct fixture *x = *state;
    static const struct {
        enum crm_task task;
        const char *lrps, *step;
    } rows[] = {
        {WORK_MAKE, "", "desire (1 of 3: it is desired at the site)"},
        {WORK_MAKE, "new 0/2", "wait (2 of 3: 0 of 2 instances RUNNING)"},
        {WORK_MAKE, "new 1/2", "wait (2 of 3: 1 of 2 instances RUNNING)"},
        {WORK_MAKE, "new 2/2", "done"},
        /* An update: the new beside the old, which goes when all of the new has run. */
        {WORK_MAKE, "old 2/2", "desire (1 of 3: it is desired at the site)"},
        {WORK_MAKE, "old 2/2, new 1/2", "wait (2 of 3: 1 of 2 instances RUNNING)"},
        {WORK_MAKE, "old 2/2, new 2/2", "remove a-old"},
        {WORK_MAKE, "old 2, new 2/2", "wait (3 of 3: 2 instances of the former end)"},
        {WORK_MAKE, "old 0, new 2/2", "done"},
        {WORK_MAKE, "new 1", "desire (1 of 3: it is desired at the site)"},
        {WORK_REPLACE, "old 2/2", "remove a-old"},
        {WORK_REPLACE, "old 1", "wait (3 of 3: 1 instances of the former end)"},
        {WORK_REPLACE, "", "desire (1 of 3: it is desired at the site)"},
        {WORK_REPLACE, "new 2/2", "done"},
        {WORK_REMOVE, "old 1/1, new 2/2", "remove a-old"},
        {WORK_REMOVE, "new 2/2", "remove a-new"},
        {WORK_REMOVE, "new 1", "wait (3 of 3: 1 instances of the former end)"},
        {WORK_REMOVE, "", "done"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(x, CRM_APP, TRACKED_CREATING, rows[i].task);
        lrps(x, rows[i].lrps);
        if (strcmp(next(x, 2), rows[i].step) != 0) {
            fail_msg("%d of \"%s\": %s, not %s", (int)rows[i].task, rows[i].lrps,
                     buf_string(&x->text), rows[i].step);
        }
    }
}

/* What it made goes, and the old one stays. */
static void an_update_that_is_refused_or_late_is_undone(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    lrps(x, "old 2/2");
    answer(x, ANSWER_REFUSED, "slice c1: not enough memory", 2);
    assert_string_equal(next(x, 2), "failed: slice c1: not enough memory");
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    lrps(x, "old 2/2, new 1/2");
    assert_int_equal(crm_work_due_ns(&x->work), 91 * SECOND_NS);
    assert_string_equal(next(x, 90), "wait (2 of 3: 1 of 2 instances RUNNING)");
    assert_string_equal(next(x, 91), "remove a-new");
    assert_int_equal(crm_work_due_ns(&x->work), 101 * SECOND_NS);
    lrps(x, "old 2/2, new 1");
    assert_string_equal(next(x, 92), "wait");
    lrps(x, "old 2/2");
    assert_string_equal(next(x, 93), "failed: it did not come to an end in time");
}

/* No cell fits: the error has what the site says, not only that time is over. */
static void what_keeps_it_stands_in_the_error(void **state)
{
    struct fixture *x = *state;
    struct crm_step step;
    begin(x, CRM_APP, TRACKED_CREATING, WORK_MAKE);
    lrps(x, "new 1/2");
    x->lrps[0].why = "insufficient resources: memory";
    crm_work_next(&x->work, &x->arena, &x->site, 2 * SECOND_NS, &step);
    assert_int_equal(step.kind, STEP_WAIT);
    assert_string_equal(step.text, "1 of 2 instances RUNNING: insufficient resources: memory");
    crm_work_next(&x->work, &x->arena, &x->site, 91 * SECOND_NS, &step);
    assert_int_equal(step.kind, STEP_REMOVE);
    x->site.lrp_count = 0;
    crm_work_next(&x->work, &x->arena, &x->site, 92 * SECOND_NS, &step);
    assert_int_equal(step.kind, STEP_FAILED);
    assert_string_equal(step.error,
                        "it did not come to an end in time: insufficient resources: memory");
}

static void what_cannot_be_undone_is_told(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    lrps(x, "old 2/2, new 1/2");
    assert_string_equal(next(x, 91), "remove a-new");
    answer(x, ANSWER_AGAIN, "bbs cannot be reached", 91);
    assert_string_equal(next(x, 91), "wait");
    assert_string_equal(next(x, 101),
                        "failed: it did not come to an end in time; left behind: a-new");
    begin(x, CRM_APP, TRACKED_DELETING, WORK_REMOVE);
    lrps(x, "old 1, new 1/2");
    answer(x, ANSWER_AGAIN, "bbs cannot be reached", 90);
    assert_string_equal(next(x, 91), "failed: it did not come to an end in time: bbs cannot be "
                                     "reached; left behind: a-old, a-new");
}

/* The new runs, and the old does not go: the new is not taken away. */
static void what_has_run_is_not_undone(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    lrps(x, "old 2/2, new 2/2");
    assert_string_equal(next(x, 91),
                        "failed: it did not come to an end in time; left behind: a-old");
    lrps(x, "new 2/2"); /* what is done is done */
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    assert_string_equal(next(x, 1000), "done");
}

/* A READY object that the site lost is made again, however long it takes: no operation waits. */
static void what_was_ready_is_not_given_up(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_READY, WORK_MAKE);
    lrps(x, "");
    answer(x, ANSWER_REFUSED, "slice c1: it is not there", 2);
    assert_string_equal(next(x, 2), "wait");
    assert_string_equal(next(x, 100000), "desire (1 of 3: it is desired at the site)");
    lrps(x, "new 0/2");
    assert_string_equal(next(x, 100001), "wait (2 of 3: 0 of 2 instances RUNNING)");
    assert_int_equal(crm_work_due_ns(&x->work), NEVER_NS);
}

/* The feed of the site lags: what was done is not asked for once more at once. */
static void what_was_done_is_awaited(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_CREATING, WORK_REPLACE);
    lrps(x, "old 2/2");
    assert_string_equal(next(x, 2), "remove a-old");
    answer(x, ANSWER_DONE, "", 2);
    assert_int_equal(crm_work_due_ns(&x->work), 2 * SECOND_NS + WORK_SETTLES_NS);
    assert_string_equal(next(x, 2), "wait");
    lrps(x, ""); /* and what is to follow does not wait */
    assert_string_equal(next(x, 2), "desire (1 of 3: it is desired at the site)");
    answer(x, ANSWER_DONE, "", 2);
    assert_string_equal(next(x, 2), "wait");
    assert_string_equal(next(x, 3), "desire (1 of 3: it is desired at the site)");
    assert_int_equal(crm_work_due_ns(&x->work), 91 * SECOND_NS);
}

/* Of what has no record no operation waits either. */
static void what_is_pruned_is_not_given_up(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_DELETING, WORK_REMOVE);
    x->planned.record = NULL;
    crm_work_done(&x->work);
    crm_work_init(&x->work, &x->planned, 0, LIMIT_NS, SECOND_NS);
    lrps(x, "old 1/1");
    assert_string_equal(next(x, 100000), "remove a-old");
}

static void a_work_of_another_request_is_another_one(void **state)
{
    struct fixture *x = *state;
    begin(x, CRM_APP, TRACKED_UPDATING, WORK_MAKE);
    assert_true(crm_work_serves(&x->work, &x->planned, 7));
    assert_false(crm_work_serves(&x->work, &x->planned, 8));
    x->planned.action.work = WORK_REMOVE;
    assert_false(crm_work_serves(&x->work, &x->planned, 7));
    x->planned.action.work = WORK_MAKE;
    x->record.digest = "newer";
    assert_false(crm_work_serves(&x->work, &x->planned, 7));
    x->record.digest = "new";
    x->record.state = TRACKED_READY; /* a client did not wait */
    assert_false(crm_work_serves(&x->work, &x->planned, 7));
}

/* The bound of what is told. */
static void a_long_error_is_cut(void **state)
{
    struct fixture *x = *state;
    char why[2 * WORK_ERROR_MAX];
    memset(why, 'w', sizeof(why) - 1);
    why[sizeof(why) - 1] = 0;
    begin(x, CRM_CLUSTER, TRACKED_CREATING, WORK_MAKE);
    slice(x, "-");
    answer(x, ANSWER_REFUSED, why, 2);
    assert_int_equal(strlen(next(x, 2)), strlen("failed: ") + WORK_ERROR_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_slice_at_each_step),
        TEST(a_slice_that_is_refused_fails),
        TEST(what_is_to_go_is_tried_again),
        TEST(an_app_at_each_step),
        TEST(an_update_that_is_refused_or_late_is_undone),
        TEST(what_keeps_it_stands_in_the_error),
        TEST(what_cannot_be_undone_is_told),
        TEST(what_has_run_is_not_undone),
        TEST(what_was_ready_is_not_given_up),
        TEST(what_was_done_is_awaited),
        TEST(what_is_pruned_is_not_given_up),
        TEST(a_work_of_another_request_is_another_one),
        TEST(a_long_error_is_cut),
    };
    return cmocka_run_group_tests_name("crm: work", tests, NULL, NULL);
}

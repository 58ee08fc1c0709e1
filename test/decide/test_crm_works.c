/* The works of a CRM together: which are begun, given up and told of (crm/works.h). */
#include "common/base/bytes.h"
#include "crm/works.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_NS (100 * SECOND_NS)

struct fixture {
    struct arena arena;
    struct crm_works works;
    struct crm_record record;
    struct crm_planned planned;
    struct crm_plan plan;
    struct crm_site site;
    struct crm_site_lrp lrp;
    struct buf text;
};

/* An app instance x that is to come, request 7. */
static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    crm_works_init(&x->works);
    x->record = (struct crm_record){.kind = CRM_APP,
                                    .name = "shop",
                                    .uid = "x",
                                    .state = TRACKED_CREATE_REQUESTED,
                                    .request = 7,
                                    .limit_ns = LIMIT_NS,
                                    .digest = "new",
                                    .cluster_uid = "c1"};
    x->planned = (struct crm_planned){.kind = CRM_APP,
                                      .uid = "x",
                                      .name = "shop",
                                      .record = &x->record,
                                      .action = {SAY_CREATING, WORK_MAKE}};
    x->plan = (struct crm_plan){.list = &x->planned, .count = 1};
    x->lrp = (struct crm_site_lrp){
        .process_guid = "a-x-new", .digest = "new", .desired = true, .wanted = 2};
    x->site.lrps = &x->lrp;
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    crm_works_done(&x->works);
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

/* "x creating; busy x" */
static const char *follow(struct fixture *x, int64_t second)
{
    struct crm_said *list;
    const char *const *uids;
    size_t count = crm_works_follow(&x->works, &x->arena, &x->plan, second * SECOND_NS, &list);
    buf_clear(&x->text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&x->text, "%s %s%s%s ", list[i].about->uid, crm_say_name(list[i].say),
                   list[i].error ? ": " : "", list[i].error ? list[i].error : "");
    }
    size_t busy = crm_works_busy(&x->works, &x->arena, &uids);
    for (size_t i = 0; i < busy; i++) {
        buf_printf(&x->text, "busy %s ", uids[i]);
    }
    return buf_string(&x->text);
}

static void site_of(void *context, struct arena *a, const char *uid, struct crm_site *ret)
{
    (void)a, (void)uid;
    *ret = ((struct fixture *)context)->site;
}

/* "x desire (it is desired at the site)" */
static const char *next(struct fixture *x, int64_t second)
{
    static const char *const words[CRM_STEP_KIND_COUNT] = {
        "wait", "make slice", "resize slice", "drop slice", "desire", "remove", "done", "failed"};
    struct crm_wanted *list;
    size_t count = crm_works_next(&x->works, &x->arena, site_of, x, second * SECOND_NS, &list);
    buf_clear(&x->text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&x->text, "%s %s", list[i].work->uid, words[list[i].step.kind]);
        if (list[i].step.text) {
            buf_printf(&x->text, " (%s)", list[i].step.text);
        }
    }
    return buf_string(&x->text);
}

static void a_work_from_begin_to_end(void **state)
{
    struct fixture *x = *state;
    assert_string_equal(follow(x, 1), "x creating busy x ");
    assert_string_equal(follow(x, 1), "x creating busy x "); /* until it is heard */
    assert_string_equal(next(x, 1), "x desire (it is desired at the site)");
    assert_string_equal(next(x, 1), ""); /* an answer is awaited */
    assert_int_equal(crm_works_due_ns(&x->works), NEVER_NS);
    crm_works_answered(&x->works, "x", 7, ANSWER_DONE, "", SECOND_NS);
    x->record.state = TRACKED_CREATING;
    x->planned.action = (struct crm_action){SAY_NOTHING, WORK_MAKE};
    x->site.lrp_count = 1;
    assert_string_equal(follow(x, 2), "busy x ");
    assert_string_equal(next(x, 2), "x wait (0 of 2 instances RUNNING)");
    assert_string_equal(next(x, 2), ""); /* told once */
    x->lrp.ran = 1;
    assert_string_equal(next(x, 2), "x wait (1 of 2 instances RUNNING)");
    x->lrp.ran = 2;
    assert_string_equal(next(x, 2), "");
    x->planned.action = (struct crm_action){SAY_READY, WORK_NONE};
    assert_string_equal(follow(x, 3), "x ready ");
    assert_string_equal(follow(x, 3), "x ready "); /* until the record says so */
}

static void what_waits_is_not_begun(void **state)
{
    struct fixture *x = *state;
    x->planned.waits_for = "cluster c1";
    assert_string_equal(follow(x, 1), "");
    x->planned.waits_for = NULL;
    assert_string_equal(follow(x, 1), "x creating busy x ");
}

static void a_failure_is_told_until_it_is_heard(void **state)
{
    struct fixture *x = *state;
    follow(x, 1);
    next(x, 1);
    crm_works_answered(&x->works, "x", 7, ANSWER_REFUSED, "no room", SECOND_NS);
    assert_string_equal(next(x, 1), "");
    x->record.state = TRACKED_CREATING;
    x->planned.action = (struct crm_action){SAY_NOTHING, WORK_MAKE};
    assert_string_equal(follow(x, 2), "x fail: no room ");
    assert_string_equal(follow(x, 3), "x fail: no room "); /* and is not begun again */
    assert_int_equal(crm_works_due_ns(&x->works), NEVER_NS);
    x->record.request = 8; /* another try */
    assert_string_equal(follow(x, 4), "busy x ");
    assert_string_equal(next(x, 4), "x desire (it is desired at the site)");
}

static void a_work_that_is_not_wanted_is_over(void **state)
{
    struct fixture *x = *state;
    follow(x, 1);
    next(x, 1);
    x->plan.count = 0;
    assert_string_equal(follow(x, 2), "");
    crm_works_answered(&x->works, "x", 7, ANSWER_REFUSED, "late", 2 * SECOND_NS); /* nobody's */
    x->plan.count = 1;
    x->record.state = TRACKED_DELETE_REQUESTED;
    x->record.request = 8;
    x->planned.action = (struct crm_action){SAY_DELETING, WORK_REMOVE};
    x->site.lrp_count = 1;
    assert_string_equal(follow(x, 3), "x deleting busy x ");
    crm_works_answered(&x->works, "x", 7, ANSWER_REFUSED, "late", 3 * SECOND_NS);
    assert_string_equal(next(x, 3), "x remove");
    crm_works_answered(&x->works, "x", 7, ANSWER_REFUSED, "late", 3 * SECOND_NS); /* of before */
    assert_string_equal(next(x, 3), "");
    crm_works_answered(&x->works, "x", 8, ANSWER_DONE, "", 3 * SECOND_NS);
    x->site.lrp_count = 0;
    assert_string_equal(next(x, 3), "");
    x->planned.action = (struct crm_action){SAY_DELETED, WORK_NONE};
    assert_string_equal(follow(x, 4), "x deleted ");
}

static void a_report_goes_on_beside_a_work(void **state)
{
    struct fixture *x = *state;
    x->record.state = TRACKED_READY;
    x->planned.action = (struct crm_action){SAY_REPORT, WORK_MAKE};
    assert_string_equal(follow(x, 1), "x report busy x ");
    assert_string_equal(follow(x, 2), "x report busy x ");
    x->planned.waits_for = "cluster c1";
    assert_string_equal(follow(x, 3), "x report busy x ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_work_from_begin_to_end),
        TEST(what_waits_is_not_begun),
        TEST(a_failure_is_told_until_it_is_heard),
        TEST(a_work_that_is_not_wanted_is_over),
        TEST(a_report_goes_on_beside_a_work),
    };
    return cmocka_run_group_tests_name("crm: works", tests, NULL, NULL);
}

/* How a site follows the centre: each cell of the table (crm/harmonise.def), and all objects
 * together: order, what waits, what is pruned (docs/edge.md, What the CRM does). */
#include "common/base/bytes.h"
#include "crm/harmonise.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const struct {
    int state;
    /* nothing, incomplete, complete, another digest: "say+work" */
    const char *actions[CRM_HOLDS_COUNT];
} rows[] = {
    {TRACKED_NONE, {"+", "+remove", "+remove", "+remove"}},
    {TRACKED_CREATING_DEPENDENCIES, {"+", "+", "+", "+"}},
    {TRACKED_CREATE_REQUESTED, {"creating+make", "creating+make", "ready+", "creating+replace"}},
    {TRACKED_CREATING, {"+make", "+make", "ready+", "+replace"}},
    {TRACKED_CREATE_ERROR, {"+", "+", "+", "+"}},
    {TRACKED_READY, {"+make", "report+make", "report+", "+make"}},
    {TRACKED_UPDATE_REQUESTED, {"updating+make", "updating+make", "ready+", "updating+make"}},
    {TRACKED_UPDATING, {"+make", "+make", "ready+", "+make"}},
    {TRACKED_UPDATE_ERROR, {"+", "+", "+", "restored+"}},
    {TRACKED_DELETE_PREPARE, {"+", "+", "+", "+"}},
    {TRACKED_DELETE_REQUESTED,
     {"deleted+", "deleting+remove", "deleting+remove", "deleting+remove"}},
    {TRACKED_DELETING, {"deleted+", "+remove", "+remove", "+remove"}},
    {TRACKED_DELETE_ERROR, {"+", "+", "+", "+"}},
};

static void each_state_beside_what_the_site_holds(void **state)
{
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), tracked_lifecycle.state_count);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int holds = 0; holds < CRM_HOLDS_COUNT; holds++) {
            struct crm_action action = crm_harmonise(rows[i].state, (enum crm_holds)holds);
            char text[64];
            snprintf(text, sizeof(text), "%s+%s", crm_say_name(action.say),
                     crm_task_name(action.work));
            if (strcmp(text, rows[i].actions[holds]) != 0) {
                fail_msg("%s, %d: %s, not %s", tracked_lifecycle.states[rows[i].state], holds, text,
                         rows[i].actions[holds]);
            }
        }
    }
}

/* What a CRM says is a move that the lifecycle has from there: it never says what is refused. */
static void what_is_said_is_a_move(void **state)
{
    static const int triggers[CRM_SAY_COUNT] = {
        [SAY_CREATING] = TRACKED_TRIGGER_CREATING, [SAY_UPDATING] = TRACKED_TRIGGER_UPDATING,
        [SAY_DELETING] = TRACKED_TRIGGER_DELETING, [SAY_READY] = TRACKED_TRIGGER_READY,
        [SAY_DELETED] = TRACKED_TRIGGER_DELETED,   [SAY_RESTORED] = TRACKED_TRIGGER_REPORT,
        [SAY_REPORT] = TRACKED_TRIGGER_REPORT};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int holds = 0; holds < CRM_HOLDS_COUNT; holds++) {
            struct crm_action action = crm_harmonise(rows[i].state, (enum crm_holds)holds);
            if (action.say != SAY_NOTHING) {
                assert_true(lifecycle_transition(&tracked_lifecycle, rows[i].state, ACTOR_CRM,
                                                 triggers[action.say],
                                                 TRACKED_IF_ANSWERS | TRACKED_IF_SESSION) >= 0);
            }
        }
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

enum { OBJECTS_MAX = 256 };

struct fixture {
    struct arena arena;
    struct crm_record records[OBJECTS_MAX];
    struct crm_held held[OBJECTS_MAX];
    const char *busy[OBJECTS_MAX];
    struct crm_plan_input in;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    x->in = (struct crm_plan_input){.records = x->records,
                                    .held = x->held,
                                    .snapshot = true,
                                    .epoch_known = true,
                                    .busy = x->busy};
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

/* A cluster "c..." , else an app instance, in cluster "c1". Its name is "name of UID". */
static struct crm_record *record(struct fixture *x, const char *uid, int state, const char *digest)
{
    struct crm_record *r = &x->records[x->in.record_count++];
    *r = (struct crm_record){.kind = uid[0] == 'c' ? CRM_CLUSTER : CRM_APP,
                             .name = arena_printf(&x->arena, "name of %s", uid),
                             .uid = uid,
                             .state = state,
                             .digest = digest,
                             .former_digest = "former",
                             .cluster_uid = uid[0] == 'c' ? uid : "c1"};
    return r;
}

static struct crm_held *held(struct fixture *x, const char *uid, const char *digest, bool whole)
{
    struct crm_held *h = &x->held[x->in.held_count++];
    *h = (struct crm_held){.kind = uid[0] == 'c' ? CRM_CLUSTER : CRM_APP,
                           .uid = uid,
                           .name = arena_printf(&x->arena, "name of %s", uid),
                           .digest = digest,
                           .cluster_uid = uid[0] == 'c' ? uid : "c1",
                           .whole = whole};
    return h;
}

static void busy(struct fixture *x, const char *uid)
{
    x->busy[x->in.busy_count++] = uid;
}

/* "c1 creating+make, a1 creating+make (waits for cluster name of c1)" */
static const char *planned(struct fixture *x)
{
    struct crm_plan plan;
    crm_plan(&x->arena, &x->in, &plan);
    buf_clear(&x->text);
    for (size_t i = 0; i < plan.count; i++) {
        const struct crm_planned *one = &plan.list[i];
        buf_printf(&x->text, "%s%s %s+%s", i ? ", " : "", one->uid, crm_say_name(one->action.say),
                   crm_task_name(one->action.work));
        if (one->waits_for) {
            buf_printf(&x->text, " (waits for %s)", one->waits_for);
        }
    }
    if (plan.foreign) {
        buf_printf(&x->text, "; foreign %zu: %s", plan.foreign, plan.foreign_names[0]);
    }
    return buf_string(&x->text);
}

static void what_a_site_holds_of_a_record(void **state)
{
    struct fixture *x = *state;
    record(x, "c1", TRACKED_UPDATING, "new");
    assert_string_equal(planned(x), "c1 +make");
    held(x, "c1", "new", false);
    assert_string_equal(planned(x), "c1 +make");
    x->held[0].whole = true;
    assert_string_equal(planned(x), "c1 ready+");
    held(x, "c1", "former", true); /* the old one beside it */
    assert_string_equal(planned(x), "c1 +make");
    x->records[0].state = CRM_STATE_FOREIGN; /* of a later version: left alone */
    assert_string_equal(
        planned(x), "c1 + (waits for a CRM of a later version: this one does not know its state)");
}

/* It was READY: the outcome is known, and what crashes since is the site's to repair. */
static void what_is_ready_need_not_run_now(void **state)
{
    struct fixture *x = *state;
    record(x, "a1", TRACKED_READY, "d");
    held(x, "a1", "d", false);
    assert_string_equal(planned(x), "a1 report+");
    held(x, "a1", "older", true); /* an update's, or what a client did not wait for */
    held(x, "c1", "d", true);
    record(x, "c1", TRACKED_READY, "d");
    assert_string_equal(planned(x), "c1 report+, a1 report+make");
}

static void the_former_values_run_when_all_of_them_do(void **state)
{
    struct fixture *x = *state;
    record(x, "a1", TRACKED_UPDATE_ERROR, "new");
    struct crm_held *h = held(x, "a1", "former", false);
    assert_string_equal(planned(x), "");
    h->whole = true;
    assert_string_equal(planned(x), "a1 restored+");
    h->digest = "older";
    assert_string_equal(planned(x), "");
    h->digest = "former";
    held(x, "a1", "new", true);
    assert_string_equal(planned(x), "");
}

static void a_cluster_comes_before_its_apps(void **state)
{
    struct fixture *x = *state;
    record(x, "a1", TRACKED_CREATE_REQUESTED, "d");
    record(x, "c1", TRACKED_CREATING, "d");
    assert_string_equal(planned(x), "c1 +make, a1 creating+make (waits for cluster name of c1)");
    held(x, "c1", "d", false);
    busy(x, "c1");
    assert_string_equal(planned(x), "c1 +make, a1 creating+make (waits for cluster name of c1)");
    x->held[0].whole = true;
    assert_string_equal(planned(x), "c1 ready+, a1 creating+make (waits for cluster name of c1)");
    x->in.busy_count = 0;
    assert_string_equal(planned(x), "c1 ready+, a1 creating+make");
}

/* Nothing is to come of the cluster, though it is not as its record wants it. */
static void an_app_needs_a_cluster_that_stands(void **state)
{
    struct fixture *x = *state;
    record(x, "c1", TRACKED_UPDATE_ERROR, "new");
    record(x, "a1", TRACKED_READY, "d");
    assert_string_equal(planned(x), "a1 +make (waits for cluster name of c1)");
    held(x, "c1", "older", true);
    assert_string_equal(planned(x), "a1 +make");
    x->records[0].state = TRACKED_DELETING;
    assert_string_equal(planned(x), "a1 +make (waits for cluster name of c1), c1 +remove");
}

static void apps_go_before_their_cluster(void **state)
{
    struct fixture *x = *state;
    record(x, "c1", TRACKED_DELETE_REQUESTED, "d");
    record(x, "a1", TRACKED_DELETING, "d");
    held(x, "c1", "d", true);
    held(x, "a1", "d", true);
    assert_string_equal(planned(x),
                        "a1 +remove, c1 deleting+remove (waits for app instance name of a1)");
    busy(x, "a1");
    assert_string_equal(planned(x),
                        "a1 +remove, c1 deleting+remove (waits for app instance name of a1)");
    x->in.busy_count = 0;
    x->in.held_count = 1;
    assert_string_equal(planned(x), "a1 deleted+, c1 deleting+remove");
}

/* E6: no change of an app instance beside one of its cluster. */
static void an_app_and_its_cluster_do_not_change_together(void **state)
{
    struct fixture *x = *state;
    record(x, "c1", TRACKED_UPDATE_REQUESTED, "new");
    record(x, "a1", TRACKED_CREATING, "d");
    held(x, "c1", "old", true);
    busy(x, "a1"); /* and nothing stands of it yet */
    assert_string_equal(planned(x),
                        "c1 updating+make (waits for app instance name of a1), a1 +make");
    x->busy[0] = "c1";
    x->records[1].state = TRACKED_DELETING;
    held(x, "a1", "d", true);
    assert_string_equal(planned(x), "c1 updating+make, a1 +remove (waits for cluster name of c1)");
    /* What a restored centre wants of a READY cluster, while the instance has the room for it. */
    x->records[0].state = TRACKED_READY;
    assert_string_equal(planned(x), "c1 +make, a1 +remove");
}

static void another_life_of_the_name_goes_first(void **state)
{
    struct fixture *x = *state;
    record(x, "c2", TRACKED_CREATE_REQUESTED, "d");
    held(x, "c1", "d", true)->name = "name of c2";
    assert_string_equal(planned(x),
                        "c2 creating+make (waits for the end of its former life, c1), c1 +remove");
    x->held[0].kind = CRM_APP; /* another kind of object may have the name */
    assert_string_equal(planned(x), "c2 creating+make, c1 +remove");
}

static void what_has_no_record_goes_only_when_that_is_known(void **state)
{
    struct fixture *x = *state;
    held(x, "c1", "d", true);
    held(x, "a1", "d", true);
    held(x, "a1", "e", true); /* the same object */
    assert_string_equal(planned(x), "a1 +remove, c1 +remove (waits for app instance name of a1)");
    x->in.epoch_known = false;
    assert_string_equal(planned(x), "; foreign 2: app instance name of a1");
    x->in.snapshot = false; /* nor is it known how many are foreign */
    assert_string_equal(planned(x), "");
    x->in.epoch_known = true;
    assert_string_equal(planned(x), "");
    record(x, "c1", TRACKED_DELETE_REQUESTED,
           "d"); /* a delete that reached the site needs neither */
    x->in.held_count = 1;
    assert_string_equal(planned(x), "c1 deleting+remove");
}

static void so_many_works_at_a_time(void **state)
{
    struct fixture *x = *state;
    for (int i = 0; i <= CRM_WORKS_MAX; i++) {
        record(x, arena_printf(&x->arena, "c%03d", i), TRACKED_CREATING, "d");
    }
    assert_non_null(
        strstr(planned(x), "c031 +make, c032 +make (waits for one of 32 works to end)"));
    x->in.record_count = CRM_WORKS_MAX;
    assert_null(strstr(planned(x), "waits"));
    busy(x, "c000"); /* is one of them */
    assert_null(strstr(planned(x), "waits"));
    busy(x, "other");
    assert_non_null(strstr(planned(x), "c031 +make (waits for one of 32 works to end)"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_beside_what_the_site_holds),
        cmocka_unit_test(what_is_said_is_a_move),
        TEST(what_a_site_holds_of_a_record),
        TEST(what_is_ready_need_not_run_now),
        TEST(the_former_values_run_when_all_of_them_do),
        TEST(a_cluster_comes_before_its_apps),
        TEST(an_app_needs_a_cluster_that_stands),
        TEST(apps_go_before_their_cluster),
        TEST(an_app_and_its_cluster_do_not_change_together),
        TEST(another_life_of_the_name_goes_first),
        TEST(what_has_no_record_goes_only_when_that_is_known),
        TEST(so_many_works_at_a_time),
    };
    return cmocka_run_group_tests_name("crm: harmonise", tests, NULL, NULL);
}

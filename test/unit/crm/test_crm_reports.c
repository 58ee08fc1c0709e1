/* What a CRM reports, and how often; health over time (docs/edge.md, What the CRM does). */
#include "common/base/bytes.h"
#include "crm/health.h"
#include "crm/reports.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { REPORTS_MOST = 256 };

struct fixture {
    struct arena arena;
    struct crm_reports reports;
    struct buf text;
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    reports_init(&x->reports);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    reports_done(&x->reports);
    buf_done(&x->text);
    arena_done(&x->arena);
    free(x);
    return 0;
}

/* `step` NULL = of health alone. */
static void put(struct fixture *x, const char *key, const char *health, const char *step)
{
    Board__EdgeMove move = BOARD__EDGE_MOVE__INIT;
    Board__AppInstReport report = BOARD__APP_INST_REPORT__INIT;
    Board__EdgeStep line = BOARD__EDGE_STEP__INIT;
    report.health = (char *)(uintptr_t)health;
    line.text = (char *)(uintptr_t)step;
    move.instance_report = &report;
    move.step = step ? &line : NULL;
    reports_put(&x->reports, key, &move);
}

/* "a OK desired, b OK" at so many milliseconds. */
static const char *taken(struct fixture *x, int64_t ms)
{
    struct crm_report *list;
    size_t count = reports_take(&x->reports, &x->arena, ms * MILLISECOND_NS, REPORTS_MOST, &list);
    buf_clear(&x->text);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&x->text, "%s%s %s%s%s", i ? ", " : "", list[i].key,
                   list[i].move->instance_report->health, list[i].move->step ? " " : "",
                   list[i].move->step ? list[i].move->step->text : "");
    }
    return buf_string(&x->text);
}

static void an_object_once_a_second(void **state)
{
    struct fixture *x = *state;
    assert_int_equal(reports_due_ns(&x->reports), NEVER_NS);
    put(x, "a", "OK", "one");
    assert_true(reports_due_ns(&x->reports) <= 0);
    assert_string_equal(taken(x, 10000), "a OK one");
    put(x, "a", "OK", "two");
    put(x, "a", "OK", "three"); /* the newest wins */
    put(x, "b", "OK", "other"); /* waits for nobody */
    assert_string_equal(taken(x, 10999), "b OK other");
    assert_int_equal(reports_due_ns(&x->reports), 11000 * MILLISECOND_NS);
    assert_string_equal(taken(x, 11000), "a OK three");
    assert_string_equal(taken(x, 99000), "");
}

static void health_once_in_five_seconds(void **state)
{
    struct fixture *x = *state;
    put(x, "a", "OK", NULL);
    assert_string_equal(taken(x, 10000), "a OK");
    put(x, "a", "OK", NULL); /* says nothing new */
    assert_int_equal(reports_due_ns(&x->reports), NEVER_NS);
    put(x, "a", "SERVER_FAIL", NULL);
    assert_string_equal(taken(x, 14999), "");
    assert_string_equal(taken(x, 15000), "a SERVER_FAIL");
    put(x, "a", "OK", NULL);
    put(x, "a", "OK", "step"); /* a step takes health along, sooner */
    assert_string_equal(taken(x, 16000), "a OK step");
    put(x, "a", "OK", NULL);
    assert_int_equal(reports_due_ns(&x->reports), NEVER_NS);
}

/* A step that is still to be told is not lost by what comes after it. */
static void a_step_stays(void **state)
{
    struct fixture *x = *state;
    put(x, "a", "OK", "one");
    taken(x, 10000);
    put(x, "a", "OK", "two");
    put(x, "a", "SERVER_FAIL", NULL);
    assert_string_equal(taken(x, 11000), "a SERVER_FAIL two");
    put(x, "a", "SERVER_FAIL", "three");
    put(x, "a", "OK", NULL); /* back to what was told: but the step is to be told */
    assert_string_equal(taken(x, 12000), "a OK three");
}

static void what_went_is_not_told_and_a_session_begins_anew(void **state)
{
    struct fixture *x = *state;
    put(x, "a", "OK", NULL);
    reports_forget(&x->reports, "a");
    assert_string_equal(taken(x, 10000), "");
    put(x, "a", "OK", NULL);
    assert_string_equal(taken(x, 10001), "a OK");
    reports_reset(&x->reports);
    put(x, "a", "OK", NULL);
    assert_string_equal(taken(x, 10002), "a OK");
}

/* The bound: the rest follows at once. */
static void so_many_at_once(void **state)
{
    struct fixture *x = *state;
    struct crm_report *list;
    for (int i = 0; i <= REPORTS_MOST; i++) {
        put(x, arena_printf(&x->arena, "key-%03d", i), "OK", NULL);
    }
    assert_int_equal(reports_take(&x->reports, &x->arena, 1, REPORTS_MOST, &list), REPORTS_MOST);
    assert_true(reports_due_ns(&x->reports) <= 1);
    assert_string_equal(taken(x, 1), "key-256 OK");
}

static void health_is_seen_over_time(void **state)
{
    struct app_health h = {0};
    assert_string_equal(app_health_name(h.is), "UNKNOWN");
    assert_false(app_health_see(&h, 1, 2, 5 * SECOND_NS));
    assert_int_equal(app_health_due_ns(&h), 15 * SECOND_NS);
    assert_true(app_health_see(&h, 2, 2, 6 * SECOND_NS));
    assert_string_equal(app_health_name(h.is), "OK");
    assert_int_equal(app_health_due_ns(&h), NEVER_NS);
    assert_false(app_health_see(&h, 1, 2, 20 * SECOND_NS)); /* a restart */
    assert_false(app_health_see(&h, 0, 2, 30 * SECOND_NS - 1));
    assert_int_equal(h.is, APP_OK);
    assert_true(app_health_see(&h, 1, 2, 30 * SECOND_NS));
    assert_string_equal(app_health_name(h.is), "SERVER_FAIL");
    assert_int_equal(app_health_due_ns(&h), NEVER_NS);
    assert_false(app_health_see(&h, 1, 2, 31 * SECOND_NS));
    assert_true(app_health_see(&h, 2, 2, 32 * SECOND_NS));
    assert_int_equal(h.is, APP_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_object_once_a_second),
        TEST(health_once_in_five_seconds),
        TEST(a_step_stays),
        TEST(what_went_is_not_told_and_a_session_begins_anew),
        TEST(so_many_at_once),
        cmocka_unit_test(health_is_seen_over_time),
    };
    return cmocka_run_group_tests_name("crm: reports", tests, NULL, NULL);
}

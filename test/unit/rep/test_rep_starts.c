/* Which starts of a cell count as failed at once, how they fade, and what /state says of them. */
#include "rep/inside.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

static void they_add_up_to_a_bound_and_fade(void **state)
{
    struct starts s = {0};
    assert_int_equal(starts_failed_lately(&s, 0), 0);
    for (unsigned i = 1; i <= STARTS_FAILED_MAX + 3; i++) {
        starts_failed(&s, 100);
        assert_int_equal(starts_failed_lately(&s, 100),
                         i < STARTS_FAILED_MAX ? i : STARTS_FAILED_MAX);
    }
    assert_int_equal(starts_failed_lately(&s, 99 + STARTS_FADE_NS), 4);
    assert_int_equal(starts_failed_lately(&s, 100 + STARTS_FADE_NS), 3);
    starts_failed(&s, 100 + 2 * STARTS_FADE_NS); /* two are left, and one more */
    assert_int_equal(starts_failed_lately(&s, 100 + 2 * STARTS_FADE_NS), 3);
    assert_int_equal(starts_failed_lately(&s, 100 + 5 * STARTS_FADE_NS), 0);
    assert_int_equal(starts_failed_lately(&s, NEVER_NS - 1), 0);
    starts_failed(&s, 200 + 5 * STARTS_FADE_NS);
    starts_lasted(&s);
    assert_int_equal(starts_failed_lately(&s, 200 + 5 * STARTS_FADE_NS), 0);
}

/* As GET /state tells it; its tag changes with it. */
static int told(struct rep_rig *g)
{
    static char last[80];
    static int last_told = -1;
    rep_rig_request(g, "auctioneer", "GET", "/state", "application/x-protobuf", (struct bytes){0});
    struct reply r = rep_rig_take_reply(g);
    assert_int_equal(r.status, 200);
    Cell__CellState *s = cell__cell_state__unpack(NULL, r.body.size, r.body.data);
    int told = s->failedstarts;
    cell__cell_state__free_unpacked(s, NULL);
    assert_true(told == last_told || strcmp(last, r.etag) != 0);
    assert_true(strlen(r.etag) < sizeof(last));
    strcpy(last, r.etag);
    last_told = told;
    return told;
}

static void open_rig(struct rep_rig *g)
{
    rep_rig_init(g);
    rep_rig_open(g, NULL, 0);
    assert_int_equal(told(g), 0);
}

/* It runs for so long, crashes, and is removed. */
static void run_and_end(struct rep_rig *g, const char *process_guid, int64_t after_ms)
{
    const char *guid = rep_rig_run(g, process_guid);
    if (after_ms) {
        rep_rig_advance(g, after_ms);
    }
    rep_rig_exited(g, guid, 3);
    Models__ActualLRP *unclaimed = rep_rig_record(g, process_guid, "UNCLAIMED", "", "");
    rep_rig_move_done(g, rep_rig_take_move(g, "crash"), unclaimed);
    rep_rig_feed_put(g, unclaimed);
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_REMOVE), VERB_DONE, "");
}

static void a_crash_at_once_counts(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    run_and_end(&g, "web", 4999);
    assert_int_equal(told(&g), 1);
    run_and_end(&g, "db", 0);
    assert_int_equal(told(&g), 2);
    rep_rig_advance(&g, 30000);
    assert_int_equal(told(&g), 1); /* and its tag is another */
    rep_rig_done(&g);
}

/* One that lasts five seconds makes up for all, also while it runs on; its later crash is none of
 * them. */
static void a_start_that_lasts_makes_up_for_them(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    run_and_end(&g, "web", 0);
    const char *guid = rep_rig_run(&g, "db");
    rep_rig_advance(&g, 4999);
    assert_int_equal(told(&g), 1);
    rep_rig_advance(&g, 1);
    assert_int_equal(told(&g), 0);
    rep_rig_exited(&g, guid, 3);
    assert_int_equal(told(&g), 0);
    rep_rig_done(&g);
}

static void what_was_asked_to_stop_has_not_failed(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    const char *guid = rep_rig_run(&g, "web");
    Models__ActualLRP *stopping = rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL);
    stopping->stopping = true;
    rep_rig_feed_put(&g, stopping);
    rep_rig_take_verb(&g, VERB_SIGNAL);
    rep_rig_exited(&g, guid, 143);
    assert_int_equal(told(&g), 0);
    rep_rig_done(&g);
}

/* What an earlier rep started is not this cell's present. */
static void what_is_adopted_is_not_judged(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status list[] = {
        rep_rig_status(&g, "ig-1", "web", CONTAINER_EXITED),
        rep_rig_status(&g, "ig-2", "db", CONTAINER_RUNNING),
    };
    rep_rig_open(&g, list, 2);
    rep_rig_exited(&g, "ig-2", 1);
    assert_int_equal(told(&g), 0);
}

static const char *text_of_state(struct rep_rig *g)
{
    rep_rig_request(g, "somebody", "GET", "/state", "", (struct bytes){0});
    struct reply r = rep_rig_take_reply(g);
    return arena_strndup(&g->arena, (const char *)r.body.data, r.body.size);
}

/* Diego's clients see one key more, and that only while there is something to say. */
static void json_has_the_key_unless_there_is_none(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    assert_null(strstr(text_of_state(&g), "FailedStarts"));
    run_and_end(&g, "web", 0);
    assert_non_null(strstr(text_of_state(&g), ",\"FailedStarts\":1}"));
    rep_rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_add_up_to_a_bound_and_fade),
        cmocka_unit_test(a_crash_at_once_counts),
        cmocka_unit_test(a_start_that_lasts_makes_up_for_them),
        cmocka_unit_test(what_was_asked_to_stop_has_not_failed),
        cmocka_unit_test(what_is_adopted_is_not_judged),
        cmocka_unit_test(json_has_the_key_unless_there_is_none),
    };
    return cmocka_run_group_tests_name("rep: starts", tests, NULL, NULL);
}

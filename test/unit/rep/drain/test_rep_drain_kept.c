/* What of an evacuation outlives its rep, in the state directory: when it is answered, what the
 * next rep makes of it, and when it goes. */
#include "rep/drain/drain.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/drain/drain_rig.h"

#include <string.h>

static bool says(const struct reply *r, const char *part)
{
    char text[512] = "";
    assert_true(r->body.size < sizeof(text));
    memcpy(text, r->body.data, r->body.size);
    return strstr(text, part) != NULL;
}

/* Whoever has the answer may rely on it, though the rep be killed the next moment. */
static void the_answer_waits_for_the_disk(void **state)
{
    SCOPED_REP_RIG(g);
    g.slow_disk = true;
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    drain_rig_send(&g, true, "client");
    assert_int_equal(g.kept_count, 1);
    assert_true(g.kept.on);
    assert_int_equal(g.kept.until_mono_ns, g.d.now.mono_ns + EVACUATION_NS);
    assert_int_equal(g.kept.until_wall_ns, g.d.now.wall_ns + EVACUATION_NS);
    assert_string_equal(g.kept.boot_id, RIG_BOOT);
    drain_rig_told(&g); /* it does not wait for the disk to begin */
    drain_rig_send(&g, true, "client");
    rep_rig_advance(&g, 5000);
    assert_int_equal(g.reply_count, 0);
    rep_rig_kept(&g, "");
    assert_int_equal(g.reply_count, 2);
    for (int i = 0; i < 2; i++) {
        struct reply r = rep_rig_take_reply(&g);
        assert_int_equal(r.status, 202);
        assert_false(says(&r, "warning"));
    }
    assert_int_equal(drain_rig_post(&g, true, "client").status, 202);
    assert_int_equal(g.kept_count, 1);
}

static void so_many_wait_for_the_disk(void **state)
{
    SCOPED_REP_RIG(g);
    g.slow_disk = true;
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    for (int i = 0; i < DRAIN_WAITING_MAX; i++) {
        drain_rig_send(&g, true, "client");
    }
    assert_int_equal(g.reply_count, 0);
    assert_int_equal(drain_rig_post(&g, true, "client").status, 503);
    drive_event(&g.d, (struct event){.kind = EVENT_HANGUP, .hangup = g.request_id - 1});
    drain_rig_send(&g, true, "client");
    assert_int_equal(g.reply_count, 0);
    rep_rig_kept(&g, "");
    assert_int_equal(g.reply_count, DRAIN_WAITING_MAX);
}

static void a_disk_that_refuses_is_reported_to_whoever_asks(void **state)
{
    SCOPED_REP_RIG(g);
    g.slow_disk = true;
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    drain_rig_send(&g, true, "client");
    rep_rig_kept(&g, "cannot write \"evacuation.new\": No space left on device");
    struct reply r = rep_rig_take_reply(&g);
    assert_int_equal(r.status, 202);
    assert_true(says(&r, "\"ping_path\":\"/ping\""));
    assert_true(says(&r,
                     "\"warning\":\"a rep that is started again may not know of the evacuation: "
                     "cannot write \\\"evacuation.new\\\": No space left on device"));
    assert_int_equal(rep_rig_said(&g, "warn the evacuation is not kept"), 1);
    drain_rig_told(&g);
    rep_rig_advance(&g, 30000);
    assert_int_equal(g.kept_count, 1);
    drain_rig_send(&g, true, "client"); /* it is mended */
    assert_int_equal(g.kept_count, 2);
    assert_int_equal(g.kept.until_mono_ns, g.d.now.mono_ns + EVACUATION_NS - 30 * SECOND_NS);
    rep_rig_kept(&g, "");
    r = rep_rig_take_reply(&g);
    assert_false(says(&r, "warning"));
}

/* Else it would be found by the start after that. A disk that refuses holds up no end. */
static void it_is_dropped_before_the_cell_leaves(void **state)
{
    static const char *const answers[] = {"", "cannot remove /x: Read-only file system"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        SCOPED_REP_RIG(g);
        g.slow_disk = true;
        rep_rig_open(&g, NULL, 0);
        drain_rig_term(&g);
        drain_rig_told(&g);
        rep_rig_advance(&g, 1000);
        assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
        rep_rig_kept(&g, "");
        assert_int_equal(g.kept_count, 2);
        assert_false(g.kept.on);
        rep_rig_advance(&g, 1000);
        assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
        assert_int_equal(drain_rig_post(&g, true, "client").status, 202);
        rep_rig_kept(&g, answers[i]);
        assert_int_equal(rep_rig_said(&g, "warn what is kept of the evacuation is left"), i);
        assert_int_equal(g.kept_count, 2);
        drain_rig_leaves(&g);
    }
}

static void it_is_dropped_before_an_end_that_no_board_hears_of(void **state)
{
    struct rep_rig g;
    struct container_status one;
    for (int left = 0; left < 2; left++) {
        rep_rig_init(&g);
        g.config.evacuation_ns = SECOND_NS;
        rep_rig_start(&g);
        one = rep_rig_status(&g, "a", "web", CONTAINER_RUNNING);
        rep_rig_answer_list(&g, &one, (size_t)left);
        drain_rig_term(&g);
        g.slow_disk = true;
        rep_rig_advance(&g, 25000);
        assert_int_equal(g.kept_count, 2);
        assert_false(g.kept.on);
        assert_false(g.exited);
        rep_rig_kept(&g, "");
        assert_true(g.exited);
        assert_int_equal(g.exit_code, left);
        rep_rig_done(&g);
    }
}

/* A rep of this state directory has begun, and no bbs has heard of it. Nothing is listed, so the
 * rep ends 20 s after the limit that it takes; and what would have ended 80 s after its limit,
 * with the longest drain, is over. */
static void what_is_kept_goes_on_to_its_limit(void **state)
{
    static const struct {
        bool handed_on;
        const char *boot;
        int64_t left_mono_s, left_wall_s;
        int32_t limit_s; /* -1 = it is over */
    } rows[] = {
        {true, RIG_BOOT, 25, 25, 25},
        {true, RIG_BOOT, 25, -9000, 25}, /* the wall clock has jumped */
        {true, RIG_BOOT, 25, 9000, 25},
        {true, RIG_BOOT, 5000, 5000, 600}, /* the limit is shorter now */
        {true, RIG_BOOT, 0, 0, 0},
        {true, RIG_BOOT, -79, 9000, 0},
        {true, RIG_BOOT, -80, 9000, -1},
        {true, "another", 25, 100, 100},
        {true, "another", 25, 10, 60},
        {true, "another", 25, -79, 60},
        {true, "another", 25, -80, -1},
        {true, "another", 25, 9000, 600},
        {true, "", 25, 100, 100},
        {true, "another", 25, INT64_MIN / SECOND_NS / 4, -1}, /* no clock can have said that */
        {true, "another", 25, INT64_MAX / SECOND_NS / 4, 600},
        /* A rep in between knew nothing of it: an older version. */
        {false, RIG_BOOT, 25, 100, 100},
        {false, RIG_BOOT, -9000, 10, 60},
        {false, RIG_BOOT, 25, -80, -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_REP_RIG(g);
        g.config.evacuation = drain_rig_kept(rows[i].left_mono_s, rows[i].left_wall_s, rows[i].boot,
                                        rows[i].handed_on);
        rep_rig_start(&g);
        bool over = rows[i].limit_s < 0;
        assert_int_equal(g.kept_count, 1);
        assert_int_equal(g.kept.on, !over);
        if (over) {
            assert_int_equal(rep_rig_said(&g, "warn an earlier rep's evacuation is over"), 1);
            rep_rig_answer_incarnation(&g);
            rep_rig_feed_open(&g);
            rep_rig_answer_list(&g, NULL, 0);
            assert_int_equal(rep_rig_work(&g, "web", 1), 0);
        } else {
            /* Kept again, the same moment by both clocks of now. */
            assert_int_equal(g.kept.until_mono_ns, g.d.now.mono_ns + rows[i].limit_s * SECOND_NS);
            assert_int_equal(g.kept.until_wall_ns, g.d.now.wall_ns + rows[i].limit_s * SECOND_NS);
            assert_string_equal(g.kept.boot_id, RIG_BOOT);
            drive_unanswered(&g.d, rep_rig_take_call(&g, "/v1/board/cell").id, CALL_REFUSED);
            rep_rig_advance(&g, rows[i].limit_s * 1000 + 19000);
            assert_false(g.exited);
            rep_rig_advance(&g, 2000);
            assert_true(g.exited);
        }
    }
}

/* The board hears of it with the first word of the new rep, and says nothing against it. */
static void the_board_is_notified_of_what_is_kept(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.evacuation = drain_rig_kept(30, 30, RIG_BOOT, true);
    rep_rig_start(&g);
    drain_rig_told(&g);
    rep_rig_feed_open(&g);
    rep_rig_answer_list(&g, NULL, 0);
    drain_rig_leaves(&g);
    assert_false(g.kept.on);
}

/* One that is over is on its way off the disk when the next is asked for. */
static void the_next_evacuation_waits_for_its_own_word(void **state)
{
    SCOPED_REP_RIG(g);
    g.slow_disk = true;
    g.config.evacuation =
        (struct kept_evacuation){.on = true, .boot_id = RIG_BOOT, .handed_on = true};
    rep_rig_start(&g);
    assert_false(g.kept.on);
    drain_rig_send(&g, true, "client");
    rep_rig_kept(&g, "");
    assert_int_equal(g.reply_count, 0);
    assert_true(g.kept.on);
    rep_rig_kept(&g, "");
    assert_int_equal(rep_rig_take_reply(&g).status, 202);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_waits_for_the_disk),
        cmocka_unit_test(so_many_wait_for_the_disk),
        cmocka_unit_test(a_disk_that_refuses_is_reported_to_whoever_asks),
        cmocka_unit_test(it_is_dropped_before_the_cell_leaves),
        cmocka_unit_test(it_is_dropped_before_an_end_that_no_board_hears_of),
        cmocka_unit_test(what_is_kept_goes_on_to_its_limit),
        cmocka_unit_test(the_board_is_notified_of_what_is_kept),
        cmocka_unit_test(the_next_evacuation_waits_for_its_own_word),
    };
    return cmocka_run_group_tests_name("what is kept of an evacuation", tests, NULL, NULL);
}

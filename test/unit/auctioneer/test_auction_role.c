/* The auctioneer as a role: standing by, leading and being deposed; a copy that begins again; its
 * end; its configuration. */
#include "test/tool/cmocka.h"
#include "test/unit/auctioneer/auction_rig.h"

#include <string.h>

/* ---- Leading --------------------------------------------------------------------------------- */

static void a_standby_follows_but_asks_no_cell(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    play_actual(f, RECORD, "web", 0);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_desired(f, RECORD, "web", 1);
    play_lock(f, RECORD, "other", 5);
    play_current(f);
    assert_null(drive_call(&f->drive, "/v1/board/leader_lock", 0));
    assert_null(play_asked_state(f, "a"));
    drive_advance(&f->drive, 2000);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.entries.count, 1);
    /* The other one gives it back: asked for, and what waits is auctioned at once. */
    play_lock(f, DELETE, "other", ++f->revision);
    play_send(f);
    play_elect(f);
    assert_non_null(play_asked_state(f, "a"));
}

static void a_deposed_leader_stops_at_once(void **state)
{
    struct auction_rig *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w = play_hand_out_three(f, &call_a, &call_b);
    play_depose(f);
    play_take_work(f, w, call_a, 2);
    play_take_work(f, w, call_b, 0);
    assert_null(play_work(f, "b", &call));
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a"));
    assert_int_equal(f->x->backlog.entries.count, 3);
    assert_int_equal(f->x->backlog.counts[ENTRY_FRESH], 3);
}

static void a_reset_keeps_what_is_seen_again(void **state)
{
    struct auction_rig *f = *state;
    play_refuse_lrp(f);
    frame_reset(&f->sent, "e1");
    play_send(f);
    drive_advance(&f->drive, 3000);
    assert_null(play_asked_state(f, "a")); /* half a copy decides nothing */
    play_actual(f, RECORD, "web", 0);
    play_cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    play_desired(f, RECORD, "web", 1);
    play_lock(f, RECORD, f->x->life.leader.id, f->x->life.leader.term);
    play_current(f);
    assert_true(f->x->life.leader.leads);
    assert_int_equal(f->x->backlog.entries.count, 1);
    frame_reset(&f->sent, "e1");
    play_lock(f, RECORD, f->x->life.leader.id, f->x->life.leader.term);
    play_current(f);
    assert_int_equal(f->x->backlog.entries.count, 0);
}

/* ---- Stopping and starting ------------------------------------------------------------------- */

static void stopping_gives_the_lock_back(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    const struct call *c = drive_call(&f->drive, "/v1/board/leader_lock", 0);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__LeaderLockRequest *r =
        board__leader_lock_request__unpack(&allocator, c->body.size, c->body.data);
    assert_int_equal(r->release, 11);
    Board__LeaderLockResponse answer = BOARD__LEADER_LOCK_RESPONSE__INIT;
    drive_answer(&f->drive, c->id, &answer.base);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
    drive_timer(&f->drive);
    assert_int_equal(f->drive.out.count, 0);
}

static void stopping_waits_a_second_at_most(void **state)
{
    struct auction_rig *f = *state;
    play_leader_lock(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    drive_advance(&f->drive, 999);
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    drive_advance(&f->drive, 1);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_standby_stops_at_once(void **state)
{
    struct auction_rig *f = *state;
    drive_start(&f->drive);
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_wrong_configuration_ends_it(void **state)
{
    struct auction_rig *f = *state;
    static const struct {
        const char *boards, *zones, *scoring, *text;
    } rows[] = {
        {"", "", "default", "no bbs address"},
        {"http://a:1", "", "default", "not https"},
        {"https://a:1", "a,b,a", "default", "zone a is named twice"},
        {"https://a:1", "a,,b", "default", "zones must be"},
        {"https://a:1", "a,", "default", "end in a comma"},
        {"https://a:1", "", "best", "neither default nor diego"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        play_end(f);
        f->config.boards = rows[i].boards;
        f->config.zones = rows[i].zones;
        f->config.scoring = rows[i].scoring;
        play_begin(f);
        drive_start(&f->drive);
        const struct effect *e = drive_effect(&f->drive, EFFECT_EXIT, 0);
        assert_int_equal(e->exit.code, 2);
        assert_non_null(strstr(e->exit.text, rows[i].text));
    }
    play_end(f);
    f->config = (struct auctioneer_config){.name = "x",
                                           .boards = "https://a:1",
                                           .url = "",
                                           .zones = "z1,z2",
                                           .scoring = "diego",
                                           .starting_container_weight = -1};
    play_begin(f);
    assert_int_equal(f->x->rules.zone_count, 2);
    assert_true(f->x->rules.score.starting_container_weight == 0.25);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, play_setup, play_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_standby_follows_but_asks_no_cell), TEST(a_deposed_leader_stops_at_once),
        TEST(a_reset_keeps_what_is_seen_again),   TEST(stopping_gives_the_lock_back),
        TEST(stopping_waits_a_second_at_most),    TEST(a_standby_stops_at_once),
        TEST(a_wrong_configuration_ends_it),
    };
    return cmocka_run_group_tests_name("auction role", tests, NULL, NULL);
}

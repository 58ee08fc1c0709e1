/* The leader: who may act, by the lock in the feed, heartbeats, and the silence of the holder. */
#include "common/client/leader.h"
#include "common/model/keys.h"
#include "test/tool/cmocka.h"
#include "test/unit/drive.h"
#include "test/unit/bbs/board/feed_frames.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct drive drive;
    struct arena arena;
    uint64_t next_call_id;
    struct boards boards;
    struct feed_client feed_client;
    struct leader leader;
    struct buf changes; /* "elected deposed " */
    bool stop;          /* the next step stops it */
    struct event now;
    struct buf sent;
    int64_t revision;
};

static void on_change(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out)
{
    struct fixture *x = context;
    leader_change(&x->leader, change, key, record, x->now.now);
}

static void step(void *target, const struct event *ev, struct effects *out)
{
    struct fixture *x = target;
    x->now = *ev;
    feed_client_step(&x->feed_client, ev, out);
    if (x->stop) {
        x->stop = false;
        leader_stop(&x->leader, ev, out);
    }
    switch (leader_step(&x->leader, ev, out)) {
    case LEADER_ELECTED:
        buf_append_string(&x->changes, "elected ");
        break;
    case LEADER_DEPOSED:
        buf_append_string(&x->changes, "deposed ");
        break;
    case LEADER_SAME:
        break;
    }
}

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof(*x));
    x->next_call_id = 1;
    x->revision = 10;
    arena_init(&x->arena);
    buf_init(&x->changes);
    buf_init(&x->sent);
    if (boards_init(&x->boards, &x->arena, "https://a:1,https://b:2", &x->next_call_id, NULL)) {
        return -1;
    }
    x->feed_client =
        (struct feed_client){.boards = &x->boards, .on_change = on_change, .context = x};
    feed_client_init(&x->feed_client);
    x->leader = (struct leader){.boards = &x->boards,
                                .feed_client = &x->feed_client,
                                .role = "auctioneer",
                                .url = "https://auctioneer:9016"};
    leader_init(&x->leader);
    drive_init(&x->drive, step, x);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    leader_done(&x->leader);
    feed_client_done(&x->feed_client);
    drive_done(&x->drive);
    buf_done(&x->changes);
    buf_done(&x->sent);
    arena_done(&x->arena);
    free(x);
    return 0;
}

static void expect(struct fixture *x, const char *changes)
{
    assert_string_equal(buf_string(&x->changes), changes);
    buf_clear(&x->changes);
}

static void send(struct fixture *x)
{
    struct buf once = x->sent;
    buf_init(&x->sent);
    drive_stream(&x->drive, x->feed_client.call_id, buf_bytes(&once));
    buf_done(&once);
}

static void leader_lock_frame(struct fixture *x, Board__FeedFrame__Kind kind, const char *holder,
                              int64_t revision)
{
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    char role[] = "auctioneer", url[] = "https://other:9016";
    leader_lock.role = role;
    leader_lock.holder = (char *)(uintptr_t)holder;
    leader_lock.url = url;
    frame_change(&x->sent, kind, "lead/auctioneer", &leader_lock.base, revision);
}

/* A heartbeat record of this bbs that names the holder of `term` (0: nobody). */
static void heartbeat_frame(struct fixture *x, Board__FeedFrame__Kind kind, const char *key,
                            int64_t term)
{
    Board__HeartbeatRecord heartbeat = BOARD__HEARTBEAT_RECORD__INIT;
    Board__LeaderHeartbeat leader_lock = BOARD__LEADER_HEARTBEAT__INIT;
    Board__LeaderHeartbeat *leaders[] = {&leader_lock};
    char role[] = "auctioneer";
    leader_lock.role = role;
    leader_lock.term = term;
    heartbeat.n_leaders = term ? 1 : 0;
    heartbeat.leaders = leaders;
    frame_change(&x->sent, kind, key, &heartbeat.base, ++x->revision);
}

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE

/* Started; the board has this holder at this term ("" = none). */
static void begin(struct fixture *x, const char *holder, int64_t term)
{
    drive_start(&x->drive);
    frame_reset(&x->sent, "e1");
    if (*holder) {
        leader_lock_frame(x, RECORD, holder, term);
    }
    frame_current(&x->sent, "e1", x->revision);
    send(x);
}

static Board__LeaderLockRequest *asked(struct fixture *x, uint64_t *ret_id)
{
    const struct call *call = drive_call(&x->drive, "/v1/board/leader_lock", 0);
    assert_non_null(call);
    ProtobufCAllocator allocator = arena_protobuf(&x->drive.arena);
    *ret_id = call->id;
    Board__LeaderLockRequest *r =
        board__leader_lock_request__unpack(&allocator, call->body.size, call->body.data);
    assert_non_null(r);
    assert_string_equal(r->leader_lock->role, "auctioneer");
    assert_string_equal(r->leader_lock->holder, x->leader.id);
    assert_string_equal(r->leader_lock->url, "https://auctioneer:9016");
    return r;
}

static void answer_of(struct fixture *x, uint64_t id, const char *holder, int64_t term,
                      const char *board_generation)
{
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term t = BOARD__TERM__INIT;
    char role[] = "auctioneer";
    leader_lock.holder = (char *)(uintptr_t)holder;
    t.role = role;
    t.board_generation = (char *)(uintptr_t)board_generation;
    t.term = term;
    r.leader_lock = &leader_lock;
    r.term = &t;
    drive_answer(&x->drive, id, &r.base);
}

static void answer(struct fixture *x, uint64_t id, const char *holder, int64_t term)
{
    answer_of(x, id, holder, term, "e1");
}

/* Elected at term 12. */
static void leader_lock(struct fixture *x)
{
    begin(x, "", 0);
    uint64_t id;
    asked(x, &id);
    answer(x, id, x->leader.id, 12);
    expect(x, "elected ");
    x->revision = 12;
}

static void a_free_lock_is_asked_for(void **state)
{
    struct fixture *x = *state;
    begin(x, "", 0);
    uint64_t id;
    Board__LeaderLockRequest *r = asked(x, &id);
    assert_int_equal(r->displace, 0);
    assert_int_equal(r->release, 0);
    assert_int_equal(strlen(x->leader.id), 36);
    answer(x, id, x->leader.id, 12);
    expect(x, "elected ");
    /* The first heartbeat goes at once and names the term. */
    const struct call *call = drive_call(&x->drive, "/v1/board/heartbeat", 0);
    ProtobufCAllocator allocator = arena_protobuf(&x->drive.arena);
    Board__HeartbeatRequest *b =
        board__heartbeat_request__unpack(&allocator, call->body.size, call->body.data);
    assert_int_equal(b->n_leaders, 1);
    assert_string_equal(b->leaders[0]->role, "auctioneer");
    assert_int_equal(b->leaders[0]->term, 12);
    Board__Term term;
    leader_term(&x->leader, &term);
    assert_string_equal(term.role, "auctioneer");
    assert_string_equal(term.board_generation, "e1");
    assert_int_equal(term.term, 12);
}

static void not_asked_before_the_feed_is_current(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    frame_reset(&x->sent, "e1");
    send(x);
    drive_advance(&x->drive, 3000);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void a_lock_that_somebody_else_got_is_left(void **state)
{
    struct fixture *x = *state;
    begin(x, "", 0);
    uint64_t id;
    asked(x, &id);
    answer(x, id, "somebody", 12);
    expect(x, "");
    assert_false(x->leader.leads);
    leader_lock_frame(x, PUT, "somebody", 12);
    send(x);
    drive_advance(&x->drive, 3000);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void a_lost_answer_is_asked_for_again(void **state)
{
    struct fixture *x = *state;
    begin(x, "", 0);
    uint64_t id;
    asked(x, &id);
    drive_sleep(&x->drive, 1000);
    leader_lock_frame(x, PUT, x->leader.id, 12); /* it did land */
    send(x);
    drive_unanswered(&x->drive, id, CALL_UNKNOWN);
    Board__LeaderLockRequest *r = asked(x, &id);
    assert_int_equal(r->displace, 0);
    assert_non_null(drive_call(&x->drive, "https://b:2/v1/board/leader_lock", 0));
    answer(x, id, x->leader.id, 12);
    expect(x, "elected ");
}

/* Advances in steps of one second; a bbs sends its own in each, naming the holder of `term`. */
static void heartbeats_for(struct fixture *x, int seconds, int64_t term)
{
    for (int i = 0; i < seconds; i++) {
        drive_advance(&x->drive, 1000);
        if (drive_call(&x->drive, "/v1/board/leader_lock", 0)) {
            return;
        }
        heartbeat_frame(x, PUT, "beat/one", term);
        frame_heartbeat(&x->sent, "e1", x->revision);
        send(x);
    }
}

static void an_unheard_holder_is_displaced_after_six_seconds(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    heartbeats_for(x, 20, 5);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    heartbeats_for(x, 5, 0);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    heartbeats_for(x, 2, 0);
    uint64_t id;
    Board__LeaderLockRequest *r = asked(x, &id);
    assert_int_equal(r->displace, 5);
    answer(x, id, x->leader.id, 40);
    expect(x, "elected ");
    /* The feed still shows the old holder, then its end, then us: all older than our term. */
    leader_lock_frame(x, DELETE, "somebody", x->revision + 1);
    send(x);
    expect(x, "");
    assert_true(x->leader.leads);
}

/* Not with the tick after them: it would come 200 ms later here. */
static void it_is_displaced_when_the_six_seconds_are_over(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    heartbeats_for(x, 20, 5);
    drive_advance(&x->drive, 200);
    heartbeat_frame(x, PUT, "beat/one", 0);
    send(x);
    heartbeats_for(x, 5, 0);
    drive_advance(&x->drive, 799);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    drive_advance(&x->drive, 1);
    assert_non_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void nobody_is_displaced_while_no_bbs_counts(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    for (int i = 0; i < 30; i++) {
        drive_advance(&x->drive, 1000);
        assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
        frame_heartbeat(&x->sent, "e1", x->revision);
        send(x);
    }
}

static void a_record_of_a_dead_bbs_does_not_count(void **state)
{
    struct fixture *x = *state;
    drive_start(&x->drive);
    frame_reset(&x->sent, "e1");
    heartbeat_frame(x, RECORD, "beat/dead", 0);
    leader_lock_frame(x, RECORD, "somebody", 5);
    frame_current(&x->sent, "e1", x->revision);
    send(x);
    for (int i = 0; i < 20; i++) {
        drive_advance(&x->drive, 1000);
        assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
        frame_heartbeat(&x->sent, "e1", x->revision);
        send(x);
    }
}

static void the_loss_of_the_bbs_that_heard_it_starts_the_window_again_once(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    heartbeat_frame(x, PUT, "beat/two", 5);
    send(x);
    /* Now bbs two is silent, one counts on: lost at 4 s, so not displaced before 10 s. */
    heartbeats_for(x, 9, 0);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    heartbeats_for(x, 3, 0);
    uint64_t id;
    assert_int_equal(asked(x, &id)->displace, 5);
}

static void an_own_standstill_starts_the_window_again(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    heartbeats_for(x, 5, 0);
    drive_sleep(&x->drive, 3000);
    heartbeat_frame(x, PUT, "beat/one", 0);
    send(x);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    assert_true(liveness_report_silent_ns(&x->leader.liveness_report, LIVENESS_REPORT_LEADER,
                                          "auctioneer") == 0);
    heartbeats_for(x, 5, 0);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
    heartbeats_for(x, 2, 0);
    assert_non_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void a_gap_of_the_feed_starts_the_window_again(void **state)
{
    struct fixture *x = *state;
    begin(x, "somebody", 5);
    heartbeats_for(x, 5, 0);
    drive_closed(&x->drive, x->feed_client.call_id);
    assert_true(liveness_report_silent_ns(&x->leader.liveness_report, LIVENESS_REPORT_LEADER,
                                          "auctioneer") == 0);
}

static void deposed_by_another_holder(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    leader_lock_frame(x, PUT, x->leader.id, 12);
    send(x);
    expect(x, "");
    leader_lock_frame(x, PUT, "somebody", 20);
    send(x);
    expect(x, "deposed ");
    drive_advance(&x->drive, 5000);
    assert_null(drive_call(&x->drive, "/v1/board/heartbeat", 0));
}

static void deposed_by_the_end_of_its_lock(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    leader_lock_frame(x, PUT, x->leader.id, 12);
    send(x);
    /* frame_change writes its revision as create-revision too; the copy has 12. */
    leader_lock_frame(x, DELETE, x->leader.id, 20);
    send(x);
    expect(x, "deposed ");
}

static void deposed_by_a_rejected_heartbeat(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    uint64_t heartbeat = drive_call(&x->drive, "/v1/board/heartbeat", 0)->id;
    Board__HeartbeatResponse r = BOARD__HEARTBEAT_RESPONSE__INIT;
    Models__Error e = MODELS__ERROR__INIT;
    e.type = MODELS__ERROR__TYPE__ResourceConflict;
    r.error = &e;
    drive_answer(&x->drive, heartbeat, &r.base);
    expect(x, "deposed ");
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0)); /* not at once */
    drive_advance(&x->drive, 1000);
    assert_non_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void deposed_by_another_board_generation(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    frame_reset(&x->sent, "e2");
    send(x);
    expect(x, "deposed ");
}

/* The board was restored while the answer was on its way, and the backup has the lock. With the
 * older board generation every move would be refused, and every heartbeat taken: nobody would lead,
 * and nobody displace it (test/model/leader_lock.pml). */
static void an_answer_of_another_board_generation_elects_nobody(void **state)
{
    struct fixture *x = *state;
    begin(x, "", 0);
    uint64_t id;
    asked(x, &id);
    frame_reset(&x->sent, "e2");
    leader_lock_frame(x, RECORD, x->leader.id, 12);
    frame_current(&x->sent, "e2", 12);
    send(x);
    answer_of(x, id, x->leader.id, 12, "e1");
    expect(x, "");
    drive_advance(&x->drive, 1000);
    asked(x, &id);
    answer_of(x, id, x->leader.id, 12, "e2");
    expect(x, "elected ");
    assert_string_equal(x->leader.board_generation, "e2");
}

static void a_snapshot_without_its_lock_deposes(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    frame_reset(&x->sent, "e1");
    frame_current(&x->sent, "e1", 11); /* older than its term: says nothing */
    send(x);
    expect(x, "");
    frame_reset(&x->sent, "e1");
    frame_current(&x->sent, "e1", 15);
    send(x);
    expect(x, "deposed ");
}

static void stopping_gives_the_lock_back(void **state)
{
    struct fixture *x = *state;
    leader_lock(x);
    assert_false(leader_stopped(&x->leader));
    x->stop = true;
    drive_timer(&x->drive);
    expect(x, "deposed ");
    uint64_t id;
    assert_int_equal(asked(x, &id)->release, 12);
    assert_false(leader_stopped(&x->leader));
    answer(x, id, x->leader.id, 12);
    assert_true(leader_stopped(&x->leader));
    expect(x, "");
    drive_advance(&x->drive, 5000);
    assert_null(drive_call(&x->drive, "/v1/board/leader_lock", 0));
}

static void stopping_while_asking_waits_for_the_answer(void **state)
{
    struct fixture *x = *state;
    begin(x, "", 0);
    uint64_t id;
    asked(x, &id);
    x->stop = true;
    drive_timer(&x->drive);
    assert_false(leader_stopped(&x->leader));
    answer(x, id, x->leader.id, 12);
    assert_int_equal(asked(x, &id)->release, 12);
    expect(x, "");
    drive_unanswered(&x->drive, id, CALL_REFUSED);
    assert_true(leader_stopped(&x->leader));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_free_lock_is_asked_for),
        TEST(not_asked_before_the_feed_is_current),
        TEST(a_lock_that_somebody_else_got_is_left),
        TEST(a_lost_answer_is_asked_for_again),
        TEST(an_unheard_holder_is_displaced_after_six_seconds),
        TEST(it_is_displaced_when_the_six_seconds_are_over),
        TEST(nobody_is_displaced_while_no_bbs_counts),
        TEST(a_record_of_a_dead_bbs_does_not_count),
        TEST(the_loss_of_the_bbs_that_heard_it_starts_the_window_again_once),
        TEST(an_own_standstill_starts_the_window_again),
        TEST(a_gap_of_the_feed_starts_the_window_again),
        TEST(deposed_by_another_holder),
        TEST(deposed_by_the_end_of_its_lock),
        TEST(deposed_by_a_rejected_heartbeat),
        TEST(deposed_by_another_board_generation),
        TEST(an_answer_of_another_board_generation_elects_nobody),
        TEST(a_snapshot_without_its_lock_deposes),
        TEST(stopping_gives_the_lock_back),
        TEST(stopping_while_asking_waits_for_the_answer),
    };
    return cmocka_run_group_tests_name("client leader", tests, NULL, NULL);
}

/* Heartbeats: what they tell, when they are put, and what is swept after who is silent. */
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"

static bool heartbeat(struct rig *r, const char *cell)
{
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat c = BOARD__CELL_HEARTBEAT__INIT;
    c.cell_id = (char *)(size_t)cell;
    c.incarnation = 7;
    q.cell = &c;
    return board_heartbeat(board_rig_board(r, 0), &q);
}

/* The bbs's heartbeat record on the board. */
static const Board__HeartbeatRecord *told(struct rig *r, struct arena *a)
{
    struct view *v = board_view(board_rig_board(r, 0), a);
    const struct seen *s = view_peek(v, key_beat(a, board_boot_id(board_rig_board(r, 0))));
    assert_non_null(s);
    return (const Board__HeartbeatRecord *)s->message;
}

static size_t told_cells(struct rig *r)
{
    SCOPED_ARENA(a);
    return told(r, &a)->n_cells;
}

static void a_heartbeat_tells_the_raft_term_of_etcds_last_answer(void **state)
{
    SCOPED_ARENA(a);
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 3 * SECOND_NS);
    uint64_t before = told(r, &a)->raft_term;
    assert_true(before > 0);
    model_etcd_elect(board_rig_etcd(r));
    board_rig_run(r, 4 * SECOND_NS); /* the next put sees it, the one after that tells it */
    assert_int_equal(told(r, &a)->raft_term, before + 1);
    board_rig_free(r);
}

static void heartbeats_are_put_every_2_s_and_refused_when_unconfirmed(void **state)
{
    struct rig *r = board_rig_new(1, 1, &asked_config, NULL);
    assert_false(heartbeat(r, "c1")); /* nothing was ever confirmed */
    assert_true(board_rig_run_ready(r, 10 * SECOND_NS));
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_true(heartbeat(r, "c1"));
    assert_true(heartbeat(r, "c2"));
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(told_cells(r), 2);
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(told_cells(r), 0); /* not heard since */
    assert_true(heartbeat(r, "c3"));
    board_rig_cut(r, 0, true);
    board_rig_run(r, 1900 * MILLISECOND_NS);
    assert_true(heartbeat(r, "c3"));
    board_rig_run(r, 2500 * MILLISECOND_NS);
    assert_false(heartbeat(r, "c3"));
    board_rig_cut(r, 0, false);
    board_rig_run(r, 5 * SECOND_NS);
    assert_true(heartbeat(r, "c4"));
    board_rig_free(r);
}

static void a_leaders_heartbeat_is_put_soon(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    board_rig_run(r, 2100 * MILLISECOND_NS); /* one was just put: the next is due in 1.9 s or so */
    Board__LeaderHeartbeat leader_lock = BOARD__LEADER_HEARTBEAT__INIT, *leaders[] = {&leader_lock};
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    leader_lock.role = (char *)(size_t)"auctioneer";
    leader_lock.term = 7;
    q.n_leaders = 1;
    q.leaders = leaders;
    assert_true(board_heartbeat(board_rig_board(r, 0), &q));
    struct asked step = {0};
    ask(r, 0, &step, "d"); /* a heartbeat comes within a step, which says when the next is due */
    board_rig_run(r, 300 * MILLISECOND_NS);
    SCOPED_ARENA(a);
    assert_int_equal(told(r, &a)->n_leaders, 1);
    board_rig_free(r);
}

static void a_sites_heartbeat_is_told_with_its_session(void **state)
{
    struct rig *r = ready_rig(1, NULL);
    Board__SiteHeartbeat site = BOARD__SITE_HEARTBEAT__INIT;
    Board__HeartbeatRequest q = BOARD__HEARTBEAT_REQUEST__INIT;
    site.cloudlet = (char *)(size_t)"acme/paris";
    site.session = 9;
    q.site = &site;
    board_rig_run(r, 100 * MILLISECOND_NS);
    assert_true(board_heartbeat(board_rig_board(r, 0), &q));
    board_rig_run(r, 2 * SECOND_NS);
    SCOPED_ARENA(a);
    const Board__HeartbeatRecord *record = told(r, &a);
    assert_int_equal(record->n_sites, 1);
    assert_string_equal(record->sites[0]->cloudlet, "acme/paris");
    assert_int_equal(record->sites[0]->session, 9);
    board_rig_run(r, 2 * SECOND_NS);
    assert_int_equal(told(r, &a)->n_sites, 0); /* not heard since */
    board_rig_free(r);
}

static void a_silent_bbs_is_swept_and_a_stopped_one_takes_its_keys_back(void **state)
{
    struct rig *r = ready_rig(2, NULL);
    struct asked a = {0};
    ask(r, 1, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    board_rig_restart(r, 1); /* as kill -9: its first life's keys stay */
    board_rig_run(r, 5 * SECOND_NS);
    assert_int_equal(count_prefix(r, "beat/"), 3);
    assert_int_equal(count_prefix(r, "cause/"), 1);
    board_rig_run(r, 640 * SECOND_NS);
    assert_int_equal(count_prefix(r, "beat/"), 2);
    assert_int_equal(count_prefix(r, "cause/"), 0);
    ask(r, 1, &a, "d");
    board_rig_run(r, 100 * MILLISECOND_NS);
    board_rig_stop(r, 1);
    board_rig_run(r, 500 * MILLISECOND_NS);
    assert_true(board_rig_exited(r, 1));
    assert_int_equal(count_prefix(r, "beat/"), 1);
    assert_int_equal(count_prefix(r, "cause/"), 0);
    board_rig_cut(r, 0, true);
    board_rig_stop(r, 0); /* and without etcd within 2 s */
    board_rig_run(r, 2100 * MILLISECOND_NS);
    assert_true(board_rig_exited(r, 0));
    board_rig_free(r);
}

/* It died between its first transaction and its first heartbeat. */
static void causes_without_a_heartbeat_are_swept(void **state)
{
    struct rig *r = ready_rig(2, NULL);
    Board__CauseRecord cause = BOARD__CAUSE_RECORD__INIT;
    struct asked asked[2] = {0};
    ask(r, 0, &asked[0], "d");
    ask(r, 1, &asked[1], "e");
    put_record(r, "cause/0-first/0", &cause.base);
    put_record(r, "cause/0-first/1", &cause.base);
    put_record(r, "cause/9~last/0", &cause.base);
    board_rig_run(r, 590 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/0-first/"), 2);
    board_rig_run(r, 100 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/0-first/"), 0);
    board_rig_run(r, 800 * SECOND_NS);
    assert_int_equal(count_prefix(r, "cause/9~last/"), 0);
    assert_int_equal(count_prefix(r, "cause/"), 2); /* those of the living stay */
    board_rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_tells_the_raft_term_of_etcds_last_answer),
        cmocka_unit_test(heartbeats_are_put_every_2_s_and_refused_when_unconfirmed),
        cmocka_unit_test(a_leaders_heartbeat_is_put_soon),
        cmocka_unit_test(a_sites_heartbeat_is_told_with_its_session),
        cmocka_unit_test(a_silent_bbs_is_swept_and_a_stopped_one_takes_its_keys_back),
        cmocka_unit_test(causes_without_a_heartbeat_are_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The converger, driven by hand-made events: what it asks of the board, and when. */
#include "common/model/keys.h"
#include "converger/cli/plan_text.h"
#include "converger/inside.h"
#include "test/unit/drive.h"
#include "test/unit/feed_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE
#define DONE BOARD__MOVE_RESULT__OUTCOME__DONE
#define REFUSED BOARD__MOVE_RESULT__OUTCOME__REFUSED
#define UNKNOWN BOARD__MOVE_RESULT__OUTCOME__UNKNOWN

struct fixture {
    struct drive drive;
    struct arena arena; /* of the test */
    struct converger *x;
    struct buf sent;
    struct buf text;
    int64_t revision;
};

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

static void begin(struct fixture *f, const char *boards)
{
    struct converger_config config = {
        .name = "converger-1", .boards = boards, .url = "https://me:9017"};
    f->x = (struct converger *)converger_new(&config);
    drive_init(&f->drive, step, f->x);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->sent);
    buf_init(&f->text);
    f->revision = 10;
    begin(f, "https://a:1,https://b:2");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    role_free(&f->x->role);
    drive_done(&f->drive);
    buf_done(&f->sent);
    buf_done(&f->text);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* ---- The board ------------------------------------------------------------------------------- */

static void send(struct fixture *f)
{
    struct buf once = f->sent;
    buf_init(&f->sent);
    drive_stream(&f->drive, f->x->follower.call_id, buf_bytes(&once));
    buf_done(&once);
}

static void change(struct fixture *f, Board__FeedFrame__Kind kind, const char *key,
                   const ProtobufCMessage *m)
{
    frame_change(&f->sent, kind, key, m, kind == RECORD ? f->revision : ++f->revision);
}

static void desired(struct fixture *f, Board__FeedFrame__Kind kind, const char *guid, int instances)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = arena_strdup(&f->arena, guid);
    lrp.instances = instances;
    change(f, kind, key_desired(&f->arena, guid), &lrp.base);
}

static void actual(struct fixture *f, Board__FeedFrame__Kind kind, const char *guid, int32_t index,
                   const char *record_state, int64_t since_ns)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = arena_strdup(&f->arena, guid);
    key.index = index;
    key.domain = arena_strdup(&f->arena, "d");
    lrp.actual_lrp_key = &key;
    lrp.state = arena_strdup(&f->arena, record_state);
    lrp.since = since_ns;
    lrp.crash_count = strcmp(record_state, "CRASHED") == 0 ? 3 : 0;
    change(f, kind, key_actual(&f->arena, guid, index, 0), &lrp.base);
}

static void domain(struct fixture *f, Board__FeedFrame__Kind kind, uint32_t ttl_s)
{
    Board__DomainRecord d = BOARD__DOMAIN_RECORD__INIT;
    d.domain = arena_strdup(&f->arena, "d");
    d.ttl_s = ttl_s;
    d.expires_at = ttl_s ? f->drive.now.wall_ns + ttl_s * SECOND_NS : 0;
    change(f, kind, key_domain(&f->arena, "d"), &d.base);
}

static void current(struct fixture *f)
{
    frame_current(&f->sent, "e1", f->revision);
    send(f);
}

static void elect(struct fixture *f)
{
    uint64_t id = drive_call(&f->drive, "/v1/board/lead", 0)->id;
    Board__LeadResponse r = BOARD__LEAD_RESPONSE__INIT;
    Board__LeadRecord lead = BOARD__LEAD_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    lead.holder = f->x->leader.id;
    term.role = arena_strdup(&f->arena, "converger");
    term.epoch = arena_strdup(&f->arena, "e1");
    term.term = ++f->revision;
    r.lead = &lead;
    r.term = &term;
    drive_answer(&f->drive, id, &r.base);
    assert_true(f->x->leader.leads);
}

/* Started and leading, with what was sent before. */
static void lead(struct fixture *f)
{
    struct buf rest = f->sent;
    buf_init(&f->sent);
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    buf_append(&f->sent, rest.data, rest.size);
    buf_done(&rest);
    current(f);
    elect(f);
}

/* The n-th call of moves in the last step as "create web/0 stop web/1 "; "" if there is none. */
static const char *moves(struct fixture *f, size_t n, uint64_t *ret_call)
{
    const struct call *c = drive_call(&f->drive, "/v1/board/apply", n);
    buf_clear(&f->text);
    if (!c) {
        return "";
    }
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__ApplyRequest *r = board__apply_request__unpack(&allocator, c->body.size, c->body.data);
    assert_non_null(r);
    for (size_t i = 0; i < r->n_moves; i++) {
        const Board__Move *m = r->moves[i];
        assert_string_equal(m->term->role, "converger");
        assert_int_equal(m->term->term, f->x->leader.term);
        buf_printf(&f->text, "%s ", m->move);
        if (m->domain[0]) {
            buf_printf(&f->text, "domain %s ", m->domain);
        } else {
            buf_printf(&f->text, "%s/%d ", m->actual_lrp_key->process_guid,
                       m->actual_lrp_key->index);
        }
    }
    *ret_call = c->id;
    return buf_string(&f->text);
}

#define assert_moves(f, expected, ret_call) assert_string_equal(moves(f, 0, ret_call), expected)

static void answer(struct fixture *f, uint64_t call, size_t count,
                   Board__MoveResult__Outcome outcome)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    result.outcome = outcome;
    r.results = ARENA_ARRAY(&f->arena, count, Board__MoveResult *);
    for (r.n_results = 0; r.n_results < count; r.n_results++) {
        r.results[r.n_results] = &result;
    }
    drive_answer(&f->drive, call, &r.base);
}

/* Time passes while the board lives; true if moves were sent on the way. */
static bool moved_within(struct fixture *f, int seconds)
{
    bool moved = false;
    for (int i = 0; i < seconds && !moved; i++) {
        drive_advance(&f->drive, 1000);
        moved = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
        if (!moved) {
            const struct call *beat = drive_call(&f->drive, "/v1/board/beat", 0);
            if (beat) {
                Board__BeatResponse taken = BOARD__BEAT_RESPONSE__INIT;
                drive_answer(&f->drive, beat->id, &taken.base);
            }
            frame_heartbeat(&f->sent, "e1", f->revision);
            send(f);
            moved = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
        }
    }
    return moved;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void a_wrong_configuration_is_told(void **state)
{
    struct fixture *f = *state;
    role_free(&f->x->role);
    drive_done(&f->drive);
    begin(f, "http://a:1");
    drive_start(&f->drive);
    const struct effect *e = drive_effect(&f->drive, EFFECT_EXIT, 0);
    assert_non_null(e);
    assert_int_equal(e->exit.code, 2);
}

static void a_standby_moves_nothing_and_forgets_what_is_gone(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    desired(f, RECORD, "web", 1);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, RECORD, "lead/converger", &other.base, 5);
    current(f);
    assert_moves(f, "", &call);
    assert_int_equal(f->x->processes.by_guid.count, 1);
    desired(f, DELETE, "web", 1);
    desired(f, PUT, "api", 2);
    send(f);
    assert_int_equal(f->x->processes.by_guid.count, 1);
    /* The other one gives the lock back: all is looked at once this one leads. */
    frame_change(&f->sent, DELETE, "lead/converger", &other.base, ++f->revision);
    send(f);
    elect(f);
    assert_moves(f, "create api/0 create api/1 ", &call);
}

static void news_are_looked_at_at_once_and_only_once(void **state)
{
    struct fixture *f = *state;
    uint64_t call, none;
    lead(f);
    assert_moves(f, "", &call);
    desired(f, PUT, "web", 1);
    send(f);
    assert_moves(f, "create web/0 ", &call);
    /* While the answer is awaited further news do not plan it again. */
    desired(f, PUT, "web", 2);
    send(f);
    assert_moves(f, "", &none);
    actual(f, PUT, "web", 0, "UNCLAIMED", f->drive.now.wall_ns);
    send(f);
    answer(f, call, 1, DONE);
    assert_moves(f, "create web/1 ", &call);
    actual(f, PUT, "web", 1, "UNCLAIMED", f->drive.now.wall_ns);
    send(f);
    answer(f, call, 1, DONE);
    assert_moves(f, "", &call);
    assert_int_equal(f->x->mover.count, 0);
    assert_int_equal(f->x->mover.repaired, 2);
}

static void an_unanswered_repair_is_thought_over(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    desired(f, RECORD, "web", 1);
    lead(f);
    assert_moves(f, "create web/0 ", &call);
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    assert_moves(f, "", &call);
    assert_true(moved_within(f, 2));
    assert_moves(f, "create web/0 ", &call);
    answer(f, call, 1, UNKNOWN);
    assert_true(moved_within(f, 2));
    assert_moves(f, "create web/0 ", &call);
    answer(f, call, 1, REFUSED);
    assert_false(moved_within(f, 4));
    assert_true(moved_within(f, 2));
    assert_int_equal(f->x->mover.refused, 1);
}

static void a_crashed_one_is_restarted_when_due(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    desired(f, RECORD, "web", 1);
    actual(f, RECORD, "web", 0, "CRASHED", f->drive.now.wall_ns);
    lead(f);
    assert_moves(f, "", &call);
    assert_false(moved_within(f, 29));
    assert_true(moved_within(f, 2));
    assert_moves(f, "restart web/0 ", &call);
}

static void what_waits_too_long_is_asked_for_in_full_passes(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    desired(f, RECORD, "web", 1);
    actual(f, RECORD, "web", 0, "UNCLAIMED", f->drive.now.wall_ns);
    lead(f);
    assert_moves(f, "", &call);
    assert_true(moved_within(f, 61));
    assert_moves(f, "ask web/0 ", &call);
    answer(f, call, 1, BOARD__MOVE_RESULT__OUTCOME__NOTHING);
    assert_moves(f, "", &call);
    assert_true(moved_within(f, 31));
    assert_moves(f, "ask web/0 ", &call);
}

/* Freshness by both clocks: the stored expiry, and how long this revision has been seen. */
static void extra_ones_are_stopped_only_in_a_fresh_domain(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    actual(f, RECORD, "web", 0, "RUNNING", 0);
    lead(f);
    assert_moves(f, "", &call);
    assert_false(moved_within(f, 65));
    domain(f, PUT, 12);
    send(f);
    assert_moves(f, "stop web/0 ", &call);
    answer(f, call, 1, REFUSED);
    assert_true(moved_within(f, 6));
    assert_moves(f, "stop web/0 ", &call);
    answer(f, call, 1, REFUSED);
    /* The wall clock falls back; the monotonic one does not. */
    f->drive.now.wall_ns -= 1000 * SECOND_NS;
    assert_true(moved_within(f, 6));
    answer(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, 1, REFUSED);
    assert_false(moved_within(f, 60));
    /* The same revision, told again by another bbs, is no younger. */
    frame_reset(&f->sent, "e1");
    actual(f, RECORD, "web", 0, "RUNNING", 0);
    current(f);
    assert_moves(f, "", &call);
}

static void an_expired_domain_goes(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    domain(f, RECORD, 10);
    lead(f);
    assert_false(moved_within(f, 9));
    assert_true(moved_within(f, 22));
    assert_moves(f, "expire domain d ", &call);
}

static void a_deposed_leader_stops_at_once(void **state)
{
    struct fixture *f = *state;
    uint64_t call;
    desired(f, RECORD, "web", 1);
    lead(f);
    assert_moves(f, "create web/0 ", &call);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, PUT, "lead/converger", &other.base, f->revision += 10);
    desired(f, PUT, "web", 2);
    send(f);
    assert_false(f->x->leader.leads);
    assert_moves(f, "", &call);
    assert_int_equal(f->x->mover.count, 0);
    answer(f, call, 1, DONE); /* too late, and not counted */
    assert_int_equal(f->x->mover.repaired, 0);
}

/* 10,000 missing ones of one process, and more moves than fit at a time: calls and moves are
 * bounded, and all of it gets done. */
static void much_work_is_done_in_bounded_pieces(void **state)
{
    struct fixture *f = *state;
    enum { MANY = 10000 };
    bool *made = ARENA_ARRAY(&f->arena, MANY, bool);
    size_t answered = 0;
    desired(f, RECORD, "web", MANY);
    lead(f);
    uint64_t open[MOVER_CALLS_MAX * 4];
    size_t sizes[MOVER_CALLS_MAX * 4], count = 0, next = 0;
    while (answered < MANY) {
        for (size_t n = 0; drive_call(&f->drive, "/v1/board/apply", n); n++) {
            const struct call *c = drive_call(&f->drive, "/v1/board/apply", n);
            ProtobufCAllocator allocator = arena_protobuf(&f->arena);
            Board__ApplyRequest *r =
                board__apply_request__unpack(&allocator, c->body.size, c->body.data);
            assert_in_range(r->n_moves, 1, MOVER_MOVES_MAX);
            for (size_t i = 0; i < r->n_moves; i++) {
                assert_false(made[r->moves[i]->actual_lrp_key->index]);
                made[r->moves[i]->actual_lrp_key->index] = true;
                actual(f, PUT, "web", r->moves[i]->actual_lrp_key->index, "UNCLAIMED",
                       f->drive.now.wall_ns);
            }
            open[count % (MOVER_CALLS_MAX * 4)] = c->id;
            sizes[count++ % (MOVER_CALLS_MAX * 4)] = r->n_moves;
        }
        assert_in_range(count - next, 1, MOVER_CALLS_MAX);
        assert_true(f->x->mover.count <= MOVER_WAITING_MAX);
        send(f);
        assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
        answered += sizes[next % (MOVER_CALLS_MAX * 4)];
        answer(f, open[next % (MOVER_CALLS_MAX * 4)], sizes[next % (MOVER_CALLS_MAX * 4)], DONE);
        next++;
    }
    assert_int_equal(f->x->mover.count, 0);
}

/* ---- What it is asked ------------------------------------------------------------------------ */

static const struct reply *ask(struct fixture *f, const char *method, const char *path,
                               const char *unit)
{
    struct event ev = {.kind = EVENT_REQUEST,
                       .request = {.id = 77,
                                   .method = method,
                                   .path = path,
                                   .query = "",
                                   .trace_id = "",
                                   .accept = "",
                                   .content_type = "",
                                   .if_none_match = "",
                                   .peer = {.unit = unit, .name = "somebody"}}};
    drive_event(&f->drive, ev);
    const struct effect *e = drive_effect(&f->drive, EFFECT_REPLY, 0);
    assert_non_null(e);
    return &e->reply;
}

static void plan_shows_and_once_does(void **state)
{
    struct fixture *f = *state;
    struct err err;
    uint64_t call;
    desired(f, RECORD, "web", 1);
    domain(f, RECORD, 0);
    lead(f);
    assert_moves(f, "create web/0 ", &call);
    actual(f, PUT, "web", 0, "UNCLAIMED", f->drive.now.wall_ns - 60 * SECOND_NS);
    send(f);
    answer(f, call, 1, DONE);
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, ask(f, "GET", "/plan", "")->body, false,
                                              &f->text, &err),
                     0);
    assert_string_equal(buf_string(&f->text), "PASS      MOVE  WHAT\nunplaced  ask   web/0\n");
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));

    const struct reply *r = ask(f, "POST", "/once", "");
    assert_int_equal(r->status, 200);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Converge__OnceResponse *once =
        converge__once_response__unpack(&allocator, r->body.size, r->body.data);
    assert_int_equal(once->plan->n_repairs, 1);
    assert_moves(f, "ask web/0 ", &call);
    assert_int_equal(ask(f, "GET", "/state", "")->status, 200);
}

static void questions_are_checked(void **state)
{
    struct fixture *f = *state;
    drive_start(&f->drive);
    assert_int_equal(ask(f, "GET", "/nothing", "")->status, 404);
    assert_int_equal(ask(f, "GET", "/once", "")->status, 405);
    assert_int_equal(ask(f, "POST", "/once", "rep")->status, 403);
    assert_int_equal(ask(f, "POST", "/once", "")->status, 503); /* it does not lead */
    struct err err;
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, ask(f, "GET", "/plan", "")->body, false,
                                              &f->text, &err),
                     0);
    assert_string_equal(buf_string(&f->text),
                        "nothing to repair\n"
                        "the board is not known yet: the feed has not caught up\n");
    assert_true(converger_plan_json_text(&f->arena, bytes_of("{"), false, &f->text, &err) < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wrong_configuration_is_told),
        TEST(a_standby_moves_nothing_and_forgets_what_is_gone),
        TEST(news_are_looked_at_at_once_and_only_once),
        TEST(an_unanswered_repair_is_thought_over),
        TEST(a_crashed_one_is_restarted_when_due),
        TEST(what_waits_too_long_is_asked_for_in_full_passes),
        TEST(extra_ones_are_stopped_only_in_a_fresh_domain),
        TEST(an_expired_domain_goes),
        TEST(a_deposed_leader_stops_at_once),
        TEST(much_work_is_done_in_bounded_pieces),
        TEST(plan_shows_and_once_does),
        TEST(questions_are_checked),
    };
    return cmocka_run_group_tests_name("converger role", tests, NULL, NULL);
}

/* What a converger is asked and what it answers. */
#include "converger/cli/plan_text.h"
#include "test/tool/cmocka.h"
#include "test/unit/converger/converger_rig.h"

static const struct reply *ask(struct converger_rig *f, const char *method, const char *path,
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
    struct converger_rig *f = *state;
    struct err err;
    uint64_t call;
    rig_desired(f, RECORD, "web", 1);
    rig_domain(f, RECORD, 0);
    rig_leader_lock(f);
    assert_moves(f, "create web/0 ", &call);
    rig_actual(f, PUT, "web", 0, "UNCLAIMED", f->drive.now.wall_ns - 60 * SECOND_NS);
    rig_send(f);
    rig_answer(f, call, 1, DONE);
    /* By its own clock, whatever since says. */
    rig_instances(f)->unplaced_after_ns = 10 * SECOND_NS;
    assert_false(rig_moved_within(f, 11));
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, ask(f, "GET", "/plan", "")->body, false,
                                              &f->text, &err),
                     0);
    assert_string_equal(buf_string(&f->text), "PASS      MOVE  COUNT  WHAT\n"
                                              "unplaced  ask   1      web/0\n");
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));

    const struct reply *r = ask(f, "POST", "/once", "client");
    assert_int_equal(r->status, 200);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Converge__OnceResponse *once =
        converge__once_response__unpack(&allocator, r->body.size, r->body.data);
    assert_int_equal(once->plan->n_repairs, 1);
    assert_moves(f, "ask web/0 ", &call);
    assert_int_equal(ask(f, "GET", "/state", "")->status, 200);
}

/* A row a pass; runs of indices are one piece, and pieces are bounded. Looking changes nothing. */
static void a_large_plan_is_readable(void **state)
{
    struct converger_rig *f = *state;
    struct err err;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    rig_desired(f, RECORD, "web", 300);
    for (int i = 0; i < 12; i++) {
        rig_desired(f, RECORD, arena_printf(&f->arena, "x%02d", i), 1);
        rig_placed(f, RECORD, arena_printf(&f->arena, "x%02d", i), 0, 0, "gone");
    }
    rig_current(f);
    size_t records = f->x->life.feed_client.records.count;
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, ask(f, "GET", "/plan", "")->body, false,
                                              &f->text, &err),
                     0);
    assert_string_equal(buf_string(&f->text),
                        "PASS     MOVE     COUNT  WHAT\n"
                        "missing  create   300    web/0-299\n"
                        "lost     suspect  12     x00/0, x01/0, x02/0, x03/0, x04/0, x05/0, "
                        "x06/0, x07/0 and 4 more\n"
                        "this converger stands by: the leader repairs\n");
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_int_equal(f->x->mover.count, 0);
    assert_int_equal(f->x->life.feed_client.records.count, records);
}

/* Nobody repairs it, and nothing is moved. */
static void a_record_without_its_counterpart_is_shown(void **state)
{
    struct converger_rig *f = *state;
    struct err err;
    Board__UnitScopeRecord scope = BOARD__UNIT_SCOPE_RECORD__INIT;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    scope.member = arena_strdup(&f->arena, "relation_member/0000000007/-/0/web/0000000003");
    rig_change(f, RECORD, "unit_scope/web/0000000003/0000000007", &scope.base);
    rig_leader_lock(f);
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, ask(f, "GET", "/plan", "")->body, false,
                                              &f->text, &err),
                     0);
    assert_string_equal(buf_string(&f->text),
                        "PASS    MOVE  COUNT  WHAT\n"
                        "mirror  none  1      unit_scope/web/0000000003/0000000007 without "
                        "relation_member/0000000007/-/0/web/0000000003\n");
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

static void questions_are_checked(void **state)
{
    struct converger_rig *f = *state;
    drive_start(&f->drive);
    assert_int_equal(ask(f, "GET", "/nothing", "")->status, 404);
    assert_int_equal(ask(f, "GET", "/once", "")->status, 405);
    assert_int_equal(ask(f, "POST", "/once", "rep")->status, 403);
    assert_int_equal(ask(f, "POST", "/once", "")->status, 403);
    assert_int_equal(ask(f, "POST", "/once", "client")->status, 503); /* it does not lead */
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

/* What systems are made of has its kind and its name. */
static void a_plan_names_what_is_of_systems(void **state)
{
    static const char body[] =
        "{\"leads\":true,\"current\":true,\"repairs\":["
        "{\"pass\":\"accept\",\"move\":\"begin\",\"subject\":\"deploy 6f0c/7f3a\"},"
        "{\"pass\":\"accept\",\"move\":\"begin\",\"subject\":\"deploy 6f0c/7f3b\"},"
        "{\"pass\":\"service\",\"move\":\"surge\",\"service\":\"6f0c/store/api\"},"
        "{\"pass\":\"run\",\"move\":\"queue\",\"subject\":\"jobrun 6f0c/r1\"}]}";
    struct converger_rig *f = *state;
    struct err err;
    buf_clear(&f->text);
    assert_int_equal(converger_plan_json_text(&f->arena, bytes_of(body), false, &f->text, &err), 0);
    assert_string_equal(buf_string(&f->text),
                        "PASS     MOVE   COUNT  WHAT\n"
                        "accept   begin  2      deploy 6f0c/7f3a, deploy 6f0c/7f3b\n"
                        "service  surge  1      service 6f0c/store/api\n"
                        "run      queue  1      jobrun 6f0c/r1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* A leader and a standby, in Prometheus' form; a board without sites has none. */
static void metrics_are_told(void **state)
{
    struct converger_rig *f = *state;
    drive_start(&f->drive);
    const struct reply *r = ask(f, "GET", "/metrics", "");
    assert_int_equal(r->status, 200);
    assert_string_equal(r->content_type, "text/plain; version=0.0.4; charset=utf-8");
    assert_string_equal(arena_strndup(&f->arena, (const char *)r->body.data, r->body.size),
                        "# HELP corkboard_converger_leads Whether this converger leads.\n"
                        "# TYPE corkboard_converger_leads gauge\n"
                        "corkboard_converger_leads 0\n");
    assert_int_equal(ask(f, "POST", "/metrics", "client")->status, 405);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(plan_shows_and_once_does),        TEST(a_large_plan_is_readable),
        TEST(a_plan_names_what_is_of_systems), TEST(a_record_without_its_counterpart_is_shown),
        TEST(questions_are_checked),
        TEST(metrics_are_told),
    };
    return cmocka_run_group_tests_name("requests to the converger", tests, NULL, NULL);
}

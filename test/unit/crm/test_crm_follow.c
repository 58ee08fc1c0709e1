/* A CRM that follows: what it plans and shows, how much it says at once, what becomes of what the
 * centre does not take, and of records that it does not understand (crm/follow.h, crm/plan.h). */
#include "crm/cli/plan_text.h"
#include "edge_api.pb-c.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/crm/crm_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEB PARIS "/dev/web"
#define SECRET "s3cret-of-the-app"

/* ---- What the boards have -------------------------------------------------------------------- */

static Board__EdgeOperation operation = {.word = (char *)(uintptr_t) "create",
                                         .error = (char *)(uintptr_t) "",
                                         .found = (char *)(uintptr_t) "",
                                         .limit_ns = 1200 * SECOND_NS};

static void cluster(struct crm_rig *x, const char *state)
{
    Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    Board__ClusterSpec spec = BOARD__CLUSTER_SPEC__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    node.memory_mb = 512;
    spec.node = &node;
    spec.nodes = 1;
    c.name = crm_rig_text(WEB);
    c.uid = crm_rig_text("u-web");
    c.state = crm_rig_text(state);
    c.request = 1;
    c.digest = crm_rig_text("w1");
    c.operation = &operation;
    c.spec = &spec;
    board__edge_operation__init(&operation);
    operation.limit_ns = 1200 * SECOND_NS;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "clusterinst/" WEB, &c.base,
                 ++x->centre_revision);
}

static void cluster_goes(struct crm_rig *x)
{
    const Board__ClusterInstRecord c = BOARD__CLUSTER_INST_RECORD__INIT;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__DELETE, "clusterinst/" WEB, &c.base,
                 ++x->centre_revision);
}

static const char *app_name(struct crm_rig *x, int number)
{
    return arena_printf(&x->arena, WEB "/dev/shop%03d/1.0", number);
}

static void app(struct crm_rig *x, int number, const char *state)
{
    Board__AppInstRecord i = BOARD__APP_INST_RECORD__INIT;
    Board__AppInstSpec spec = BOARD__APP_INST_SPEC__INIT;
    Models__EnvironmentVariable env = MODELS__ENVIRONMENT_VARIABLE__INIT, *list[] = {&env};
    env.name = crm_rig_text("PASSWORD");
    env.value = crm_rig_text(SECRET);
    spec.env = list;
    spec.n_env = 1;
    spec.revision = 1;
    spec.instances = 1;
    i.name = crm_rig_text(app_name(x, number));
    i.uid = arena_printf(&x->arena, "u-shop%03d", number);
    i.state = crm_rig_text(state);
    i.request = 1;
    i.digest = crm_rig_text("s1");
    i.cluster_uid = crm_rig_text("u-web");
    board__edge_operation__init(&operation);
    operation.limit_ns = 1200 * SECOND_NS;
    i.operation = &operation;
    i.spec = &spec;
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT,
                 arena_printf(&x->arena, "appinst/%s", i.name), &i.base, ++x->centre_revision);
}

static void slice_stands(struct crm_rig *x)
{
    Board__SliceRecord s = BOARD__SLICE_RECORD__INIT;
    s.uid = crm_rig_text("u-web");
    s.owner = crm_rig_text(WEB);
    s.digest = crm_rig_text("w1");
    frame_change(&x->sent, BOARD__FEED_FRAME__KIND__PUT, "slice/u-web", &s.base,
                 ++x->site_revision);
    crm_rig_send_to(x, &x->crm->life.feed_client);
}

/* READY, and what the site's feed and the centre's say from now on is compared. */
static void begin(struct crm_rig *x)
{
    crm_rig_become_ready(x);
    drive_advance(&x->drive, 100);
}

/* All batches of moves to the centre in the last step. */
static const Board__ApplyRequest *batch(struct crm_rig *x, const struct call **ret)
{
    for (size_t i = 0; (*ret = drive_call(&x->drive, "centre:", i)); i++) {
        if (strstr((*ret)->url, "/v1/board/apply")) {
            ProtobufCAllocator allocator = arena_protobuf(&x->arena);
            return board__apply_request__unpack(&allocator, (*ret)->body.size, (*ret)->body.data);
        }
    }
    return NULL;
}

/* The next one, now or within a minute. */
static const Board__ApplyRequest *await_batch(struct crm_rig *x, const struct call **ret)
{
    for (int i = 0; i < 600 && !batch(x, ret); i++) {
        crm_rig_pass_ms(x, 100);
    }
    const Board__ApplyRequest *r = batch(x, ret);
    assert_non_null(r);
    return r;
}

static void answer_batch(struct crm_rig *x, const struct call *call, size_t count)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult done = BOARD__MOVE_RESULT__INIT;
    done.outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
    r.results = ARENA_ARRAY(&x->arena, count, Board__MoveResult *);
    for (; r.n_results < count; r.n_results++) {
        r.results[r.n_results] = &done;
    }
    drive_answer(&x->drive, call->id, &r.base);
}

static const char *asked(struct crm_rig *x, const char *path)
{
    drive_event(&x->drive, (struct event){.kind = EVENT_REQUEST,
                                          .request = {.id = 9,
                                                      .method = "GET",
                                                      .path = path,
                                                      .query = "",
                                                      .trace_id = "",
                                                      .accept = "",
                                                      .content_type = "",
                                                      .if_none_match = "",
                                                      .peer = {"client", "me"}}});
    const struct effect *e = drive_effect(&x->drive, EFFECT_REPLY, 0);
    assert_non_null(e);
    assert_int_equal(e->reply.status, 200);
    return arena_strndup(&x->arena, (const char *)e->reply.body.data, e->reply.body.size);
}

static const char *plan_shown(struct crm_rig *x)
{
    struct err err = {0};
    SCOPED_BUF(out);
    const char *body = asked(x, "/plan");
    assert_int_equal(crm_plan_text(&x->arena, bytes_of(body), false, &out, &err), 0);
    return arena_strdup(&x->arena, buf_string(&out));
}

/* ---- What it shows --------------------------------------------------------------------------- */

static void the_plan_says_what_waits_and_for_what(void **state)
{
    struct crm_rig *x = *state;
    begin(x);
    assert_string_equal(plan_shown(x), "nothing is to be done: 0 objects are as the centre says\n");
    cluster(x, "CREATE_REQUESTED");
    app(x, 1, "CREATE_REQUESTED");
    crm_rig_centre_heartbeat(x);
    drive_advance(&x->drive, 100);
    assert_string_equal(
        plan_shown(x),
        "KIND          NAME                                STATE             SAYS      WORK  NOW\n"
        "cluster       acme/paris/dev/web                  CREATE_REQUESTED  creating  make  under "
        "way, gives up in 17m\n"
        "app instance  acme/paris/dev/web/dev/shop001/1.0  CREATE_REQUESTED  creating  make  waits "
        "for cluster acme/paris/dev/web\n");
    assert_non_null(strstr(asked(x, "/state"), "\"works\":[{\"kind\":\"cluster\""));
}

static void a_standby_shows_that_it_does_nothing(void **state)
{
    struct crm_rig *x = *state;
    x->another_leads = true;
    drive_start(&x->drive);
    crm_rig_site_snapshot(x, PARIS, "G");
    Board__CloudletRecord c = crm_rig_cloudlet_in("READY");
    crm_rig_centre_snapshot(x, &c, 7, "READY", "1.0.0");
    assert_non_null(strstr(plan_shown(x), "nothing is done now; it waits for: another CRM leads"));
}

/* A record that a later version writes: its object is left alone, and, where nobody knows of which
 * object it is, all are; what of them is told. */
static void what_it_does_not_understand_is_left_alone(void **state)
{
    struct crm_rig *x = *state;
    begin(x);
    cluster(x, "HIBERNATING");
    crm_rig_centre_heartbeat(x);
    slice_stands(x);
    for (int i = 0; i < 8; i++) {
        crm_rig_pass(x, 1);
        assert_null(drive_call(&x->drive, "https://site:1/v1/board/apply", 0));
    }
    assert_non_null(strstr(plan_shown(x), "HIBERNATING"));
    assert_non_null(strstr(plan_shown(x), "a CRM of a later version: this one does not know"));

    frame_later_version(&x->sent, "appinst/" WEB "/dev/new/1.0", ++x->centre_revision);
    cluster_goes(x);
    crm_rig_centre_heartbeat(x);
    for (int i = 0; i < 8; i++) {
        crm_rig_pass(x, 1);
        assert_null(drive_call(&x->drive, "https://site:1/v1/board/apply", 0));
    }
    assert_non_null(
        strstr(plan_shown(x), "records of the centre that this version cannot read: 1"));
    assert_non_null(strstr(asked(x, "/state"), "\"unread\":1"));
}

/* ---- How much it says ------------------------------------------------------------------------ */

static void so_many_moves_at_once(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin(x);
    for (int i = 0; i <= FOLLOW_MOVES_MAX; i++) {
        app(x, i, "DELETE_REQUESTED");
    }
    crm_rig_centre_heartbeat(x);
    const Board__ApplyRequest *r = await_batch(x, &call);
    assert_int_equal(r->n_moves, FOLLOW_MOVES_MAX);
    assert_string_equal(r->moves[0]->move, "deleted");
    drive_advance(&x->drive, 1000);
    assert_null(batch(x, &call)); /* none beside the one that is on its way */
}

/* A centre that answers 503 for an hour is asked less and less, and hears all of it then. */
static void a_centre_that_has_too_much_to_do_is_left_in_peace(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin(x);
    app(x, 1, "DELETE_REQUESTED");
    crm_rig_centre_heartbeat(x);
    int asks = 0;
    int64_t last_ns = 0, least_ns = INT64_MAX, most_ns = 0;
    for (int second = 0; second < 3600; second++) {
        if (batch(x, &call)) {
            int64_t gap_ns = x->drive.now.mono_ns - last_ns;
            least_ns = asks && gap_ns < least_ns ? gap_ns : least_ns;
            most_ns = asks && gap_ns > most_ns ? gap_ns : most_ns;
            last_ns = x->drive.now.mono_ns;
            asks++;
            drive_response(&x->drive, call->id, 503, "", bytes_of("busy"));
        }
        crm_rig_pass(x, 1);
    }
    assert_in_range(asks, 3600 / 32, 3600 / 18);
    assert_true(least_ns >= 1 * SECOND_NS && most_ns <= CENTRE_BACK_OFF_MAX_NS + 1 * SECOND_NS);
    await_batch(x, &call);
    answer_batch(x, call, 1);
    assert_int_equal(x->crm->follow.failures, 0);
}

/* What was in a batch that nobody answered is told again. */
static void a_report_that_was_not_taken_is_told_again(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    begin(x);
    slice_stands(x);
    cluster(x, "READY");
    crm_rig_centre_heartbeat(x);
    const Board__ApplyRequest *r = await_batch(x, &call);
    assert_string_equal(r->moves[0]->move, "report");
    drive_unanswered(&x->drive, call->id, CALL_UNKNOWN);
    r = await_batch(x, &call);
    assert_string_equal(r->moves[0]->subject->key, WEB);
    answer_batch(x, call, r->n_moves);
    for (int i = 0; i < 20; i++) {
        crm_rig_pass(x, 1);
        assert_null(batch(x, &call)); /* once */
    }
}

static const struct call *await_definition(struct crm_rig *x)
{
    for (int i = 0; i < 100 && !drive_call(&x->drive, "/v1/edge/definition", 0); i++) {
        const struct call *said;
        const Board__ApplyRequest *r = batch(x, &said);
        if (r) {
            answer_batch(x, said, r->n_moves);
        } else {
            crm_rig_pass_ms(x, 50);
        }
    }
    const struct call *call = drive_call(&x->drive, "/v1/edge/definition", 0);
    if (!call) {
        fail_msg("no definition is asked for:\n%s", plan_shown(x));
    }
    return call;
}

/* Definitions are asked for a few at a time, each in its turn. */
static void so_many_definitions_at_once(void **state)
{
    struct crm_rig *x = *state;
    begin(x);
    slice_stands(x);
    cluster(x, "READY");
    for (int i = 0; i < 10; i++) {
        app(x, i, "CREATING");
    }
    crm_rig_centre_heartbeat(x);
    const struct call *first = await_definition(x);
    assert_non_null(drive_call(&x->drive, "/v1/edge/definition", FOLLOW_DEFINITIONS_MAX - 1));
    assert_null(drive_call(&x->drive, "/v1/edge/definition", FOLLOW_DEFINITIONS_MAX));
    drive_response(&x->drive, first->id, 503, "", bytes_of("busy"));
    assert_non_null(drive_call(&x->drive, "/v1/edge/definition", 0)); /* the next one */
    assert_null(drive_call(&x->drive, "/v1/edge/definition", 1));
}

/* ---- Secrets --------------------------------------------------------------------------------- */

static void holds_no_secret(struct crm_rig *x, const char *where)
{
    for (size_t i = 0; i < x->drive.out.count; i++) {
        const struct effect *e = &x->drive.out.list[i];
        if (e->kind == EFFECT_LOG &&
            (strstr(e->log.message, SECRET) || strstr(e->log.data, SECRET))) {
            fail_msg("%s: %s %s", where, e->log.message, e->log.data);
        }
    }
}

/* To the site's bbs it goes, and nowhere else. */
static void secrets_go_to_the_site_alone(void **state)
{
    struct crm_rig *x = *state;
    const struct call *call;
    Board__EdgeAppRevisionRecord definition = BOARD__EDGE_APP_REVISION_RECORD__INIT;
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    begin(x);
    slice_stands(x);
    cluster(x, "READY");
    app(x, 1, "CREATING");
    crm_rig_centre_heartbeat(x);
    call = await_definition(x);
    definition.revision = 1;
    definition.definition = &lrp;
    drive_answer(&x->drive, call->id, &definition.base);
    call = drive_call(&x->drive, "https://site:1/v1/desired_lrp/desire", 0);
    assert_non_null(call);
    assert_non_null(memmem(call->body.data, call->body.size, SECRET, strlen(SECRET)));
    ProtobufCAllocator allocator = arena_protobuf(&x->arena);
    const Models__DesireLRPRequest *wanted =
        models__desire_lrprequest__unpack(&allocator, call->body.size, call->body.data);
    assert_int_equal(wanted->term->term, 5); /* another CRM's is refused there */
    Models__DesiredLRPLifecycleResponse no = MODELS__DESIRED_LRPLIFECYCLE_RESPONSE__INIT;
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__InvalidRequest;
    error.message = crm_rig_text("etcd has no space left");
    no.error = &error;
    drive_answer(&x->drive, call->id, &no.base);
    holds_no_secret(x, "the answer");
    bool failed = false;
    for (int i = 0; i < 50 && !failed; i++) {
        holds_no_secret(x, "a step");
        const Board__ApplyRequest *r = batch(x, &call);
        for (size_t k = 0; r && k < r->n_moves; k++) {
            assert_null(memmem(call->body.data, call->body.size, SECRET, strlen(SECRET)));
            failed = failed || (strcmp(r->moves[k]->move, "fail") == 0 &&
                                strstr(r->moves[k]->edge->error, "no space left"));
        }
        if (x->crm->follow.batch_id) { /* also one of a step before */
            Board__ApplyResponse taken = BOARD__APPLY_RESPONSE__INIT;
            drive_answer(&x->drive, x->crm->follow.batch_id, &taken.base);
        } else {
            crm_rig_pass_ms(x, 100);
        }
    }
    if (!failed) {
        fail_msg("it did not fail:\n%s", plan_shown(x));
    }
    assert_null(strstr(asked(x, "/plan"), SECRET));
    assert_null(strstr(asked(x, "/state"), SECRET));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, crm_rig_setup, crm_rig_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_plan_says_what_waits_and_for_what),
        TEST(a_standby_shows_that_it_does_nothing),
        TEST(what_it_does_not_understand_is_left_alone),
        TEST(so_many_moves_at_once),
        TEST(a_centre_that_has_too_much_to_do_is_left_in_peace),
        TEST(a_report_that_was_not_taken_is_told_again),
        TEST(so_many_definitions_at_once),
        TEST(secrets_go_to_the_site_alone),
    };
    return cmocka_run_group_tests_name("crm follow", tests, NULL, NULL);
}

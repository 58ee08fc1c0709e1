/* Between the stop of an instance with routes and its SIGTERM: the setting drain. */
#include "common/model/settings.h"
#include "models/check_definition.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/drain/drain_rig.h"

#include <signal.h>
#include <string.h>

enum { WAIT_MS = 2000 };

static void open_waiting(struct rep_rig *g)
{
    rep_rig_open(g, NULL, 0);
    rep_rig_set_drain(g, WAIT_MS / 1000);
}

static void add_route(struct rep_rig *g, Models__DesiredLRP *lrp)
{
    static uint8_t value[] = "[]";
    lrp->routes = arena_message(&g->arena, &models__proto_routes__descriptor);
    lrp->routes->n_routes = 1;
    lrp->routes->routes = ARENA_ARRAY(&g->arena, 1, Models__ProtoRoutes__RoutesEntry *);
    lrp->routes->routes[0] =
        arena_message(&g->arena, &models__proto_routes__routes_entry__descriptor);
    lrp->routes->routes[0]->key = (char *)(uintptr_t) "http-router";
    lrp->routes->routes[0]->value = (ProtobufCBinaryData){2, value};
}

/* `ret_note`: what the driver keeps of it. */
static const char *run_routed(struct rep_rig *g, struct bytes *ret_note)
{
    static const uint32_t ports[] = {8080};
    assert_int_equal(rep_rig_work(g, "web", 100), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim, rep_rig_record(g, "web", "CLAIMED", guid, RIG_CELL));
    Models__DesiredLRP *lrp = rep_rig_desired(g, "web", ports, 1);
    add_route(g, lrp);
    rep_rig_answer_desired(g, lrp);
    struct verb_call prepare = rep_rig_take_verb(g, VERB_PREPARE);
    *ret_note = prepare.note;
    rep_rig_verb(g, prepare, VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_START), VERB_DONE, "");
    rep_rig_move_done(g, rep_rig_take_move(g, "start"),
                      rep_rig_record(g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_feed_put(g, rep_rig_record(g, "web", "RUNNING", guid, RIG_CELL));
    return guid;
}

static void ask_to_stop(struct rep_rig *g, const char *guid)
{
    rep_rig_request(g, "bbs", "POST",
                    arena_printf(&g->arena, "/v1/lrps/web/instances/%s/stop", guid), "",
                    (struct bytes){0});
    assert_int_equal(rep_rig_take_reply(g).status, 202);
}

static void update(struct rep_rig *g, const char *guid, bool routed)
{
    Cell__LRPUpdate m = CELL__LRPUPDATE__INIT;
    SCOPED_BUF(body);
    m.replaces = true;
    m.routed = routed;
    buf_message(&body, &m.base);
    rep_rig_request(g, "bbs", "PUT",
                    arena_printf(&g->arena, "/v2/lrps/web/instances/%s", guid),
                    "application/x-protobuf", buf_bytes(&body));
    assert_int_equal(rep_rig_take_reply(g).status, 202);
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_NOTE), VERB_DONE, "");
    struct rep_rig_move start = rep_rig_take_move(g, "start");
    assert_true(start.move->instance->optional_routed_case);
    assert_true(start.move->instance->routed == routed);
    rep_rig_move_done(g, start, rep_rig_record(g, "web", "RUNNING", guid, RIG_CELL));
}

/* Nothing is asked before the wait is over; then TERM, and KILL after the whole grace. */
static void waits_and_is_stopped(struct rep_rig *g)
{
    rep_rig_advance(g, WAIT_MS - 100);
    assert_int_equal(rep_rig_verbs(g, VERB_SIGNAL), 0);
    rep_rig_advance(g, 101);
    struct verb_call term = rep_rig_take_verb(g, VERB_SIGNAL);
    assert_int_equal(term.signal, SIGTERM);
    rep_rig_verb(g, term, VERB_DONE, "");
    rep_rig_advance(g, 9800);
    assert_int_equal(rep_rig_verbs(g, VERB_SIGNAL), 0);
    rep_rig_advance(g, 201);
    assert_int_equal(rep_rig_take_verb(g, VERB_SIGNAL).signal, SIGKILL);
}

static bool is_stopped_at_once(struct rep_rig *g)
{
    return rep_rig_verbs(g, VERB_SIGNAL) == 1 &&
           rep_rig_take_verb(g, VERB_SIGNAL).signal == SIGTERM;
}

static void routers_hear_first(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = run_routed(&g, &note);
    ask_to_stop(&g, guid);
    rep_rig_advance(&g, 1000);
    ask_to_stop(&g, guid); /* said again: the wait is not begun anew */
    rep_rig_advance(&g, 900);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    rep_rig_advance(&g, 200);
    assert_true(is_stopped_at_once(&g));
}

static void a_stop_has_its_whole_grace(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    ask_to_stop(&g, run_routed(&g, &note));
    waits_and_is_stopped(&g);
}

static void without_routes_nobody_waits(void **state)
{
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    ask_to_stop(&g, rep_rig_run(&g, "web"));
    assert_true(is_stopped_at_once(&g));
}

static void with_a_setting_of_zero_nobody_waits(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_set_drain(&g, 0);
    ask_to_stop(&g, run_routed(&g, &note));
    assert_true(is_stopped_at_once(&g));
}

/* Unset, of a newer version, or not set at all: the default is in force. What is begun ends as it
 * was to. */
static void the_setting_comes_and_goes(void **state)
{
    const int64_t preset_ms = SETTINGS_DEFAULT.drain_ns / MILLISECOND_NS;
    struct bytes note;
    for (int how = 0; how < 3; how++) {
        SCOPED_REP_RIG(g);
        rep_rig_open(&g, NULL, 0);
        if (how > 0) {
            rep_rig_set_drain(&g, 0);
            rep_rig_set_drain(&g, how == 1 ? -1 : 61);
        }
        ask_to_stop(&g, run_routed(&g, &note));
        rep_rig_set_drain(&g, 0);
        rep_rig_advance(&g, preset_ms - 1);
        assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
        rep_rig_advance(&g, 2);
        assert_true(is_stopped_at_once(&g));
    }
}

/* What becomes of the routes while it runs counts. */
static void routes_that_came_are_waited_for(void **state)
{
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = rep_rig_run(&g, "web");
    update(&g, guid, true);
    ask_to_stop(&g, guid);
    waits_and_is_stopped(&g);
}

/* Routers have the same time, from when its routes went. */
static void routes_that_went_are_waited_for_once(void **state)
{
    struct bytes note;
    static const unsigned before_ms[] = {0, WAIT_MS / 2, WAIT_MS - 1, WAIT_MS, 10 * WAIT_MS};
    for (size_t i = 0; i < sizeof(before_ms) / sizeof(before_ms[0]); i++) {
        SCOPED_REP_RIG(g);
        open_waiting(&g);
        const char *guid = run_routed(&g, &note);
        update(&g, guid, false);
        rep_rig_advance(&g, before_ms[i]);
        update(&g, guid, false); /* told again: it is not begun anew */
        ask_to_stop(&g, guid);
        if (before_ms[i] < WAIT_MS) {
            assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
            rep_rig_advance(&g, WAIT_MS - before_ms[i]);
        }
        assert_true(is_stopped_at_once(&g));
    }
}

/* They come back, and it is waited for as before. */
static void routes_that_came_back_are_waited_for(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = run_routed(&g, &note);
    update(&g, guid, false);
    rep_rig_advance(&g, WAIT_MS);
    update(&g, guid, true);
    ask_to_stop(&g, guid);
    waits_and_is_stopped(&g);
}

/* Its record has gone to another cell's instance: nobody hears of its end, but routers may still
 * send it something. */
static void what_was_replaced_waits_too(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = run_routed(&g, &note);
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", "other", "cell-2"));
    waits_and_is_stopped(&g);
    rep_rig_exited(&g, guid, 0);
}

static void an_end_of_its_own_is_told_at_once(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = run_routed(&g, &note);
    rep_rig_exited(&g, guid, 3);
    rep_rig_take_move(&g, "crash");
}

static void an_end_while_it_waits_is_the_stop(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    const char *guid = run_routed(&g, &note);
    ask_to_stop(&g, guid);
    rep_rig_advance(&g, 1000);
    rep_rig_exited(&g, guid, 0);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_take_verb(&g, VERB_REMOVE);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
}

/* How long it has waited is not noted: it waits at most once more. */
static void a_restarted_rep_waits(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(before);
    open_waiting(&before);
    const char *guid = run_routed(&before, &note);
    ask_to_stop(&before, guid);
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_feed_open(&g);
    rep_rig_set_drain(&g, WAIT_MS / 1000);
    Models__ActualLRP *stopping = rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL);
    stopping->stopping = true;
    rep_rig_feed_put(&g, stopping);
    struct container_status s = {
        .guid = guid, .state = CONTAINER_RUNNING, .text = "", .note = note};
    rep_rig_answer_list(&g, &s, 1);
    waits_and_is_stopped(&g);
}

/* Another cell's instance has its place: what is deleted here was routed to until now. */
static void an_evacuation_waits_too(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    open_waiting(&g);
    run_routed(&g, &note);
    drain_rig_term(&g);
    drain_rig_told(&g);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "evacuate_running"), NULL);
    waits_and_is_stopped(&g);
}

/* The cell ends no sooner than what it stops at the limit. */
static void an_evacuation_leaves_the_time_for_it(void **state)
{
    struct bytes note;
    SCOPED_REP_RIG(g);
    g.config.evacuation_ns = 20 * SECOND_NS;
    rep_rig_open(&g, NULL, 0);
    rep_rig_set_drain(&g, 60); /* longer than what is left for the rest */
    run_routed(&g, &note);
    drain_rig_term(&g);
    drain_rig_told(&g);
    struct rep_rig_move m = rep_rig_take_move(&g, "evacuate_running");
    rep_rig_advance(&g, 20001);
    drive_unanswered(&g.d, m.id, CALL_UNKNOWN);
    rep_rig_advance(&g, 59000);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    rep_rig_advance(&g, 1001);
    struct verb_call term = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(term.signal, SIGTERM);
    rep_rig_verb(&g, term, VERB_DONE, "");
    rep_rig_advance(&g, 9800);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routers_hear_first),
        cmocka_unit_test(a_stop_has_its_whole_grace),
        cmocka_unit_test(without_routes_nobody_waits),
        cmocka_unit_test(with_a_setting_of_zero_nobody_waits),
        cmocka_unit_test(the_setting_comes_and_goes),
        cmocka_unit_test(routes_that_came_are_waited_for),
        cmocka_unit_test(routes_that_went_are_waited_for_once),
        cmocka_unit_test(routes_that_came_back_are_waited_for),
        cmocka_unit_test(what_was_replaced_waits_too),
        cmocka_unit_test(an_end_of_its_own_is_told_at_once),
        cmocka_unit_test(an_end_while_it_waits_is_the_stop),
        cmocka_unit_test(a_restarted_rep_waits),
        cmocka_unit_test(an_evacuation_waits_too),
        cmocka_unit_test(an_evacuation_leaves_the_time_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

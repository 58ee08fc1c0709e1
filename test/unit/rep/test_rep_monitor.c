/* Instances with a monitor: the driver is played by hand. */
#include "models/check_definition.pb-c.h"
#include "rep/container/monitor.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"
#include "test/unit/rep/steps/steps_text.h"

#include <signal.h>
#include <string.h>

/* Of the container: its whole is 0, its action 1; of its monitor, which is numbered behind, they
 * are 2 and 3. */
enum { ACTION = 1, MONITOR = 3 };

struct watched {
    struct rep_rig g;
    const char *process, *guid;
    struct bytes note;
    Models__DesiredLRP *lrp;
    struct step_fact facts[8];
    size_t count;
};

/* An instance of it is claimed, and fetches its definition. */
static void claim(struct watched *x, const char *process, const char *monitor, int64_t start_ms)
{
    struct rep_rig *g = &x->g;
    x->process = process;
    x->count = 0;
    assert_int_equal(rep_rig_work(g, process, 100), 0);
    struct rep_rig_move m = rep_rig_take_move(g, "claim");
    x->guid = m.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, m, rep_rig_record(g, process, "CLAIMED", x->guid, RIG_CELL));
    rep_rig_feed_put(g, rep_rig_record(g, process, "CLAIMED", x->guid, RIG_CELL));
    x->lrp = rep_rig_desired(g, process, NULL, 0);
    x->lrp->monitor =
        (Models__Action *)(uintptr_t)steps_text_parts(&g->arena, monitor).action;
    x->lrp->start_timeout_ms = start_ms;
}

static void prepare(struct watched *x, const char *monitor, int64_t start_ms)
{
    memset(x, 0, sizeof(*x));
    rep_rig_init(&x->g);
    rep_rig_open(&x->g, NULL, 0);
    claim(x, "p", monitor, start_ms);
}

static void fact(struct watched *x, struct step_fact f, enum container_state state)
{
    rep_rig_advance(&x->g, 1);
    f.at_ns = x->g.d.now.mono_ns;
    f.text = "";
    x->facts[x->count++] = f;
    drive_event(&x->g.d, (struct event){.kind = EVENT_CONTAINER,
                                        .container = {.guid = x->guid,
                                                      .state = state,
                                                      .text = "",
                                                      .facts = x->facts,
                                                      .fact_count = x->count}});
}

static void takes_note(struct watched *x)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_NOTE);
    x->note = v.note;
    rep_rig_verb(&x->g, v, VERB_DONE, "");
}

static void says(struct watched *x, const char *source, const char *text)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_SAY);
    assert_string_equal(v.text, text);
    assert_string_equal(v.source, source);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
}

static void start(struct watched *x)
{
    rep_rig_answer_desired(&x->g, x->lrp);
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_PREPARE);
    const struct step_process *last = &v.spec->steps[v.spec->step_count - 1];
    assert_true(last->step >= MONITOR);
    x->note = v.note;
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    rep_rig_verb(&x->g, rep_rig_take_verb(&x->g, VERB_START), VERB_DONE, "");
    assert_int_equal(rep_rig_verbs(&x->g, VERB_SAY), 0); /* it has not begun yet */
    v = rep_rig_take_verb(&x->g, VERB_BEGIN);
    assert_int_equal(v.step, ACTION);
    fact(x, (struct step_fact){FACT_BEGUN, ACTION}, CONTAINER_RUNNING);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    says(x, "APP", "Starting health monitoring of container");
    takes_note(x);
}

/* It is run after so long, and not before. */
static struct verb_call runs_after(struct watched *x, int64_t ms, uint32_t step)
{
    rep_rig_advance(&x->g, ms - 10);
    assert_int_equal(rep_rig_verbs(&x->g, VERB_EXEC), 0);
    rep_rig_advance(&x->g, 20);
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_EXEC);
    assert_int_equal(v.step, step);
    assert_null(v.argv);
    assert_string_equal(v.guid, x->guid);
    return v;
}

static void ends(struct watched *x, struct verb_call v, int code, const char *text)
{
    drive_event(&x->g.d, (struct event){.kind = EVENT_VERB,
                                        .verb = {.id = v.id,
                                                 .verb = VERB_EXEC,
                                                 .guid = v.guid,
                                                 .exit_code = code,
                                                 .text = text}});
}

static void is_running(struct watched *x)
{
    struct rep_rig_move m = rep_rig_take_move(&x->g, "start");
    Models__ActualLRP *r = rep_rig_record(&x->g, x->process, "RUNNING", x->guid, RIG_CELL);
    r->optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    r->routable = true;
    rep_rig_move_done(&x->g, m, r);
    rep_rig_feed_put(&x->g, r);
}

static void becomes_healthy(struct watched *x)
{
    ends(x, runs_after(x, 500, MONITOR), 0, "");
    says(x, "APP", "Container became healthy");
    assert_int_equal(rep_rig_calls(&x->g, "/v1/board/apply"), 0); /* the note comes first */
    takes_note(x);
    is_running(x);
}

/* Its steps are cut, and it crashes for what its monitor said. */
static void crashes(struct watched *x, const char *text)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_CUT);
    assert_int_equal(v.step, 0);
    fact(x, (struct step_fact){FACT_CUT, 0, .why = CUT_STOPPED}, CONTAINER_RUNNING);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    v = rep_rig_take_verb(&x->g, VERB_SIGNAL);
    assert_int_equal(v.step, ACTION);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    fact(x, (struct step_fact){FACT_ENDED, ACTION, .exit_signal = SIGTERM}, CONTAINER_RUNNING);
    says(x, "APP/WEB", "Exit status 143");
    struct rep_rig_move m = rep_rig_take_move(&x->g, "crash");
    assert_string_equal(m.move->instance->error_message, text);
    assert_int_equal(rep_rig_verbs(&x->g, VERB_EXEC), 0);
}

static void it_runs_when_its_monitor_comes_out_well(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    start(&x);
    for (int i = 0; i < 3; i++) {
        ends(&x, runs_after(&x, 500, MONITOR), 1, "not yet");
        assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
        assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0); /* it is nobody's log */
    }
    becomes_healthy(&x);
    ends(&x, runs_after(&x, 30000, MONITOR), 0, "well");
    ends(&x, runs_after(&x, 30000, MONITOR), 0, "well");
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY) + rep_rig_verbs(&x.g, VERB_NOTE), 0);
    rep_rig_done(&x.g);
}

static void one_failure_later_is_a_crash(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    start(&x);
    becomes_healthy(&x);
    ends(&x, runs_after(&x, 30000, MONITOR), 3, "no database\nat all\n");
    says(&x, "HEALTH", "no database");
    says(&x, "HEALTH", "at all");
    says(&x, "APP", "Container became unhealthy");
    takes_note(&x);
    crashes(&x, "Instance became unhealthy: no database\nat all");
    rep_rig_done(&x.g);
}

/* The program that runs then is ended, and its answer is nobody's. */
static void a_start_that_takes_too_long_is_a_crash(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 1200);
    start(&x);
    ends(&x, runs_after(&x, 500, MONITOR), 1, "");
    struct verb_call open = runs_after(&x, 500, MONITOR);
    rep_rig_advance(&x.g, 300);
    says(&x, "HEALTH", "APP: Exited with status 1");
    says(&x, "APP", "Failed after 1.2s: startup health check never passed.");
    struct verb_call end = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(end.exec, open.id);
    rep_rig_verb(&x.g, end, VERB_DONE, "");
    ends(&x, open, 0, ""); /* too late */
    takes_note(&x);
    crashes(&x, "Instance never healthy after 1.2s: APP: Exited with status 1");
    rep_rig_done(&x.g);
}

static void its_steps_and_timeouts_count(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "timeout:1000(serial(run run))", 0);
    start(&x);
    ends(&x, runs_after(&x, 500, MONITOR + 2), 0, "");
    struct verb_call second = rep_rig_take_verb(&x.g, VERB_EXEC);
    assert_int_equal(second.step, MONITOR + 3);
    rep_rig_advance(&x.g, 1010);
    struct verb_call end = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(end.exec, second.id);
    rep_rig_verb(&x.g, end, VERB_DONE, "");
    rep_rig_verb(&x.g, second, VERB_UNCERTAIN, "ended");
    rep_rig_request(&x.g, "client", "GET", "/state?checks=1", "", (struct bytes){0});
    struct reply reply = rep_rig_take_reply(&x.g);
    const char *text =
        arena_strndup(&x.g.arena, (const char *)reply.body.data, reply.body.size);
    assert_non_null(strstr(text, "\"what\":\"monitor\""));
    assert_non_null(strstr(text, "exceeded 1s timeout"));
    assert_non_null(strstr(text, "\"next_in_ms\":500"));
    ends(&x, runs_after(&x, 500, MONITOR + 2), 0, ""); /* again from the beginning */
    ends(&x, rep_rig_take_verb(&x.g, VERB_EXEC), 0, "");
    says(&x, "APP", "Container became healthy");
    rep_rig_done(&x.g);
}

/* With checks of health it is not used. */
static void checks_go_before_it(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    Models__CheckDefinition *d =
        arena_message(&x.g.arena, &models__check_definition__descriptor);
    d->checks = ARENA_ARRAY(&x.g.arena, 1, Models__Check *);
    d->checks[0] = arena_message(&x.g.arena, &models__check__descriptor);
    d->checks[0]->tcp_check = arena_message(&x.g.arena, &models__tcpcheck__descriptor);
    d->checks[0]->tcp_check->port = 8080;
    d->n_checks = 1;
    x.lrp->check_definition = d;
    rep_rig_answer_desired(&x.g, x.lrp);
    struct verb_call v = rep_rig_take_verb(&x.g, VERB_PREPARE);
    assert_int_equal(v.spec->step_count, 0);
    rep_rig_verb(&x.g, v, VERB_DONE, "");
    rep_rig_verb(&x.g, rep_rig_take_verb(&x.g, VERB_START), VERB_DONE, "");
    rep_rig_advance(&x.g, 600);
    rep_rig_probed(&x.g, rep_rig_take_probe(&x.g), PROBE_ANSWERED, 200);
    rep_rig_advance(&x.g, 600);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    rep_rig_done(&x.g);
}

static void an_action_that_ends_well_is_a_daemon(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    start(&x);
    becomes_healthy(&x);
    fact(&x, (struct step_fact){FACT_ENDED, ACTION}, CONTAINER_RUNNING);
    says(&x, "APP/WEB", "Exit status 0");
    ends(&x, runs_after(&x, 30000, MONITOR), 0, "");
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    rep_rig_done(&x.g);
}

static void a_stop_ends_what_runs_of_it(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    start(&x);
    becomes_healthy(&x);
    struct verb_call open = runs_after(&x, 30000, MONITOR);
    rep_rig_feed_put(&x.g, rep_rig_record(&x.g, "p", "RUNNING", "another", "cell-2"));
    rep_rig_advance(&x.g, 100);
    struct verb_call end = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(end.exec, open.id);
    rep_rig_verb(&x.g, end, VERB_DONE, "");
    ends(&x, open, 1, "it was ended");
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0);
    rep_rig_advance(&x.g, 31000);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    rep_rig_done(&x.g);
}

static void a_restarted_rep_goes_on(void **state)
{
    struct watched x;
    (void)state;
    prepare(&x, "run", 0);
    start(&x);
    becomes_healthy(&x);
    struct watched earlier = x;
    struct container_status s = {.guid = arena_strdup(&earlier.g.arena, x.guid),
                                 .state = CONTAINER_RUNNING,
                                 .text = "",
                                 .note = x.note,
                                 .facts = x.facts,
                                 .fact_count = x.count};
    rep_rig_init(&x.g);
    rep_rig_open(&x.g, &s, 1);
    x.guid = arena_strdup(&x.g.arena, s.guid);
    is_running(&x);
    rep_rig_advance(&x.g, 29000);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    rep_rig_advance(&x.g, 2100);
    ends(&x, rep_rig_take_verb(&x.g, VERB_EXEC), 0, "");
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0);
    rep_rig_done(&x.g);
    rep_rig_done(&earlier.g);
}

enum { WIDE = 80 };

/* So many programs at once. */
static const char *wide(char text[WIDE * 4 + 16])
{
    strcpy(text, "parallel(");
    for (int i = 0; i < WIDE; i++) {
        strcat(text, i ? " run" : "run");
    }
    return strcat(text, ")");
}

/* No more at once than a cell does; what waits goes on when one has ended. */
static void so_many_programs_at_once(void **state)
{
    char tree[WIDE * 4 + 16];
    struct watched x;
    (void)state;
    prepare(&x, wide(tree), 0);
    start(&x);
    rep_rig_advance(&x.g, 510);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), MONITORS_MAX);
    for (int i = 0; i < WIDE; i++) {
        ends(&x, rep_rig_take_verb(&x.g, VERB_EXEC), 0, "");
    }
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    says(&x, "APP", "Container became healthy");
    rep_rig_done(&x.g);
}

/* Containers take turns: one with a single program waits for two of the other's, not for all. */
static void a_container_waits_for_its_turn(void **state)
{
    char tree[WIDE * 4 + 16];
    struct watched x;
    struct verb_call calls[MONITORS_MAX];
    (void)state;
    prepare(&x, wide(tree), 0);
    start(&x);
    const char *wide_guid = x.guid;
    rep_rig_advance(&x.g, 510);
    for (int i = 0; i < MONITORS_MAX; i++) {
        calls[i] = rep_rig_take_verb(&x.g, VERB_EXEC);
    }
    claim(&x, "narrow", "run", 0);
    start(&x);
    rep_rig_advance(&x.g, 510);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    ends(&x, calls[0], 0, "");
    assert_string_equal(rep_rig_take_verb(&x.g, VERB_EXEC).guid, wide_guid);
    ends(&x, calls[1], 0, "");
    struct verb_call own = rep_rig_take_verb(&x.g, VERB_EXEC);
    assert_string_equal(own.guid, x.guid);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_EXEC), 0);
    ends(&x, own, 0, "");
    says(&x, "APP", "Container became healthy");
    assert_string_equal(rep_rig_take_verb(&x.g, VERB_EXEC).guid, wide_guid);
    rep_rig_done(&x.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_when_its_monitor_comes_out_well),
        cmocka_unit_test(one_failure_later_is_a_crash),
        cmocka_unit_test(a_start_that_takes_too_long_is_a_crash),
        cmocka_unit_test(its_steps_and_timeouts_count),
        cmocka_unit_test(checks_go_before_it),
        cmocka_unit_test(an_action_that_ends_well_is_a_daemon),
        cmocka_unit_test(a_stop_ends_what_runs_of_it),
        cmocka_unit_test(a_restarted_rep_goes_on),
        cmocka_unit_test(so_many_programs_at_once),
        cmocka_unit_test(a_container_waits_for_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

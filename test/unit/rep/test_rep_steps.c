/* Containers with steps: the driver is played by hand, and what it tells as facts is what the rep
 * goes by. */
#include "common/contract/step_fact.h"
#include "rep/steps/machine.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"
#include "test/unit/rep/steps/steps_text.h"

#include <signal.h>
#include <string.h>

#define DONE 0

/* One container and its driver's facts. */
struct played {
    struct rep_rig g;
    const char *guid;
    struct step_fact facts[64];
    size_t count;
    struct bytes note; /* as it was prepared */
    enum container_state where;
};

static int64_t now_ns(const struct played *p)
{
    return p->g.d.now.mono_ns;
}

static void tell(struct played *p)
{
    drive_event(&p->g.d, (struct event){.kind = EVENT_CONTAINER,
                                        .container = {.guid = p->guid,
                                                      .state = p->where,
                                                      .text = "",
                                                      .facts = p->facts,
                                                      .fact_count = p->count}});
}

static void fact(struct played *p, struct step_fact f)
{
    drive_advance(&p->g.d, 1);
    f.at_ns = now_ns(p);
    f.text = f.text ? f.text : "";
    p->facts[p->count++] = f;
    tell(p);
}

static void ended(struct played *p, uint32_t step, int code)
{
    fact(p, (struct step_fact){FACT_ENDED, step, .exit_code = code});
}

/* The verb is asked for; it is carried out, and answered. */
static void begins(struct played *p, uint32_t step)
{
    struct verb_call v = rep_rig_take_verb(&p->g, VERB_BEGIN);
    assert_int_equal(v.step, step);
    assert_string_equal(v.guid, p->guid);
    fact(p, (struct step_fact){FACT_BEGUN, step});
    rep_rig_verb(&p->g, v, VERB_DONE, "");
}

static void cuts(struct played *p, uint32_t step, enum cut_why why)
{
    struct verb_call v = rep_rig_take_verb(&p->g, VERB_CUT);
    assert_int_equal(v.step, step);
    assert_int_equal(v.why, why);
    fact(p, (struct step_fact){FACT_CUT, step, .why = why});
    rep_rig_verb(&p->g, v, VERB_DONE, "");
}

static void signals(struct played *p, uint32_t step, int number)
{
    struct verb_call v = rep_rig_take_verb(&p->g, VERB_SIGNAL);
    assert_int_equal(v.step, step);
    assert_int_equal(v.signal, number);
    rep_rig_verb(&p->g, v, VERB_DONE, "");
}

static void says_as(struct played *p, const char *source, const char *what)
{
    struct verb_call v = rep_rig_take_verb(&p->g, VERB_SAY);
    assert_string_equal(v.source, source);
    assert_string_equal(v.text, what);
    rep_rig_verb(&p->g, v, VERB_DONE, "");
}

static void says(struct played *p, const char *what)
{
    says_as(p, "APP", what);
}

static void rests(struct played *p)
{
    rep_rig_advance(&p->g, 100);
    assert_int_equal(p->g.verb_count, 0);
}

static Models__DesiredLRP *desired(struct played *p, const char *tree)
{
    struct tree_parts parts = steps_text_parts(&p->g.arena, tree);
    Models__DesiredLRP *lrp = rep_rig_desired(&p->g, "web", NULL, 0);
    lrp->cached_dependencies = (Models__CachedDependency **)(uintptr_t)parts.dependencies;
    lrp->n_cached_dependencies = parts.dependency_count;
    lrp->setup = (Models__Action *)(uintptr_t)parts.setup;
    lrp->action = (Models__Action *)(uintptr_t)parts.action;
    lrp->sidecars = (Models__Sidecar **)(uintptr_t)parts.sidecars;
    lrp->n_sidecars = parts.sidecar_count;
    lrp->log_source = (char *)(uintptr_t)parts.log_source;
    lrp->log_guid = (char *)(uintptr_t)parts.log_guid;
    return lrp;
}

/* An instance with this tree that is made. */
static void make_instance(struct played *p, const char *tree)
{
    memset(p, 0, sizeof(*p));
    p->where = CONTAINER_RUNNING;
    rep_rig_init(&p->g);
    rep_rig_open(&p->g, NULL, 0);
    rep_rig_set_drain(&p->g, 2); /* for what has routes */
    assert_int_equal(rep_rig_work(&p->g, "web", 100), 0);
    struct rep_rig_move claim = rep_rig_take_move(&p->g, "claim");
    p->guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *record = rep_rig_record(&p->g, "web", "CLAIMED", p->guid, RIG_CELL);
    rep_rig_move_done(&p->g, claim, record);
    rep_rig_feed_put(&p->g, record);
    rep_rig_answer_desired(&p->g, desired(p, tree));
    struct verb_call prepare = rep_rig_take_verb(&p->g, VERB_PREPARE);
    assert_string_equal(prepare.spec->path, "");
    p->note = prepare.note;
    rep_rig_verb(&p->g, prepare, VERB_DONE, "");
}

static void starts(struct played *p)
{
    rep_rig_verb(&p->g, rep_rig_take_verb(&p->g, VERB_START), VERB_DONE, "");
}

/* Its first process runs; no step has begun. */
static void begin_instance(struct played *p, const char *tree)
{
    make_instance(p, tree);
    starts(p);
}

static void runs(struct played *p)
{
    Models__ActualLRP *record = rep_rig_record(&p->g, "web", "RUNNING", p->guid, RIG_CELL);
    rep_rig_move_done(&p->g, rep_rig_take_move(&p->g, "start"), record);
    rep_rig_feed_put(&p->g, record);
}

static void crashes(struct played *p, const char *text)
{
    struct rep_rig_move crash = rep_rig_take_move(&p->g, "crash");
    assert_string_equal(crash.move->instance->error_message, text);
    rep_rig_move_done(&p->g, crash, rep_rig_record(&p->g, "web", "CRASHED", "", ""));
    assert_string_equal(rep_rig_take_verb(&p->g, VERB_REMOVE).guid, p->guid);
}

/* ---- Instances ------------------------------------------------------------------------------- */

static void it_runs_when_all_that_can_has_begun(void **state)
{
    struct played p;
    begin_instance(&p, "setup: run + run + run:SIDE");
    begins(&p, 1);
    rests(&p);
    assert_int_equal(rep_rig_calls(&p.g, "apply"), 0);
    ended(&p, 1, 0);
    says(&p, "Exit status 0");
    begins(&p, 2);
    assert_int_equal(rep_rig_calls(&p.g, "apply"), 0);
    begins(&p, 3);
    runs(&p);
    rests(&p);
    ended(&p, 3, 0); /* a sidecar, and well */
    cuts(&p, 2, CUT_BESIDE);
    signals(&p, 2, SIGTERM);
    says_as(&p, "SIDE", "Exit status 0");
    rests(&p);
    ended(&p, 2, 143);
    says(&p, "Exit status 143");
    crashes(&p, "SIDE: Exited with status 0"); /* a bbs takes none without a text */
    rep_rig_done(&p.g);
}

static void what_it_depends_on_comes_before_it_starts(void **state)
{
    struct played p;
    make_instance(&p, "with: get:A get:B + run + run");
    p.where = CONTAINER_PREPARED;
    says(&p, "Downloading A...");
    says(&p, "Downloading B...");
    begins(&p, 2);
    begins(&p, 3);
    rests(&p);
    fact(&p, (struct step_fact){FACT_LOST, 3}); /* its courier was killed */
    begins(&p, 3);
    fact(&p, (struct step_fact){FACT_ENDED, 3, .moved = 2048});
    says(&p, "Downloaded B (2K)");
    rests(&p);
    assert_int_equal(rep_rig_verbs(&p.g, VERB_START), 0);
    fact(&p, (struct step_fact){FACT_ENDED, 2}); /* it was in the cache */
    says(&p, "Downloaded A");
    starts(&p);
    p.where = CONTAINER_RUNNING;
    begins(&p, 4);
    begins(&p, 5);
    runs(&p);
    rests(&p);
    rep_rig_done(&p.g);
}

static void what_does_not_come_is_a_crash(void **state)
{
    struct played p;
    make_instance(&p, "with: get:A + run");
    p.where = CONTAINER_PREPARED;
    says(&p, "Downloading A...");
    begins(&p, 2);
    fact(&p, (struct step_fact){FACT_ENDED, 2, .exit_code = 1, .text = "status 500"});
    says(&p, "Downloading A failed: status 500");
    assert_int_equal(rep_rig_verbs(&p.g, VERB_START), 0);
    crashes(&p, STEP_DEPENDENCIES_TEXT);
    rep_rig_done(&p.g);
}

static void a_download_that_is_cut_is_killed_at_once(void **state)
{
    struct played p;
    begin_instance(&p, "timeout:500(serial(get:A run))");
    says(&p, "Downloading A...");
    begins(&p, 3);
    rests(&p);
    rep_rig_advance(&p.g, 500);
    cuts(&p, 1, CUT_TIMEOUT);
    signals(&p, 3, SIGKILL);
    fact(&p, (struct step_fact){FACT_ENDED, 3, .exit_signal = SIGKILL});
    crashes(&p, "exceeded 500ms timeout");
    rep_rig_done(&p.g);
}

static void a_setup_that_fails_is_a_crash(void **state)
{
    struct played p;
    begin_instance(&p, "setup: serial(run:MAKER run) + run");
    begins(&p, 2);
    ended(&p, 2, 6);
    says_as(&p, "MAKER", "Exit status 6");
    crashes(&p, "MAKER: Exited with status 6");
    assert_int_equal(rep_rig_verbs(&p.g, VERB_BEGIN), 0);
    rep_rig_done(&p.g);
}

/* Its record may be asked for in vain: what runs is looked after all the same. */
static void a_silent_bbs_holds_nothing_up(void **state)
{
    struct played p;
    begin_instance(&p, "run + run");
    begins(&p, 1);
    begins(&p, 2);
    struct rep_rig_move start = rep_rig_take_move(&p.g, "start"); /* not answered */
    ended(&p, 1, 5);
    cuts(&p, 2, CUT_BESIDE);
    signals(&p, 2, SIGTERM);
    says(&p, "Exit status 5");
    ended(&p, 2, 0);
    says(&p, "Exit status 0");
    rep_rig_move_done(&p.g, start, rep_rig_record(&p.g, "web", "RUNNING", p.guid, RIG_CELL));
    crashes(&p, "APP: Exited with status 5");
    rep_rig_done(&p.g);
}

static void ask_to_stop(struct played *p)
{
    rep_rig_request(&p->g, "bbs", "POST",
                    arena_printf(&p->g.arena, "/v1/lrps/web/instances/%s/stop", p->guid), "",
                    (struct bytes){0});
}

/* TERM, after the grace KILL, and then the container's first process. */
static void a_stop_has_its_ladder(void **state)
{
    struct played p;
    begin_instance(&p, "serial(run run)");
    begins(&p, 2);
    runs(&p);
    ask_to_stop(&p);
    cuts(&p, 0, CUT_STOPPED);
    signals(&p, 2, SIGTERM);
    rep_rig_advance(&p.g, 9800);
    assert_int_equal(p.g.verb_count, 0);
    rep_rig_advance(&p.g, 300);
    signals(&p, 2, SIGKILL);
    rep_rig_advance(&p.g, 1000);
    cuts(&p, 2, CUT_STUCK);
    signals(&p, 0, SIGKILL);
    struct rep_rig_move remove = rep_rig_take_move(&p.g, "remove");
    rep_rig_move_done(&p.g, remove, NULL);
    rep_rig_take_verb(&p.g, VERB_REMOVE);
    rep_rig_done(&p.g);
}

/* A step of its setup runs: it is not RUNNING yet, and its record stays until that has ended. */
static void a_stop_of_what_is_set_up_has_it_too(void **state)
{
    struct played p;
    begin_instance(&p, "setup: run + run");
    begins(&p, 1);
    ask_to_stop(&p);
    cuts(&p, 0, CUT_STOPPED);
    signals(&p, 1, SIGTERM);
    rests(&p);
    assert_int_equal(rep_rig_calls(&p.g, "apply"), 0);
    ended(&p, 1, 143);
    says(&p, "Exit status 143");
    rep_rig_move_done(&p.g, rep_rig_take_move(&p.g, "remove"), NULL);
    rep_rig_take_verb(&p.g, VERB_REMOVE);
    rep_rig_done(&p.g);
}

/* What has routes is cut after the wait. */
static void a_stop_waits_for_routers(void **state)
{
    struct played p;
    begin_instance(&p, "serial(run run)");
    begins(&p, 2);
    runs(&p);
    Cell__LRPUpdate m = CELL__LRPUPDATE__INIT;
    SCOPED_BUF(body);
    m.replaces = m.routed = true;
    buf_message(&body, &m.base);
    rep_rig_request(&p.g, "bbs", "PUT",
                    arena_printf(&p.g.arena, "/v2/lrps/web/instances/%s", p.guid),
                    "application/x-protobuf", buf_bytes(&body));
    rep_rig_verb(&p.g, rep_rig_take_verb(&p.g, VERB_NOTE), VERB_DONE, "");
    ask_to_stop(&p);
    rep_rig_advance(&p.g, 1900);
    assert_int_equal(p.g.verb_count, 0);
    rep_rig_advance(&p.g, 200);
    cuts(&p, 0, CUT_STOPPED);
    signals(&p, 2, SIGTERM);
    rep_rig_done(&p.g);
}

static void a_timeout_is_looked_at_in_time(void **state)
{
    struct played p;
    begin_instance(&p, "timeout:1500(serial(say(run) run))");
    says_as(&p, "SAY", "begins");
    begins(&p, 4);
    runs(&p);
    rep_rig_advance(&p.g, 1400);
    assert_int_equal(p.g.verb_count, 0);
    rep_rig_advance(&p.g, 200);
    cuts(&p, 1, CUT_TIMEOUT);
    signals(&p, 4, SIGTERM);
    ended(&p, 4, 143);
    says(&p, "Exit status 143");
    says_as(&p, "SAY", "bad");
    crashes(&p, "exceeded 1.5s timeout");
    rep_rig_done(&p.g);
}

/* No facts came of it: it is tried again, later. */
static void what_does_not_begin_is_tried_again(void **state)
{
    static const enum verb_outcome outcomes[] = {VERB_FAILED, VERB_UNCERTAIN};
    for (int i = 0; i < 2; i++) {
        struct played p;
        begin_instance(&p, "serial(run run)");
        rep_rig_verb(&p.g, rep_rig_take_verb(&p.g, VERB_BEGIN), outcomes[i], "too many wait");
        assert_int_equal(rep_rig_verbs(&p.g, VERB_BEGIN), 0);
        rep_rig_advance(&p.g, 5000);
        begins(&p, 2);
        runs(&p);
        rep_rig_done(&p.g);
    }
}

/* Its first process ends by itself, and its steps with it. */
static void an_end_of_all_is_told_by_the_facts(void **state)
{
    static const struct {
        const char *why, *text;
        int code;
    } rows[] = {
        {"its shim was killed, and the container with it",
         "its shim was killed, and the container with it", -1},
        {"", "its process was lost", -1},
        {"its shim was killed, and the container with it", "APP: Exited with status 9", 9},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct played p;
        begin_instance(&p, "serial(run run)");
        begins(&p, 2);
        runs(&p);
        if (rows[i].code >= 0) {
            p.facts[p.count++] = (struct step_fact){
                FACT_ENDED, 2, now_ns(&p), .exit_code = rows[i].code, .text = ""};
        }
        drive_event(&p.g.d, (struct event){.kind = EVENT_CONTAINER,
                                           .container = {.guid = p.guid,
                                                         .state = CONTAINER_EXITED,
                                                         .exit_signal = SIGKILL,
                                                         .text = rows[i].why,
                                                         .facts = p.facts,
                                                         .fact_count = p.count}});
        crashes(&p, rows[i].text);
        rep_rig_done(&p.g);
    }
}

/* ---- After a restart ------------------------------------------------------------------------- */

/* Another rep, to which the driver lists the container with its facts so far; `later_ms` by the
 * clock. */
static void restart_with(struct played *p, struct played *after, const char *state,
                         struct container_status s, int64_t later_ms)
{
    *after = (struct played){.guid = p->guid, .count = p->count, .note = p->note};
    memcpy(after->facts, p->facts, sizeof(p->facts));
    rep_rig_init(&after->g);
    rep_rig_start(&after->g);
    rep_rig_answer_incarnation(&after->g);
    rep_rig_feed_open(&after->g);
    rep_rig_feed_put(&after->g, rep_rig_record(&after->g, "web", state, p->guid, RIG_CELL));
    rep_rig_advance(&after->g, later_ms);
    s.guid = p->guid;
    s.note = p->note;
    s.facts = after->facts;
    s.fact_count = after->count;
    rep_rig_answer_list(&after->g, &s, 1);
}

static void restart(struct played *p, struct played *after, const char *state)
{
    restart_with(p, after, state,
                 (struct container_status){.state = CONTAINER_RUNNING, .text = ""}, 100);
}

/* The machine was restarted, too: what had ended by then ended so, and all else with the machine,
 * whose clock says nothing of these facts. */
static void after_a_reboot_the_facts_tell(void **state)
{
    static const struct {
        const char *action;
        uint32_t first, second; /* of its runs; second 0: it does not begin */
        int code;               /* of the first; -1: it goes on */
        const char *text;
    } rows[] = {
        {"serial(run run)", 2, 0, -1, STEP_MACHINE_TEXT},
        {"serial(run run)", 2, 0, 0, STEP_MACHINE_TEXT},
        {"serial(run run)", 2, 0, 3, "APP: Exited with status 3"},
        {"parallel(run run)", 2, 3, 0, STEP_MACHINE_TEXT},
        {"parallel(run run)", 2, 3, 3, "APP: Exited with status 3"},
        {"timeout:1(serial(run run))", 3, 0, -1, STEP_MACHINE_TEXT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct played p, q;
        begin_instance(&p, rows[i].action);
        begins(&p, rows[i].first);
        if (rows[i].second) {
            begins(&p, rows[i].second);
        }
        runs(&p);
        for (size_t f = 0; f < p.count; f++) {
            p.facts[f].at_ns += 1000000 * SECOND_NS; /* the machine had been up for long */
        }
        if (rows[i].code >= 0) {
            int64_t last_ns = p.facts[p.count - 1].at_ns;
            p.facts[p.count++] = (struct step_fact){FACT_ENDED, rows[i].first, last_ns + 1,
                                                    .exit_code = rows[i].code, .text = ""};
        }
        restart_with(&p, &q, "RUNNING",
                     (struct container_status){.state = CONTAINER_EXITED,
                                               .exit_signal = SIGKILL,
                                               .text = STEP_MACHINE_TEXT,
                                               .rebooted = true},
                     100);
        assert_int_equal(rep_rig_verbs(&q.g, VERB_BEGIN), 0);
        crashes(&q, rows[i].text);
        rep_rig_done(&q.g);
        rep_rig_done(&p.g);
    }
}

static void after_a_restart_it_goes_on(void **state)
{
    struct played p, q;
    begin_instance(&p, "setup: run + say(run) + run");
    begins(&p, 1);
    restart(&p, &q, "CLAIMED");
    rests(&q); /* it has begun, and is not begun again */
    assert_int_equal(rep_rig_calls(&q.g, "apply"), 0);
    ended(&q, 1, 0);
    says(&q, "Exit status 0");
    says_as(&q, "SAY", "begins");
    begins(&q, 3);
    begins(&q, 4);
    runs(&q);
    rep_rig_done(&q.g);
    rep_rig_done(&p.g);
}

static void after_a_restart_a_cut_is_pressed_on(void **state)
{
    struct played p, q;
    begin_instance(&p, "codependent(run run)");
    begins(&p, 2);
    begins(&p, 3);
    runs(&p);
    ended(&p, 2, 4);
    cuts(&p, 3, CUT_BESIDE);
    restart(&p, &q, "RUNNING");
    signals(&q, 3, SIGTERM); /* whether it was sent nobody knows */
    assert_int_equal(rep_rig_verbs(&q.g, VERB_CUT), 0);
    ended(&q, 3, 0);
    says(&q, "Exit status 0");
    crashes(&q, "APP: Exited with status 4");
    rep_rig_done(&q.g);
    rep_rig_done(&p.g);
}

static void after_a_restart_what_is_over_is_over(void **state)
{
    struct played p, q;
    begin_instance(&p, "try(run) + run");
    begins(&p, 2);
    begins(&p, 3);
    runs(&p);
    p.facts[p.count++] = (struct step_fact){FACT_ENDED, 3, now_ns(&p), .exit_code = 1, .text = ""};
    p.facts[p.count++] = (struct step_fact){FACT_LOST, 2, now_ns(&p), .text = ""};
    restart(&p, &q, "RUNNING");
    crashes(&q, "APP: Exited with status 1");
    assert_int_equal(rep_rig_verbs(&q.g, VERB_BEGIN), 0);
    rep_rig_done(&q.g);
    rep_rig_done(&p.g);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void begin_task(struct played *p, const char *tree, const char **ret_attempt)
{
    memset(p, 0, sizeof(*p));
    rep_rig_init(&p->g);
    rep_rig_open(&p->g, NULL, 0);
    p->guid = "t-1";
    assert_true(rep_rig_task_work(&p->g, "t-1", 100));
    struct rep_rig_move start = rep_rig_take_move(&p->g, "start");
    *ret_attempt = arena_strdup(&p->g.arena, start.move->task->attempt);
    Models__Task *task = rep_rig_task(&p->g, "t-1", MODELS__TASK__STATE__Running, RIG_CELL,
                                      *ret_attempt);
    task->task_definition->action =
        (Models__Action *)(uintptr_t)steps_text_parts(&p->g.arena, tree).action;
    rep_rig_task_answer(&p->g, start, DONE, task);
    rep_rig_task_put(&p->g, task);
    struct verb_call prepare = rep_rig_take_verb(&p->g, VERB_PREPARE);
    p->note = prepare.note;
    rep_rig_verb(&p->g, prepare, VERB_DONE, "");
    struct verb_call note = rep_rig_take_verb(&p->g, VERB_NOTE);
    assert_true(note.durable); /* that it executes, before anything of it does */
    assert_int_equal(p->g.verb_count, 0);
    rep_rig_verb(&p->g, note, VERB_DONE, "");
    rep_rig_verb(&p->g, rep_rig_take_verb(&p->g, VERB_START), VERB_DONE, "");
}

static void a_task_of_steps_completes(void **state)
{
    for (int code = 0; code < 2; code++) {
        struct played p;
        const char *attempt;
        begin_task(&p, "timeout:60000(serial(run run))", &attempt);
        begins(&p, 3);
        ended(&p, 3, 0);
        says_as(&p, "STG", "Exit status 0");
        begins(&p, 4);
        ended(&p, 4, code);
        says_as(&p, "STG", code ? "Exit status 1" : "Exit status 0");
        if (!code && rep_rig_verbs(&p.g, VERB_READ)) {
            rep_rig_verb(&p.g, rep_rig_take_verb(&p.g, VERB_READ), VERB_DONE, "");
        }
        struct rep_rig_move complete = rep_rig_take_move(&p.g, "complete");
        assert_int_equal(complete.move->task->failed, code != 0);
        assert_string_equal(complete.move->task->error_message,
                            code ? "STG: Exited with status 1" : "");
        rep_rig_done(&p.g);
    }
}

static void a_cancelled_task_is_cut(void **state)
{
    struct played p;
    const char *attempt;
    begin_task(&p, "parallel(run run)", &attempt);
    begins(&p, 2);
    begins(&p, 3);
    rep_rig_request(&p.g, "bbs", "POST", "/v1/tasks/t-1/cancel", "", (struct bytes){0});
    cuts(&p, 0, CUT_STOPPED);
    signals(&p, 2, SIGTERM);
    signals(&p, 3, SIGTERM);
    ended(&p, 2, 0);
    says_as(&p, "STG", "Exit status 0");
    ended(&p, 3, 0);
    says_as(&p, "STG", "Exit status 0");
    rep_rig_take_verb(&p.g, VERB_REMOVE);
    rep_rig_done(&p.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_when_all_that_can_has_begun),
        cmocka_unit_test(what_it_depends_on_comes_before_it_starts),
        cmocka_unit_test(what_does_not_come_is_a_crash),
        cmocka_unit_test(a_download_that_is_cut_is_killed_at_once),
        cmocka_unit_test(a_setup_that_fails_is_a_crash),
        cmocka_unit_test(a_silent_bbs_holds_nothing_up),
        cmocka_unit_test(a_stop_has_its_ladder),
        cmocka_unit_test(a_stop_of_what_is_set_up_has_it_too),
        cmocka_unit_test(a_stop_waits_for_routers),
        cmocka_unit_test(a_timeout_is_looked_at_in_time),
        cmocka_unit_test(what_does_not_begin_is_tried_again),
        cmocka_unit_test(an_end_of_all_is_told_by_the_facts),
        cmocka_unit_test(after_a_reboot_the_facts_tell),
        cmocka_unit_test(after_a_restart_it_goes_on),
        cmocka_unit_test(after_a_restart_a_cut_is_pressed_on),
        cmocka_unit_test(after_a_restart_what_is_over_is_over),
        cmocka_unit_test(a_task_of_steps_completes),
        cmocka_unit_test(a_cancelled_task_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

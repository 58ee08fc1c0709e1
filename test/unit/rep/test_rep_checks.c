/* Instances with checks: probes and the driver are played by hand. */
#include "models/check_definition.pb-c.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <signal.h>
#include <string.h>

struct checked {
    struct rep_rig g;
    const char *guid;
    struct bytes note; /* as it was last written */
    Models__DesiredLRP *lrp;
};

static Models__Check *http(struct rep_rig *g, const char *path)
{
    Models__Check *c = arena_message(&g->arena, &models__check__descriptor);
    c->http_check = arena_message(&g->arena, &models__httpcheck__descriptor);
    c->http_check->port = 8080;
    c->http_check->path = (char *)(uintptr_t)path;
    c->http_check->interval_ms = 2000;
    return c;
}

/* With a check of health, unless NULL, and one of readiness, unless NULL. */
static void prepare(struct checked *x, const char *live, const char *ready, int64_t start_ms)
{
    static const uint32_t ports[] = {8080};
    struct rep_rig *g = &x->g;
    rep_rig_init(g);
    rep_rig_open(g, NULL, 0);
    assert_int_equal(rep_rig_work(g, "p", 100), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    x->guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim, rep_rig_record(g, "p", "CLAIMED", x->guid, RIG_CELL));
    rep_rig_feed_put(g, rep_rig_record(g, "p", "CLAIMED", x->guid, RIG_CELL));
    x->lrp = rep_rig_desired(g, "p", ports, 1);
    Models__CheckDefinition *d =
        arena_message(&g->arena, &models__check_definition__descriptor);
    d->checks = ARENA_ARRAY(&g->arena, 1, Models__Check *);
    d->readiness_checks = ARENA_ARRAY(&g->arena, 1, Models__Check *);
    if (live) {
        d->checks[d->n_checks++] = http(g, live);
    }
    if (ready) {
        d->readiness_checks[d->n_readiness_checks++] = http(g, ready);
    }
    x->lrp->check_definition = d;
    x->lrp->start_timeout_ms = start_ms;
}

static void takes_note(struct checked *x)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_NOTE);
    x->note = v.note;
    rep_rig_verb(&x->g, v, VERB_DONE, "");
}

static void start(struct checked *x)
{
    rep_rig_answer_desired(&x->g, x->lrp);
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_PREPARE);
    x->note = v.note;
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    rep_rig_verb(&x->g, rep_rig_take_verb(&x->g, VERB_START), VERB_DONE, "");
    takes_note(x);
}

static void says(struct checked *x, const char *source, const char *text)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_SAY);
    assert_string_equal(v.text, text);
    assert_string_equal(v.source, source);
    assert_string_equal(v.guid, x->guid);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
}

/* The next probe comes within so long, and not before; it is answered with this status. */
static void probed(struct checked *x, int64_t within_ms, const char *path, int status)
{
    for (int64_t ms = 0; x->g.probe_count == 0 && ms <= within_ms; ms += 50) {
        rep_rig_advance(&x->g, 50);
    }
    struct probe p = rep_rig_take_probe(&x->g);
    assert_string_equal(p.guid, x->guid);
    assert_string_equal(p.path, path);
    assert_int_equal(p.kind, PROBE_HTTP);
    assert_int_equal(p.port, 61000);
    assert_int_equal(p.timeout_ms, 1000);
    rep_rig_probed(&x->g, p, status ? PROBE_ANSWERED : PROBE_REFUSED, status);
}

static Models__ActualLRP *recorded(struct checked *x, bool routable)
{
    Models__ActualLRP *r = rep_rig_record(&x->g, "p", "RUNNING", x->guid, RIG_CELL);
    r->optional_routable_case = MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE_ROUTABLE;
    r->routable = routable;
    return r;
}

static void runs(struct checked *x, bool routable)
{
    struct rep_rig_move m = rep_rig_take_move(&x->g, "start");
    assert_int_equal(m.move->instance->routable, routable);
    Models__ActualLRP *r = recorded(x, routable);
    rep_rig_move_done(&x->g, m, r);
    rep_rig_feed_put(&x->g, r);
}

static void done(struct checked *x)
{
    rep_rig_done(&x->g);
}

#define START "Starting health monitoring of container"
#define HEALTHY "Container became healthy"
#define READY                                                                                      \
    "Container passed the readiness health check. Container marked ready and added to route pool."
#define NOT_READY                                                                                  \
    "Container failed the readiness health check. Container marked not ready and removed from "    \
    "route pool."

/* RUNNING is told when the check has passed, not before. */
static void it_runs_when_its_check_has_passed(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    start(&x);
    says(&x, "APP", START);
    probed(&x, 500, "/live", 503);
    probed(&x, 500, "/live", 0);
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0);
    probed(&x, 500, "/live", 200);
    says(&x, "APP", HEALTHY);
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0); /* the note comes first */
    takes_note(&x);
    runs(&x, true);
    rep_rig_advance(&x.g, 1900);
    assert_int_equal(x.g.probe_count, 0);
    probed(&x, 100, "/live", 200);
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    done(&x);
}

static void crashes(struct checked *x, const char *text)
{
    struct verb_call v = rep_rig_take_verb(&x->g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGTERM);
    rep_rig_verb(&x->g, v, VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&x->g, "/v1/board/apply"), 0); /* it lives still */
    rep_rig_exited(&x->g, x->guid, 143);
    struct rep_rig_move m = rep_rig_take_move(&x->g, "crash");
    assert_string_equal(m.move->instance->error_message, text);
}

static void it_crashes_when_a_check_fails_later(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    x.lrp->check_definition->log_source = (char *)(uintptr_t) "CHECK";
    start(&x);
    says(&x, "APP", START);
    probed(&x, 500, "/live", 200);
    says(&x, "APP", HEALTHY);
    takes_note(&x);
    runs(&x, true);
    probed(&x, 2000, "/live", 0);
#define WHY                                                                                        \
    "Liveness check unsuccessful: failed to make HTTP request to '/live' on port 61000: "          \
    "connection refused"
    says(&x, "CHECK", WHY);
    says(&x, "APP", "Container became unhealthy");
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SIGNAL), 0); /* the note comes first */
    rep_rig_feed_put(&x.g, recorded(&x, false)); /* what else is to be told waits for the crash */
    takes_note(&x);
    crashes(&x, "Instance became unhealthy: " WHY);
    done(&x);
}

static void it_crashes_when_its_start_takes_too_long(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 1200);
    start(&x);
    says(&x, "APP", START);
    probed(&x, 500, "/live", 404);
    rep_rig_advance(&x.g, 600);
    struct probe open = rep_rig_take_probe(&x.g);
    rep_rig_advance(&x.g, 700);
#define TOO_LONG                                                                                   \
    "Timed out after 1.2s (1 attempts) waiting for startup check to succeed: failed to make HTTP " \
    "request to '/live' on port 61000: received status code 404 in 7ms"
    says(&x, "HEALTH", TOO_LONG);
    says(&x, "APP", "Failed after 1.2s: startup health check never passed.");
    takes_note(&x);
    crashes(&x, "Instance never healthy after 1.2s: " TOO_LONG);
    rep_rig_probed(&x.g, open, PROBE_ANSWERED, 200); /* too late */
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0);
    done(&x);
}

/* TERM, and after the grace KILL, like any other. */
static void it_is_killed_if_it_does_not_end(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 100);
    start(&x);
    rep_rig_advance(&x.g, 200);
    takes_note(&x);
    rep_rig_verb(&x.g, rep_rig_take_verb(&x.g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_advance(&x.g, 10100);
    struct verb_call v = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGKILL);
    done(&x);
}

/* Its program runs, though it is not RUNNING yet: its record is there until that has ended, for
 * while a runtime does not answer another instance would begin beside it. */
static void what_is_stopped_before_it_is_healthy_ends_first(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    start(&x);
    says(&x, "APP", START);
    probed(&x, 500, "/live", 503);
    Models__ActualLRP *stopping = rep_rig_record(&x.g, "p", "CLAIMED", x.guid, RIG_CELL);
    stopping->stopping = true;
    rep_rig_feed_put(&x.g, stopping);
    struct verb_call v = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGTERM);
    rep_rig_verb(&x.g, v, VERB_UNCERTAIN, "no answer in time");
    rep_rig_advance(&x.g, 10100);
    v = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    assert_int_equal(v.signal, SIGKILL);
    rep_rig_verb(&x.g, v, VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_REMOVE), 0);
    rep_rig_exited(&x.g, x.guid, 137);
    rep_rig_move_done(&x.g, rep_rig_take_move(&x.g, "remove"), NULL);
    assert_string_equal(rep_rig_take_verb(&x.g, VERB_REMOVE).guid, x.guid);
    done(&x);
}

/* The note says it before anybody hears of it; and it never crashes. */
static void readiness_is_told_by_a_start(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, NULL, "/ready", 0);
    start(&x);
    runs(&x, false);
    probed(&x, 500, "/ready", 200);
    says(&x, "APP", READY);
    takes_note(&x);
    runs(&x, true);
    probed(&x, 2000, "/ready", 500);
    says(&x, "APP", NOT_READY);
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    takes_note(&x);
    runs(&x, false);
    for (int i = 0; i < 20; i++) {
        probed(&x, 500, "/ready", 0);
    }
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY) + rep_rig_verbs(&x.g, VERB_NOTE), 0);
    probed(&x, 500, "/ready", 200);
    says(&x, "APP", READY);
    takes_note(&x);
    runs(&x, true);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SIGNAL), 0);
    done(&x);
}

/* As after a loss of acknowledged writes, or when an old start call came late. */
static void what_the_board_says_otherwise_is_told_again(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, NULL, "/ready", 0);
    start(&x);
    runs(&x, false);
    probed(&x, 500, "/ready", 200);
    says(&x, "APP", READY);
    takes_note(&x);
    runs(&x, true);
    rep_rig_feed_put(&x.g, recorded(&x, true));
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    rep_rig_feed_put(&x.g, recorded(&x, false));
    runs(&x, true);
    done(&x);
}

/* What a rep of later finds in the note. */
static void adopted(struct checked *x, struct bytes note)
{
    struct checked earlier = *x;
    struct container_status s = {.guid = arena_strdup(&earlier.g.arena, x->guid),
                                 .state = CONTAINER_RUNNING,
                                 .text = "",
                                 .note = note};
    rep_rig_init(&x->g);
    rep_rig_open(&x->g, &s, 1);
    x->guid = arena_strdup(&x->g.arena, s.guid);
    done(&earlier);
}

static void a_restarted_rep_goes_on(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", "/ready", 0);
    start(&x);
    rep_rig_advance(&x.g, 600);
    for (size_t n = x.g.probe_count; n > 0; n--) {
        struct probe p = rep_rig_take_probe(&x.g);
        rep_rig_probed(&x.g, p, PROBE_ANSWERED, 200);
    }
    while (rep_rig_verbs(&x.g, VERB_NOTE)) {
        takes_note(&x);
    }
    runs(&x, true);
    adopted(&x, x.note);
    runs(&x, true); /* RUNNING still, and routable */
    rep_rig_advance(&x.g, 1900);
    assert_int_equal(x.g.probe_count, 0); /* not before an interval is over */
    rep_rig_advance(&x.g, 1200);
    assert_int_equal(x.g.probe_count, 2);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0);
    assert_int_equal(rep_rig_calls(&x.g, "/v1/board/apply"), 0);
    done(&x);
}

static void a_restarted_rep_waits_for_what_had_not_passed(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    start(&x);
    adopted(&x, x.note);
    assert_int_equal(rep_rig_verbs(&x.g, VERB_SAY), 0); /* it was said before */
    struct rep_rig_move m = rep_rig_take_move(&x.g, "claim"); /* it starts still */
    rep_rig_move_done(&x.g, m, rep_rig_record(&x.g, "p", "CLAIMED", x.guid, RIG_CELL));
    rep_rig_feed_put(&x.g, rep_rig_record(&x.g, "p", "CLAIMED", x.guid, RIG_CELL));
    assert_int_equal(rep_rig_verbs(&x.g, VERB_START), 0);
    probed(&x, 500, "/live", 200);
    says(&x, "APP", HEALTHY);
    takes_note(&x);
    runs(&x, true);
    done(&x);
}

static void a_restarted_rep_ends_what_was_unhealthy(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 100);
    start(&x);
    rep_rig_advance(&x.g, 200);
    takes_note(&x);
    adopted(&x, x.note);
    struct rep_rig_move m = rep_rig_take_move(&x.g, "claim");
    rep_rig_move_done(&x.g, m, rep_rig_record(&x.g, "p", "CLAIMED", x.guid, RIG_CELL));
    rep_rig_feed_put(&x.g, rep_rig_record(&x.g, "p", "CLAIMED", x.guid, RIG_CELL));
    struct verb_call v = rep_rig_take_verb(&x.g, VERB_SIGNAL);
    rep_rig_verb(&x.g, v, VERB_DONE, "");
    rep_rig_exited(&x.g, x.guid, 0);
    m = rep_rig_take_move(&x.g, "crash");
    assert_non_null(strstr(m.move->instance->error_message, "Instance never healthy after 100ms"));
    done(&x);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void no_more_probes_at_once_than_the_shell_takes(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    Models__CheckDefinition *d = x.lrp->check_definition;
    d->checks = ARENA_ARRAY(&x.g.arena, HEALTH_CHECKS_MAX, Models__Check *);
    for (d->n_checks = 0; d->n_checks < HEALTH_CHECKS_MAX; d->n_checks++) {
        d->checks[d->n_checks] = http(&x.g, "/live");
    }
    start(&x);
    rep_rig_advance(&x.g, 600);
    assert_int_equal(x.g.probe_count, HEALTH_CHECKS_MAX);
    while (x.g.probe_count > 0) {
        struct probe p = rep_rig_take_probe(&x.g);
        rep_rig_probed(&x.g, p, PROBE_ANSWERED, 200);
    }
    takes_note(&x);
    runs(&x, true);
    done(&x);
}

static void too_many_checks_crash_with_the_bound(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    Models__CheckDefinition *d = x.lrp->check_definition;
    d->checks = ARENA_ARRAY(&x.g.arena, HEALTH_CHECKS_MAX + 1, Models__Check *);
    for (d->n_checks = 0; d->n_checks <= HEALTH_CHECKS_MAX; d->n_checks++) {
        d->checks[d->n_checks] = http(&x.g, "/live");
    }
    rep_rig_answer_desired(&x.g, x.lrp);
    struct rep_rig_move m = rep_rig_take_move(&x.g, "crash");
    assert_string_equal(m.move->instance->error_message,
                        "the definition has more than 100 checks");
    done(&x);
}

/* ---- What is told ---------------------------------------------------------------------------- */

static void the_last_outcome_is_shown(void **state)
{
    struct checked x;
    (void)state;
    prepare(&x, "/live", NULL, 0);
    start(&x);
    probed(&x, 500, "/live", 503);
    rep_rig_request(&x.g, "client", "GET", "/state?checks=1", "", (struct bytes){0});
    struct reply reply = rep_rig_take_reply(&x.g);
    const char *text =
        arena_strndup(&x.g.arena, (const char *)reply.body.data, reply.body.size);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(text, "\"what\":\"http :8080/live\""));
    assert_non_null(strstr(text, "received status code 503 in 7ms"));
    assert_non_null(strstr(text, "\"next_in_ms\":4"));
    rep_rig_request(&x.g, "client", "GET", "/state", "", (struct bytes){0});
    reply = rep_rig_take_reply(&x.g);
    text = arena_strndup(&x.g.arena, (const char *)reply.body.data, reply.body.size);
    assert_null(strstr(text, "checks"));
    done(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_when_its_check_has_passed),
        cmocka_unit_test(it_crashes_when_a_check_fails_later),
        cmocka_unit_test(it_crashes_when_its_start_takes_too_long),
        cmocka_unit_test(it_is_killed_if_it_does_not_end),
        cmocka_unit_test(what_is_stopped_before_it_is_healthy_ends_first),
        cmocka_unit_test(readiness_is_told_by_a_start),
        cmocka_unit_test(what_the_board_says_otherwise_is_told_again),
        cmocka_unit_test(a_restarted_rep_goes_on),
        cmocka_unit_test(a_restarted_rep_waits_for_what_had_not_passed),
        cmocka_unit_test(a_restarted_rep_ends_what_was_unhealthy),
        cmocka_unit_test(no_more_probes_at_once_than_the_shell_takes),
        cmocka_unit_test(too_many_checks_crash_with_the_bound),
        cmocka_unit_test(the_last_outcome_is_shown),
    };
    return cmocka_run_group_tests_name("rep checks", tests, NULL, NULL);
}

/* Health and readiness, row by row with the numbers of rep/container/health.c; when a check comes
 * next; and every text that can be told of one. */
#include "rep/container/health.h"

#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static const struct row {
    int number;
    enum health_phase phase;
    enum health_outcome outcome;
    enum health_phase next;
    enum health_word says;
} rows[] = {
    {1, HEALTH_STARTING, HEALTH_PASSED, HEALTH_HEALTHY, HEALTH_SAYS_HEALTHY},
    {2, HEALTH_STARTING, HEALTH_AWAITED, HEALTH_STARTING, HEALTH_SAYS_NOTHING},
    {3, HEALTH_STARTING, HEALTH_BROKEN, HEALTH_STARTING, HEALTH_SAYS_NOTHING},
    {4, HEALTH_STARTING, HEALTH_TIME_OVER, HEALTH_UNHEALTHY, HEALTH_SAYS_NEVER},
    {5, HEALTH_HEALTHY, HEALTH_PASSED, HEALTH_HEALTHY, HEALTH_SAYS_NOTHING},
    {6, HEALTH_HEALTHY, HEALTH_AWAITED, HEALTH_HEALTHY, HEALTH_SAYS_NOTHING},
    {7, HEALTH_HEALTHY, HEALTH_BROKEN, HEALTH_UNHEALTHY, HEALTH_SAYS_UNHEALTHY},
    {8, HEALTH_NOT_READY, HEALTH_PASSED, HEALTH_READY, HEALTH_SAYS_READY},
    {9, HEALTH_NOT_READY, HEALTH_AWAITED, HEALTH_NOT_READY, HEALTH_SAYS_NOTHING},
    {10, HEALTH_NOT_READY, HEALTH_BROKEN, HEALTH_NOT_READY, HEALTH_SAYS_NOTHING},
    {11, HEALTH_READY, HEALTH_PASSED, HEALTH_READY, HEALTH_SAYS_NOTHING},
    {12, HEALTH_READY, HEALTH_AWAITED, HEALTH_READY, HEALTH_SAYS_NOTHING},
    {13, HEALTH_READY, HEALTH_BROKEN, HEALTH_NOT_READY, HEALTH_SAYS_NOT_READY},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct health_next next = health_next(rows[i].phase, rows[i].outcome);
        assert_int_equal(next.row, rows[i].number);
        assert_int_equal(next.phase, rows[i].next);
        assert_int_equal(next.says, rows[i].says);
    }
}

/* What is being ended stays so, and the start's time is no readiness'. */
static void no_other_pair_moves(void **state)
{
    (void)state;
    for (int phase = 0; phase < HEALTH_PHASE_COUNT; phase++) {
        for (int outcome = 0; outcome < HEALTH_OUTCOME_COUNT; outcome++) {
            bool named = false;
            for (size_t i = 0; i < ROWS; i++) {
                named = named || ((int)rows[i].phase == phase && (int)rows[i].outcome == outcome);
            }
            struct health_next next = health_next(phase, outcome);
            assert_true(named || (next.row == 0 && (int)next.phase == phase &&
                                  next.says == HEALTH_SAYS_NOTHING));
        }
    }
}

/* ---- Several checks -------------------------------------------------------------------------- */

/* Two checks of health and two of readiness. */
struct four {
    Rep__Check check[4], *list[4];
    Rep__Health health;
    struct check_result result[4];
};

/* A letter a check: "-" not known, "+" passed, "x" failed. */
static void four_init(struct four *f, const char *how)
{
    rep__health__init(&f->health);
    f->health.checks = f->list;
    f->health.n_checks = 4;
    for (size_t i = 0; i < 4; i++) {
        rep__check__init(&f->check[i]);
        f->check[i].readiness = i >= 2;
        f->check[i].kind = REP__CHECK__KIND__TCP;
        f->list[i] = &f->check[i];
        f->result[i] = (struct check_result){.known = how[i] != '-',
                                             .passed = how[i] == '+',
                                             .tried = how[i] == '-' ? 0 : 3,
                                             .text = how[i] == 'x' ? (i % 2 ? "second" : "first")
                                                                   : ""};
    }
}

static void what_they_say_together(void **state)
{
    static const struct {
        const char *how;
        enum health_phase phase;
        enum health_outcome outcome;
    } pairs[] = {
        {"--++", HEALTH_STARTING, HEALTH_AWAITED}, {"+-++", HEALTH_STARTING, HEALTH_AWAITED},
        {"++xx", HEALTH_STARTING, HEALTH_PASSED},  {"-x++", HEALTH_STARTING, HEALTH_BROKEN},
        {"x-++", HEALTH_HEALTHY, HEALTH_BROKEN},   {"--xx", HEALTH_HEALTHY, HEALTH_AWAITED},
        {"xx++", HEALTH_NOT_READY, HEALTH_PASSED}, {"xx+-", HEALTH_NOT_READY, HEALTH_AWAITED},
        {"+++x", HEALTH_READY, HEALTH_BROKEN},     {"++-x", HEALTH_READY, HEALTH_BROKEN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct four f;
        four_init(&f, pairs[i].how);
        assert_int_equal(health_outcome(&f.health, f.result, pairs[i].phase, 1),
                         pairs[i].outcome);
    }
}

static void the_start_has_its_time(void **state)
{
    struct four f;
    (void)state;
    four_init(&f, "+---");
    f.health.watched_since_ns = 5 * SECOND_NS;
    f.health.start_timeout_ms = 2000;
    assert_int_equal(health_start_ends_ns(&f.health), 7 * SECOND_NS);
    assert_int_equal(health_outcome(&f.health, f.result, HEALTH_STARTING, 7 * SECOND_NS - 1),
                     HEALTH_AWAITED);
    assert_int_equal(health_outcome(&f.health, f.result, HEALTH_STARTING, 7 * SECOND_NS),
                     HEALTH_TIME_OVER);
    assert_int_equal(health_outcome(&f.health, f.result, HEALTH_HEALTHY, 8 * SECOND_NS),
                     HEALTH_AWAITED);
    f.result[1] = f.result[0];
    assert_int_equal(health_outcome(&f.health, f.result, HEALTH_STARTING, 8 * SECOND_NS),
                     HEALTH_PASSED);
    f.health.start_timeout_ms = 0;
    assert_int_equal(health_start_ends_ns(&f.health), NEVER_NS);
}

static void routable_is_who_is_ready_or_need_not_be(void **state)
{
    struct four f;
    (void)state;
    four_init(&f, "----");
    assert_true(health_is_routable(NULL));
    assert_false(health_is_routable(&f.health));
    f.health.ready = true;
    assert_true(health_is_routable(&f.health));
    f.health.ready = false;
    f.health.n_checks = 2;
    assert_true(health_is_routable(&f.health));
}

/* ---- When ------------------------------------------------------------------------------------ */

static const struct health_pace pace = {500 * MILLISECOND_NS, 30 * SECOND_NS, SECOND_NS};

static void when_it_comes_next(void **state)
{
    static const struct {
        enum health_phase phase;
        bool readiness, passed;
        int64_t interval_ms, after_ms; /* -1 = never */
    } turns[] = {
        {HEALTH_STARTING, false, false, 0, 500},     {HEALTH_STARTING, false, true, 0, -1},
        {HEALTH_STARTING, true, true, 2000, 2000},   {HEALTH_STARTING, false, false, 200, 200},
        {HEALTH_HEALTHY, false, true, 0, 30000},     {HEALTH_HEALTHY, false, true, 1000, 1000},
        {HEALTH_HEALTHY, true, false, 1000, 500},    {HEALTH_HEALTHY, true, true, 1000, 1000},
        {HEALTH_HEALTHY, false, true, 1, HEALTH_INTERVAL_LEAST_MS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        Rep__Check check = REP__CHECK__INIT;
        check.readiness = turns[i].readiness;
        check.interval_ms = turns[i].interval_ms;
        int64_t due_ns = health_next_ns(&check, turns[i].phase, turns[i].passed, SECOND_NS,
                                       SECOND_NS + 3 * MILLISECOND_NS, &pace);
        assert_int_equal(due_ns, turns[i].after_ms < 0
                                     ? NEVER_NS
                                     : SECOND_NS + turns[i].after_ms * MILLISECOND_NS);
    }
    Rep__Check late = REP__CHECK__INIT;
    assert_int_equal(health_next_ns(&late, HEALTH_HEALTHY, true, 1, 99 * SECOND_NS, &pace),
                     99 * SECOND_NS);
}

static void how_long_one_may_take(void **state)
{
    Rep__Check check = REP__CHECK__INIT;
    (void)state;
    assert_int_equal(health_timeout_ms(&check, &pace), 1000);
    check.timeout_ms = 250;
    assert_int_equal(health_timeout_ms(&check, &pace), 250);
    check.timeout_ms = INT64_MAX;
    assert_int_equal(health_timeout_ms(&check, &pace), HEALTH_TIME_MOST_MS);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void what_a_probe_found(void **state)
{
    static const struct {
        bool http;
        struct probed end;
        const char *address, *text;
    } probes[] = {
        {true, {.outcome = PROBE_ANSWERED, .status = 200}, "10.0.0.1", ""},
        {true,
         {.outcome = PROBE_ANSWERED, .status = 503, .took_ms = 12},
         "10.0.0.1",
         "failed to make HTTP request to '/health' on port 8080: received status code 503 in 12ms"},
        {true,
         {.outcome = PROBE_ANSWERED, .status = 204},
         "10.0.0.1",
         "failed to make HTTP request to '/health' on port 8080: received status code 204 in 0ms"},
        {true,
         {.outcome = PROBE_TIMED_OUT},
         "10.0.0.1",
         "failed to make HTTP request to '/health' on port 8080: timed out after 1.00 seconds"},
        {true,
         {.outcome = PROBE_REFUSED},
         "10.0.0.1",
         "failed to make HTTP request to '/health' on port 8080: connection refused"},
        {true,
         {.outcome = PROBE_FAILED, .text = "stopped after 10 redirects"},
         "10.0.0.1",
         "failed to make HTTP request to '/health' on port 8080: stopped after 10 redirects"},
        {false, {.outcome = PROBE_ANSWERED}, "10.0.0.1", ""},
        {false,
         {.outcome = PROBE_TIMED_OUT},
         "10.0.0.1",
         "failed to make TCP connection to 10.0.0.1:8080: timed out after 1.00 seconds"},
        {false,
         {.outcome = PROBE_REFUSED},
         "::1",
         "failed to make TCP connection to [::1]:8080: connection refused"},
        {false,
         {.outcome = PROBE_FAILED, .text = "No route to host"},
         "10.0.0.1",
         "failed to make TCP connection to 10.0.0.1:8080: No route to host"},
    };
    SCOPED_ARENA(a);
    (void)state;
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        Rep__Check check = REP__CHECK__INIT;
        check.kind = probes[i].http ? REP__CHECK__KIND__HTTP : REP__CHECK__KIND__TCP;
        check.path = (char *)(uintptr_t) "/health";
        assert_string_equal(
            health_probe_text(&a, &check, probes[i].address, 8080, 1000, &probes[i].end),
            probes[i].text);
    }
}

static void reasons(const char *how, enum health_phase phase, const char *details,
                    const char *reason)
{
    SCOPED_ARENA(a);
    struct four f;
    four_init(&f, how);
    f.health.start_timeout_ms = 61500;
    const char *said = health_details(&a, &f.health, f.result, phase);
    assert_string_equal(said, details);
    assert_string_equal(health_reason(&a, &f.health, said, phase), reason);
}

#define WAITING(n, why)                                                                            \
    "Timed out after 1m1.5s (" n " attempts) waiting for startup check to succeed: " why

static void why_it_ends(void **state)
{
    (void)state;
    reasons("x+--", HEALTH_STARTING, WAITING("3", "first"),
            "Instance never healthy after 1m1.5s: " WAITING("3", "first"));
    reasons("xxxx", HEALTH_STARTING, WAITING("3", "first") "; " WAITING("3", "second"),
            "Instance never healthy after 1m1.5s: " WAITING("3", "first") "; "
            WAITING("3", "second"));
    reasons("+---", HEALTH_STARTING, WAITING("0", "it has not come to an end"),
            "Instance never healthy after 1m1.5s: "
            WAITING("0", "it has not come to an end"));
    reasons("-xxx", HEALTH_HEALTHY, "Liveness check unsuccessful: second",
            "Instance became unhealthy: Liveness check unsuccessful: second");
    reasons("xx--", HEALTH_HEALTHY, "Liveness check unsuccessful: first",
            "Instance became unhealthy: Liveness check unsuccessful: first");
}

static void a_monitor_speaks_for_itself(void **state)
{
    SCOPED_ARENA(a);
    struct four f;
    (void)state;
    four_init(&f, "x+++");
    f.check[0].kind = REP__CHECK__KIND__MONITOR;
    assert_string_equal(health_details(&a, &f.health, f.result, HEALTH_STARTING), "first");
    assert_string_equal(health_details(&a, &f.health, f.result, HEALTH_HEALTHY), "first");
}

static void lines_of_the_log(void **state)
{
    static const struct {
        enum health_word word;
        bool to_stderr;
        const char *text;
    } lines[] = {
        {HEALTH_SAYS_NOTHING, false, "Starting health monitoring of container"},
        {HEALTH_SAYS_HEALTHY, false, "Container became healthy"},
        {HEALTH_SAYS_UNHEALTHY, true, "Container became unhealthy"},
        {HEALTH_SAYS_NEVER, true, "Failed after 1m0s: startup health check never passed."},
        {HEALTH_SAYS_READY, false,
         "Container passed the readiness health check. Container marked ready and added to route "
         "pool."},
        {HEALTH_SAYS_NOT_READY, false,
         "Container failed the readiness health check. Container marked not ready and removed from "
         "route pool."},
    };
    SCOPED_ARENA(a);
    Rep__Health health = REP__HEALTH__INIT;
    (void)state;
    health.start_timeout_ms = 60000;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        bool to_stderr;
        assert_string_equal(health_line(&a, &health, lines[i].word, &to_stderr), lines[i].text);
        assert_int_equal(to_stderr, lines[i].to_stderr);
    }
}

static void names_of_checks(void **state)
{
    SCOPED_ARENA(a);
    Rep__Check check = REP__CHECK__INIT;
    (void)state;
    check.port = 8080;
    check.path = (char *)(uintptr_t) "/x";
    assert_string_equal(health_check_name(&a, &check), "http :8080/x");
    check.kind = REP__CHECK__KIND__TCP;
    assert_string_equal(health_check_name(&a, &check), "tcp :8080");
    check.kind = REP__CHECK__KIND__MONITOR;
    assert_string_equal(health_check_name(&a, &check), "monitor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(no_other_pair_moves),
        cmocka_unit_test(what_they_say_together),
        cmocka_unit_test(the_start_has_its_time),
        cmocka_unit_test(routable_is_who_is_ready_or_need_not_be),
        cmocka_unit_test(when_it_comes_next),
        cmocka_unit_test(how_long_one_may_take),
        cmocka_unit_test(what_a_probe_found),
        cmocka_unit_test(why_it_ends),
        cmocka_unit_test(a_monitor_speaks_for_itself),
        cmocka_unit_test(lines_of_the_log),
        cmocka_unit_test(names_of_checks),
    };
    return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}

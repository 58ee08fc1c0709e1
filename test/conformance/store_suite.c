#include "test/conformance/store_suite.h"

#include "test/conformance/store_cases.h"
#include "test/conformance/store_storm.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MAX = 32, STORM_CALLS = 1000 };

/* What a cmocka test finds in its state. */
struct case_state {
    const struct store_suite *suite;
    struct tester *tester; /* shared by the cases */
    const struct store_case *run;
};

static void run_case(void **state)
{
    struct case_state *s = *state;
    s->run->run(s->tester);
    assert_int_equal(s->tester->wrong, 0);
}

static void run_quota(void **state)
{
    const struct store_suite *suite = ((struct case_state *)*state)->suite;
    struct backend_options options = {.quota_bytes = STORE_CASE_QUOTA_BYTES, .tls = suite->tls};
    struct tester *t = tester_new(suite->backend_new(&options));
    store_case_quota(t);
    tester_free(t);
}

/* The faults must have bitten: some outcomes unknown, and unknown ones of both kinds over a few
 * rounds. */
static void run_storm(void **state)
{
    const struct store_suite *suite = ((struct case_state *)*state)->suite;
    for (unsigned i = 0; i < suite->rounds; i++) {
        struct backend_options options = {
            .seed = suite->seed + i, .delays = true, .tls = i % 2 == 0};
        struct tester *t = tester_new(suite->backend_new(&options));
        struct storm_result result;
        store_storm(t, options.seed, STORM_CALLS, &result);
        printf("storm %llu: %zu done, %zu lost, %zu refused, %zu unknown of which %zu landed, "
               "%u watches\n",
               (unsigned long long)options.seed, result.done, result.lost, result.refused,
               result.unknown, result.landed, result.watches);
        assert_true(result.unknown > 0 && result.watches > 1);
        tester_free(t);
    }
}

int store_suite_run(const struct store_suite *suite)
{
    struct backend_options options = {.seed = suite->seed, .tls = suite->tls};
    struct tester *t = tester_new(suite->backend_new(&options));
    struct case_state states[CASES_MAX];
    struct CMUnitTest tests[CASES_MAX];
    size_t count = 0;
    for (const struct store_case *c = store_cases; c->name; c++) {
        states[count] = (struct case_state){.suite = suite, .tester = t, .run = c};
        tests[count] = (struct CMUnitTest){
            .name = c->name, .test_func = run_case, .initial_state = &states[count]};
        count++;
    }
    states[count] = (struct case_state){.suite = suite};
    tests[count] = (struct CMUnitTest){
        .name = "quota", .test_func = run_quota, .initial_state = &states[count]};
    count++;
    if (suite->storms) {
        states[count] = (struct case_state){.suite = suite};
        tests[count] = (struct CMUnitTest){
            .name = "storm", .test_func = run_storm, .initial_state = &states[count]};
        count++;
    }
    int failed = _cmocka_run_group_tests(suite->name, tests, count, NULL, NULL);
    tester_free(t);
    return failed;
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            otherwise = strtoull(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

void store_suite_options(struct store_suite *suite, int argc, char **argv)
{
    const char *rounds = getenv("CONFORMANCE_ROUNDS");
    suite->rounds =
        (unsigned)option(argc, argv, "--rounds", rounds ? strtoull(rounds, NULL, 10) : 1);
    suite->rounds += suite->rounds == 0;
    suite->seed = option(argc, argv, "--seed", 1);
    printf("%s: %u rounds from seed %llu\n", suite->name, suite->rounds,
           (unsigned long long)suite->seed);
}

/* The conformance program on a real etcd behind the store shell, with TLS and without. */
#include "test/conformance/store_lockstep.h"
#include "test/conformance/store_suite.h"
#include "test/tool/cmocka.h"
#include "test/tool/netns.h"

#include <signal.h>

enum { STEPS_PER_ROUND = 1500 };

/* The model answers as etcd does, whatever is asked. */
static void model_and_etcd_agree(void **state)
{
    const struct store_suite *suite = *state;
    for (unsigned i = 0; i < suite->rounds; i++) {
        struct backend_options options = {.seed = suite->seed + i, .tls = i % 2};
        struct tester *real = tester_new(backend_etcd_new(&options));
        struct tester *model = tester_new(backend_model_new(&options));
        store_lockstep(real, model, options.seed, STEPS_PER_ROUND);
        tester_free(real);
        tester_free(model);
    }
}

static int run_lockstep(struct store_suite *suite)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(model_and_etcd_agree, suite),
    };
    return cmocka_run_group_tests_name("store: model beside etcd", tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    struct store_suite suite = {.name = "store: etcd", .backend_new = backend_etcd_new};
    store_suite_options(&suite, argc, argv);
    signal(SIGPIPE, SIG_IGN); /* as every program of ours does: connections break here */
    netns_enter(); /* so that packets can be dropped */
    int failed = store_suite_run(&suite);
    suite.name = "store: etcd with TLS";
    suite.tls = true;
    suite.storms = true;
    failed += store_suite_run(&suite);
    return failed + run_lockstep(&suite);
}

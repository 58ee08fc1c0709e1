/* The oci driver, with real containers. Needs root; there, that it does not work is a failure. */
#include "test/e2e/driver_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int set_up(void **state)
{
    static struct rig rig;
    rig_open(&rig, DRIVER_OCI);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

#define TRIAL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(trial_conformance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

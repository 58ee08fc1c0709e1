/* The oci driver with networks of its own: the trials of any driver, and those of networks. Needs
 * root; there, that it does not work is a failure. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_up(void **state)
{
    static struct rig rig;
    rig_open_network(&rig, "10.253.0.0/22");
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

#define TRIAL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* In a namespace in the place of the machine, so that nothing of the machine is touched.
 * An argument names the trials to run, as in "trial_exec" or "trial_*"; "--churn 300 10" makes and
 * removes 300 containers ten times. */
int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : NULL;
    if (argc == 4 && strcmp(argv[1], "--churn") == 0) {
        churn_containers = atoi(argv[2]);
        churn_rounds = atoi(argv[3]);
        filter = "trial_churn";
    }
    if (unshare(CLONE_NEWNET) < 0 || system("ip link set lo up") != 0) {
        perror("no network namespace can be made");
        return 1;
    }
    cmocka_set_test_filter(filter);
    const struct CMUnitTest tests[] = {
        TRIAL(trial_conformance),      TRIAL(trial_addresses),
        TRIAL(trial_addresses_run_out), TRIAL(trial_attach_fails),
        TRIAL(trial_killed_amid_attach), TRIAL(trial_plan_cut),
        TRIAL(trial_join),             TRIAL(trial_join_killed),
        TRIAL(trial_rebooted),         TRIAL(trial_rebooted_network),
        TRIAL(trial_churn),            TRIAL(trial_many),
        TRIAL(trial_shim_killed),      TRIAL(trial_rep_killed),
        TRIAL(trial_started_by_another), TRIAL(trial_removed_amid_start),
        TRIAL(trial_runtime_killed),   TRIAL(trial_leftovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

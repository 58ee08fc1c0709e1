/* The process driver, with real processes. */
#include "test/e2e/driver_trials.h"
#include "test/tool/cmocka.h"

static int set_up(void **state)
{
    static struct rig rig;
    rig_open(&rig, DRIVER_PROCESS);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

#define TRIAL(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* An argument names the trials to run, as in "trial_exec" or "trial_*". */
int main(int argc, char **argv)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    const struct CMUnitTest tests[] = {
        TRIAL(trial_conformance),
        TRIAL(trial_environment),
        TRIAL(trial_home),
        TRIAL(trial_closed_directories),
        TRIAL(trial_users),
        TRIAL(trial_nproc),
        TRIAL(trial_no_program),
        TRIAL(trial_exec),
        TRIAL(trial_exec_of_a_step),
        TRIAL(trial_exec_ends_whole),
        TRIAL(trial_exec_ended_early),
        TRIAL(trial_exec_ends_with_others),
        TRIAL(trial_dash),
        TRIAL(trial_measure),
        TRIAL(trial_measure_bounded),
        TRIAL(trial_found_later),
        TRIAL(trial_output),
        TRIAL(trial_output_rotates),
        TRIAL(trial_output_begins),
        TRIAL(trial_output_labels),
        TRIAL(trial_output_kept),
        TRIAL(trial_output_bounded),
        TRIAL(trial_logs),
        TRIAL(trial_log_lines),
        TRIAL(trial_log_choice),
        TRIAL(trial_log_long_lines),
        TRIAL(trial_log_last_lines),
        TRIAL(trial_log_limit),
        TRIAL(trial_log_mute),
        TRIAL(trial_log_of_before),
        TRIAL(trial_full_disk),
        TRIAL(trial_hardly_any_room),
        TRIAL(trial_shim_killed),
        TRIAL(trial_container_shim_killed),
        TRIAL(trial_step_shim_killed),
        TRIAL(trial_step_of_the_removed),
        TRIAL(trial_runs),
        TRIAL(trial_run_shim_killed),
        TRIAL(trial_run_words),
        TRIAL(trial_binds),
        TRIAL(trial_binds_bounded),
        TRIAL(trial_steps_share_a_log),
        TRIAL(trial_idle_takes_term),
        TRIAL(trial_umask),
        TRIAL(trial_rep_killed),
        TRIAL(trial_note_of_the_killed),
        TRIAL(trial_started_by_another),
        TRIAL(trial_removed_amid_start),
        TRIAL(trial_term_at_once),
        TRIAL(trial_many),
        TRIAL(trial_few_descriptors),
        TRIAL(trial_quick_ends),
        TRIAL(trial_whole_family),
        TRIAL(trial_transfers),
        TRIAL(trial_rebooted),
        TRIAL(trial_rebooted_steps),
        TRIAL(trial_leftovers),
        TRIAL(trial_ports),
        TRIAL(trial_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

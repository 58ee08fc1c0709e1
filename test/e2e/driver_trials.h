/* Trials of a real driver: real processes, kill -9, logs, memory, leftovers. The same for oci and
 * process, but where a driver promises less. */
#pragma once

#include "rep/driver/driver_io.h"
#include "test/conformance/driver_conformance.h"

struct event_base;

enum { RIG_IDS = 1000000000 };

struct rig {
    struct subject subject; /* first */
    struct driver_config config;
    struct driver_choice choice;
    struct driver_rootfs rootfs;
    struct event_base *loop;
    struct driver_shell *shell;
    char dir[64]; /* of this rig alone: state, rootfs */
    char state[80], rootfs_path[96], shim[256], network[256], file[80];
    struct kept *events, **events_end; /* delivered, not taken yet */
    struct reply reply; /* to the last output request */
    struct buf reply_body;
    bool replied;
    uint32_t ranges; /* of ids, given out */
};

/* Makes a rig in a new directory, probes, opens the driver. Fails the test when none works. */
void rig_open(struct rig *r, enum driver_kind kind);

/* The same of the oci driver with networks of its own, whose addresses are of this subnet. The
 * calling process must have a network namespace of its own. */
void rig_open_network(struct rig *r, const char *subnet);

/* Drops the driver, asserts that nothing is left behind, deletes the directory. */
void rig_close(struct rig *r);

/* Drops the driver and makes a new one, as after a restart of the rep. */
void rig_restart(struct rig *r);

void rig_suspend(struct rig *r); /* the first half of a restart */
void rig_resume(struct rig *r);  /* and the second */

/* The answer to an output request; its body stays until the next one. */
struct reply rig_output(struct rig *r, const struct output_request *wanted);

/* Processes that belong to containers of this rig; what it finds it prints. */
int rig_processes(struct rig *r);

/* Those of them with these words in their command line, now; and waits until there is none. What
 * helps to start a container goes in its own time, so that a trial counts by words of its own. */
int rig_processes_saying(struct rig *r, const char *words);
void rig_await_none_saying(struct rig *r, const char *words);

/* Directories, mounts, control groups and loop devices of containers; printed likewise. */
int rig_leftovers(struct rig *r);

/* Leaves a mount where the runtime keeps its own of this container, as runc does when it is killed
 * at a bad moment. */
void rig_mount_copy(struct rig *r, const char *guid);

/* A container of `sh -c SCRIPT`. */
struct container_spec rig_shell(struct rig *r, const char *script, const char *args[4]);
void rig_begin_shell(struct rig *r, const char *guid, const char *script);
/* One whose steps, from 1 on, are of such scripts; and one of them (step_trials.c). */
void rig_begin_steps(struct rig *r, const char *guid, const char *const *scripts, size_t count);
void rig_begin_step(struct rig *r, const char *guid, uint32_t step);

/* Path of a file in the container's directory; static buffers, four in turn. */
const char *rig_path(struct rig *r, const char *guid, const char *name);

/* Of what a trial sees: the whole of a small file, or "" (static); a file's bytes, or -1. */
const char *rig_text_of(const char *path);
long long rig_size_of(const char *path);

/* What the container has written to stdout (static). */
const char *rig_wrote(struct rig *r, const char *guid);

void rig_pause_ms(int ms);

/* Fails the test when the verb was not done. */
void rig_done(struct verb_answer a);

/* Waits until the container is in this state; fails the test when it never is. */
void rig_await_state(struct rig *r, const char *guid, enum container_state wanted);

/* life_trials.c */
void trial_conformance(void **state);
void trial_term_at_once(void **state);
void trial_many(void **state);
void trial_few_descriptors(void **state);
void trial_quick_ends(void **state);
void trial_whole_family(void **state);

/* program_trials.c */
void trial_nproc(void **state);
void trial_no_program(void **state);

/* inside_trials.c */
void trial_environment(void **state);
void trial_home(void **state); /* of the process driver */
void trial_at_home(void **state); /* of the oci driver */
void trial_users(void **state);
void trial_isolation(void **state);
void trial_limits(void **state);
void trial_weights(void **state); /* oci only, likewise the next */
void trial_cpu_max(void **state);
void trial_memory_files(void **state);
void trial_fuse(void **state);
void trial_out_of_memory(void **state);
void trial_out_of_disk(void **state);
void trial_exec(void **state);
void trial_dash(void **state);

/* exec_trials.c */
void trial_exec_of_a_step(void **state);
void trial_exec_ends_whole(void **state);
void trial_exec_ended_early(void **state);
void trial_exec_ends_with_others(void **state);

/* isolation_trials.c: oci only. */
void rig_install(struct rig *r, const char *name); /* test/e2e/inside/NAME as /NAME of its files */
void trial_break_out(void **state);
void trial_ids(void **state);
void trial_volumes(void **state);
void trial_isolation_probe(void **state);
void trial_mount_is_not_deleted(void **state);

/* output_trials.c */
void trial_output(void **state);
void trial_output_bounded(void **state);
void trial_output_rotates(void **state);
void trial_output_begins(void **state);
void trial_output_labels(void **state);
void trial_output_kept(void **state);
void trial_logs(void **state);
void trial_full_disk(void **state);

/* kill_trials.c */
void trial_shim_killed(void **state);
void trial_rep_killed(void **state);
void trial_note_of_the_killed(void **state);
void trial_started_by_another(void **state);
void trial_removed_amid_start(void **state);
void trial_runtime_killed(void **state); /* oci only */
void trial_leftovers(void **state);

/* transfer_trials.c */
void trial_transfers(void **state);

/* reboot_trials.c */
/* While the rig is suspended: what a restart of the machine makes of the container. */
void rig_fall(struct rig *r, const char *guid);
void trial_rebooted(void **state);
void trial_rebooted_steps(void **state);

/* network_trials.c: oci only, with networks of its own */
void trial_addresses(void **state);
void trial_addresses_run_out(void **state);
void trial_attach_fails(void **state);
void trial_killed_amid_attach(void **state);
void trial_plan_cut(void **state);
void trial_rebooted_network(void **state);
void trial_join(void **state);
void trial_join_killed(void **state);
/* So many containers, so many times; twelve and two unless another program says otherwise. */
extern int churn_containers, churn_rounds;
void trial_churn(void **state);

/* step_trials.c */
void trial_container_shim_killed(void **state);
void trial_step_shim_killed(void **state);
void trial_step_of_the_removed(void **state);
void trial_steps_share_a_log(void **state);
void trial_idle_takes_term(void **state);
void trial_umask(void **state);
void trial_log_lines(void **state);
void trial_log_choice(void **state);
void trial_log_long_lines(void **state);
void trial_log_last_lines(void **state);
void trial_log_limit(void **state);
void trial_log_mute(void **state);
void trial_log_of_before(void **state);
void trial_step_out_of_memory(void **state); /* oci only */
void trial_step_out_of_disk(void **state);   /* oci only */

/* run_trials.c */
void trial_runs(void **state);
void trial_run_shim_killed(void **state);
void trial_run_words(void **state);
void trial_binds(void **state);
void trial_binds_bounded(void **state);

/* hang_trials.c */
void trial_hung_runtime(void **state);
void trial_hung_removal(void **state);
void trial_failing_removal(void **state);
void trial_probe(void **state);

/* disk_trials.c */
void trial_measure(void **state);
void trial_measure_bounded(void **state);
void trial_closed_directories(void **state);
void trial_found_later(void **state);
void trial_hardly_any_room(void **state);

/* read_trials.c */
void trial_ports(void **state);
void trial_read(void **state);
void trial_read_in_root(void **state); /* oci only */

/* The command line of `bbs`: its groups, and what their tables share. A group stands with its
 * subject: a table of its verbs, what their help says, and its row in groups.def. */
#pragma once

#include "common/cli/client_io.h"
#include "common/cli/options.h"
#include "common/shell/etcd_io.h"

extern const struct cli_program bbs_program;

#define GROUP(name) extern const struct cli_group bbs_##name##_group;
#include "bbs/cli/groups.def"
#undef GROUP

/* Of a command that asks a bbs: how to reach it, options of its own, and for whom it prints. */
#define BBS_ASKS_WITH(...)                                                                         \
    {                                                                                              \
        cli_bbs_options, cli_tls_options, __VA_ARGS__, bbs_output_options, NULL                    \
    }

/* What several tables name; each as cli_command.run. */
int bbs_apply_run(const struct invocation *call, struct err *err);
int bbs_ps_run(const struct invocation *call, struct err *err);
int bbs_restart_run(const struct invocation *call, struct err *err);
int bbs_scale_run(const struct invocation *call, struct err *err);
int bbs_rm_run(const struct invocation *call, struct err *err);
int bbs_events_run(const struct invocation *call, struct err *err);
int bbs_run_run(const struct invocation *call, struct err *err);
int bbs_task_run(const struct invocation *call, struct err *err);
int bbs_cancel_run(const struct invocation *call, struct err *err);
int bbs_logs_run(const struct invocation *call, struct err *err);
int bbs_why_run(const struct invocation *call, struct err *err);
int bbs_deploy_run(const struct invocation *call, struct err *err);
int bbs_teardown_run(const struct invocation *call, struct err *err);
int bbs_system_check_run(const struct invocation *call, struct err *err);
int bbs_job_run_run(const struct invocation *call, struct err *err);
int bbs_pause_run(const struct invocation *call, struct err *err);
int bbs_resume_run(const struct invocation *call, struct err *err);
int bbs_abort_run(const struct invocation *call, struct err *err);
int bbs_rollback_run(const struct invocation *call, struct err *err);
int bbs_backup_run(const struct invocation *call, struct err *err);
int bbs_restore_run(const struct invocation *call, struct err *err);

/* Their options; the tables end with a name of NULL. */
extern const struct cli_option bbs_timeout_options[]; /* --timeout of a question */
extern const struct cli_option bbs_wait_options[];    /* --wait and its --timeout */
extern const struct cli_option bbs_output_options[];  /* --output table|json */
extern const struct cli_option bbs_secrets_options[]; /* --show-secrets */
extern const struct cli_option bbs_run_options[];
extern const struct cli_option bbs_job_options[]; /* --env, --secret */
extern const struct cli_option bbs_task_options[];
extern const struct cli_option bbs_logs_options[];
extern const struct cli_option bbs_why_options[];
extern const struct cli_option bbs_events_options[];
extern const struct cli_option bbs_restart_options[];
extern const struct cli_option bbs_backup_options[];
extern const struct cli_option bbs_restore_options[];
extern const struct cli_option bbs_etcd_options[]; /* the files for its TLS */

/* Where etcd is, by --etcd and bbs_etcd_options. Borrows the strings of the call. */
struct etcd_config bbs_etcd_config(const struct invocation *call);

/* More of the help of a command that stands in two tables. */
extern const char bbs_cancel_details[];

/* Of deploy and teardown, which stand at the top. */
extern const struct cli_option *const bbs_deploy_tables[];
extern const struct cli_option *const bbs_teardown_tables[];
extern const char bbs_deploy_details[];
extern const char bbs_teardown_details[];

/* The commands of `bbs`, for the table in bbs/main.c. Each as cli_command.run. */
#ifndef BBS_CLI_COMMANDS_IO_H
#define BBS_CLI_COMMANDS_IO_H

#include "common/cli/options.h"

int bbs_apply_run(const struct invocation *call, struct err *err);
int bbs_ps_run(const struct invocation *call, struct err *err);
int bbs_restart_run(const struct invocation *call, struct err *err);
int bbs_scale_run(const struct invocation *call, struct err *err);
int bbs_rm_run(const struct invocation *call, struct err *err);
int bbs_events_run(const struct invocation *call, struct err *err);
int bbs_cells_run(const struct invocation *call, struct err *err);
int bbs_run_run(const struct invocation *call, struct err *err);
int bbs_tasks_run(const struct invocation *call, struct err *err);
int bbs_task_run(const struct invocation *call, struct err *err);
int bbs_cancel_run(const struct invocation *call, struct err *err);
int bbs_logs_run(const struct invocation *call, struct err *err);
int bbs_why_run(const struct invocation *call, struct err *err);
int bbs_restore_run(const struct invocation *call, struct err *err);
int bbs_serve_run(const struct invocation *call, struct err *err);

/* Their options; the tables end with a name of NULL. */
extern const struct cli_option bbs_timeout_options[]; /* --timeout of a question */
extern const struct cli_option bbs_wait_options[];    /* --wait and its --timeout */
extern const struct cli_option bbs_output_options[];  /* --output table|json */
extern const struct cli_option bbs_secrets_options[]; /* --show-secrets */
extern const struct cli_option bbs_run_options[];
extern const struct cli_option bbs_tasks_options[];
extern const struct cli_option bbs_task_options[];
extern const struct cli_option bbs_logs_options[];
extern const struct cli_option bbs_why_options[];
extern const struct cli_option bbs_events_options[];
extern const struct cli_option bbs_restart_options[];
extern const struct cli_option bbs_restore_options[];
extern const struct cli_option bbs_serve_options[];

#endif

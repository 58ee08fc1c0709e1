/* The commands of `rep`, for the table in rep/main.c. Each as cli_command.run. */
#pragma once

#include "common/cli/options.h"

/* Give an exit status, or an error code with its text in `err`. */
int rep_serve_run(const struct invocation *call, struct err *err);
int rep_state_run(const struct invocation *call, struct err *err);
int rep_containers_run(const struct invocation *call, struct err *err);
int rep_metrics_run(const struct invocation *call, struct err *err);
int rep_evacuate_run(const struct invocation *call, struct err *err);
int rep_recall_run(const struct invocation *call, struct err *err);
int rep_destroy_run(const struct invocation *call, struct err *err);
int rep_audit_run(const struct invocation *call, struct err *err);

extern const struct cli_option rep_serve_options[];
extern const struct cli_option rep_driver_options[]; /* of serve and destroy */
extern const struct cli_option rep_file_options[], rep_image_options[];
extern const struct cli_option rep_destroy_options[];
extern const struct cli_option rep_audit_options[];
extern const struct cli_option rep_evacuate_options[];
extern const struct cli_option rep_recall_options[];
extern const struct cli_option rep_url_options[];    /* of state, containers, metrics */

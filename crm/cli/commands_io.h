/* The commands of `crm`, for the table in crm/main.c. Each as cli_command.run. */
#pragma once

#include "common/cli/options.h"

/* Gives an exit status, or an error code with its text in `err`. */
int crm_serve_run(const struct invocation *call, struct err *err);
int crm_plan_run(const struct invocation *call, struct err *err);

extern const struct cli_option crm_serve_options[];
extern const struct cli_option crm_url_options[];

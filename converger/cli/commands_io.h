/* The commands of `converger`, for the table in converger/main.c. Each as cli_command.run. */
#pragma once

#include "common/cli/options.h"

/* Give an exit status, or an error code with its text in `err`. */
int converger_serve_run(const struct invocation *call, struct err *err);
int converger_plan_run(const struct invocation *call, struct err *err);
int converger_once_run(const struct invocation *call, struct err *err);

extern const struct cli_option converger_serve_options[];
extern const struct cli_option converger_url_options[];

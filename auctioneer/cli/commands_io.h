/* The commands of `auctioneer`, for the table in auctioneer/main.c. Each as cli_command.run. */
#pragma once

#include "auctioneer/auctioneer.h"
#include "common/cli/options.h"

/* Give an exit status, or an error code with its text in `err`. */
int auctioneer_serve_run(const struct invocation *call, struct err *err);
int auctioneer_simulate_run(const struct invocation *call, struct err *err);

/* The settings of the auction from auctioneer_rules_options; the rest of `ret` is left as it is. */
int auctioneer_rules(const struct invocation *call, struct auctioneer_config *ret, struct err *err);

extern const struct cli_option auctioneer_serve_options[];
extern const struct cli_option auctioneer_rules_options[];
extern const struct cli_option auctioneer_simulate_options[];
extern const struct cli_option auctioneer_url_options[];

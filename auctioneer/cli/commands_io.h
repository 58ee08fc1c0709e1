/* The commands of `auctioneer`, for the table in auctioneer/main.c. Each as cli_command.run. */
#ifndef AUCTIONEER_CLI_COMMANDS_IO_H
#define AUCTIONEER_CLI_COMMANDS_IO_H

#include "common/cli/options.h"

int auctioneer_serve_run(const struct invocation *call, struct err *err);

extern const struct cli_option auctioneer_serve_options[];
extern const struct cli_option auctioneer_url_options[];

#endif

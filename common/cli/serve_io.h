/* What the `serve` commands of all roles share. */
#pragma once

#include "common/cli/options.h"
#include "common/shell/host_io.h"

/* --ca, --cert, --key, --log-level. */
extern const struct cli_option serve_options[];

/* --listen, --url, --bbs: of a role that one leads and that follows the board by the bbs. */
extern const struct cli_option serve_leader_options[];

/* Fills name, listen, tls and log level from the options of those names. Refuses an address or URL
 * that is none and files that cannot be read. */
int serve_host_config(const struct invocation *call, struct host_config *ret_host, struct err *err);

/* Runs the role until it ends, frees it, and gives the process's exit status or -code. */
int serve_role(struct role *role, const struct host_config *host, struct err *err);

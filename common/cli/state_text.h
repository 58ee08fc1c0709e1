/* What the `state` commands of auctioneer and converger show of their JSON. Pure. */
#ifndef COMMON_CLI_STATE_TEXT_H
#define COMMON_CLI_STATE_TEXT_H

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

/* `json`: on one line; else each member on lines of its own, indented, without brackets and quotes.
 * ERR_INVALID when the body is not JSON. */
int cli_state_text(struct bytes body, bool json, struct buf *out, struct err *err);

#endif

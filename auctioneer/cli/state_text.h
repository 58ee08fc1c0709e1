/* What `auctioneer state` shows of the auctioneer's own JSON. Pure. */
#ifndef AUCTIONEER_CLI_STATE_TEXT_H
#define AUCTIONEER_CLI_STATE_TEXT_H

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

/* `json`: on one line; else each member on lines of its own, indented, without brackets and quotes.
 * ERR_INVALID when the body is not JSON. */
int auctioneer_state_text(struct bytes body, bool json, struct buf *out, struct err *err);

#endif

/* What the `state` commands of auctioneer and converger show of their JSON. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

/* `json`: on one line; else each member on lines of its own, indented, without brackets and quotes.
 * ERR_INVALID when the body is not JSON. */
int cli_state_text(struct bytes body, bool json, struct buf *out, struct err *err);

/* Whether who says this of itself leads. */
enum state_role {
    STATE_LEADS, /* or says nothing of the kind */
    STATE_STANDS_BY,
};

/* Of a standby: its name, and who leads, in the arena; "" = it does not know. Of what is not
 * understood, STATE_LEADS. */
enum state_role cli_state_role(struct arena *a, struct bytes body, const char **ret_name,
                               const char **ret_leader_url);

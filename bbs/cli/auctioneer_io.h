/* What the leading auctioneer knows of what it has not placed. */
#pragma once

#include "bbs/cli/session_io.h"
#include "common/cli/commands.h"

/* Set by the caller: session and call; the leader is sought once. */
struct auctioneer_asker {
    struct session *s;
    const struct invocation *call;
    bool leader_sought;
    const char *leader; /* its URL; "" = nobody leads */
};

/* Its answer to GET path ("/why?unit=web/3"), in the session's arena; no bytes when it cannot be
 * asked, or knows nothing of it. */
struct bytes auctioneer_ask(struct auctioneer_asker *q, const char *path);

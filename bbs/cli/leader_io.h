/* What a leader knows that the board does not say: what the auctioneer has not placed, and whether
 * one answers at all. */
#pragma once

#include "bbs/cli/leader_words.h"
#include "bbs/cli/session_io.h"

/* Set by the caller: session and role. The leader is sought once, and not asked again when it did
 * not answer. A caller who knows the board's leaders sets `sought`, `complete` and `url` too. */
struct leader_asker {
    struct session *s;
    const char *role; /* "auctioneer", "converger" */
    bool sought;
    bool complete;       /* all records of leaders were seen: no url means that nobody leads */
    const char *url;     /* "" = nobody leads, as far as one sees */
    const char *silence; /* why it did not answer; NULL = it did, or was not asked */
};

/* Its answer to GET path ("/why?unit=web/3"), in the session's arena; no bytes when it cannot be
 * asked, or knows nothing of it. */
struct bytes leader_ask(struct leader_asker *q, const char *path);

/* Why nothing that waits for such a leader goes on: leader_lack_text(), of what was found. One that
 * was not sought yet is, and is asked for its state. */
const char *leader_lack(struct leader_asker *q);

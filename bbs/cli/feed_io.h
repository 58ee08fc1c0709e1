/* Following the board's feed from the command line: from bbs to bbs, until Ctrl-C. */
#ifndef BBS_CLI_FEED_IO_H
#define BBS_CLI_FEED_IO_H

#include "bbs/cli/session_io.h"
#include "board.pb-c.h"

/* Set by the caller; the pointers are looked at anew before each connection. */
struct feed_follow {
    Board__Selector **selectors;
    size_t selector_count;
    char *epoch; /* position to resume at; "" = none */
    const int64_t *revision;
    const bool *seen;             /* a snapshot was complete once */
    void (*connect)(void *owner); /* a new connection: what was cut off is dropped */
    /* Takes bytes of the feed; a negative code ends the following, with that code. It is called
     * once a second at least while a bbs answers. */
    int (*take)(void *owner, struct bytes bytes, struct err *err);
    /* Called between two connections, when no bbs has news; the same ends the following. */
    int (*idle)(void *owner, struct err *err);
    void *owner;

    bool gap; /* it was told that no news come */
    int taken;
};

/* Follows until Ctrl-C ("interrupted") or an error that another bbs, or the same one later, cannot
 * put right; while there never was one that answered, for the session's time at most. A gap is told
 * on standard error, and its end. */
int feed_follow(struct session *s, struct feed_follow *f, struct err *err);

#endif

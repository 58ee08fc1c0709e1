/* Following the board's feed from the command line: from bbs to bbs, until Ctrl-C. */
#pragma once

#include "bbs/cli/session_io.h"
#include "board.pb-c.h"

/* Set by the caller; the pointers are looked at again before each connection. */
struct feed_follow {
    Board__Selector **selectors;
    size_t selector_count;
    char *board_generation; /* position to resume at; "" = none */
    const int64_t *revision;
    const bool *seen;      /* a snapshot was complete once */
    const bool *caught_up; /* all was reported up to a heartbeat of this connection */
    const bool *behind; /* a snapshot to compare is beyond the position, which is gone on from; NULL
                           = the position is the snapshot's then */
    /* A new connection: what was cut off is dropped. `compares`: a snapshot comes, and what was not
     * reported before is reported now. */
    void (*connect)(void *owner, bool compares);
    /* Takes bytes of the feed; a negative code ends the following, with that code, but for
     * UNAVAILABLE: this bbs is of no use now. It is called once a second at least while a bbs
     * answers. */
    int (*take)(void *owner, struct bytes bytes, struct err *err);
    /* Called between two connections, when no bbs gives the feed; the same ends the following. */
    int (*idle)(void *owner, struct err *err);
    void *owner;

    bool gap; /* it was said that no bbs gives the feed */
    int taken;
    bool to_compare;       /* it was resumed, and not compared since */
    bool compares;         /* the connection is to compare */
    bool turned;           /* it has ended for that, or after it */
    int64_t compare_at_ms; /* not before: one broke off */
};

/* Follows until Ctrl-C ("interrupted") or an error that another bbs, or the same one later, cannot
 * put right; while there never was one that answered, for the session's time at most. A gap is
 * reported on standard error, and its end. What goes on at another bbs is compared with a snapshot
 * once it has caught up: a bbs whose watch of etcd left out a change in silence tells it when it
 * finds that, but whoever has left for another one, which has sent the change to others, is
 * told by nobody (common/client/feed_client.h). */
int feed_follow(struct session *s, struct feed_follow *f, struct err *err);

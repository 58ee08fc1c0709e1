/* What `bbs events` makes of the board's feed: one line a change. Pure. */
#pragma once

#include "bbs/cli/frames.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/map.h"

#include <stdbool.h>
#include <stdint.h>

struct events {
    bool json;
    bool show_secrets; /* false: hidden in JSON; lines for people hold none */
    bool times;        /* with the time of each change, `now_ns` */
    int64_t now_ns;    /* wall time when the bytes came; set before events_take() */
    bool snapshot;     /* records of the snapshot are coming: they are no changes */
    bool seen;         /* a snapshot was complete once */
    bool caught_up;    /* all was reported up to a heartbeat of this connection */
    bool compares;     /* the snapshot tells what was not reported before */
    bool fresh;        /* the snapshot has nothing to be compared with */
    bool missed;       /* that there was such was reported */
    bool older;        /* this connection's snapshot is older than what was reported: of no use */
    /* The snapshot that was compared is beyond the position: it is gone on from there. */
    bool behind;
    /* Its revision: up to it, what it has not may go in the ordinary way; 0 = none. */
    int64_t compared;
    struct map known;  /* key -> struct events_known: of what was reported last */
    uint64_t listing;  /* number of the snapshot */
    char board_generation[64]; /* position to resume at; "" = none */
    int64_t revision;
    /* Of the last change that was reported: one above the position, until a heartbeat. */
    int64_t change_revision;
    struct frames frames;
    struct buf out; /* lines; the caller takes and clears them */
};

/* Lines are JSON, or for people. */
void events_init(struct events *e, bool json);
void events_done(struct events *e);

/* A new connection: what was cut off is dropped, the position stays. `compares`: a snapshot was
 * asked for although there is a position. Of every snapshot but the first, and one of another
 * board generation, what differs from what was reported is reported as changes, after a line that
 * says that changes were missed ("change":"missed"). One that was asked for to compare tells so
 * only what is not newer than the position, from which the feed is to be resumed then (`behind`):
 * it does not have all that happened since. */
void events_connect(struct events *e, bool compares);

/* Takes bytes of the feed's answer. ERR_INVALID when they are no feed; ERR_UNAVAILABLE when this
 * bbs is behind another one that reported before. */
int events_take(struct events *e, struct bytes bytes, struct err *err);

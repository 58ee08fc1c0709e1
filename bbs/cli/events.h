/* What `bbs events` makes of the board's feed: one line a change. Pure. */
#ifndef BBS_CLI_EVENTS_H
#define BBS_CLI_EVENTS_H

#include "bbs/cli/frames.h"
#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct events {
    bool json;
    bool show_secrets; /* false: hidden in JSON; lines for people hold none */
    bool times;        /* with the time of each change, `now_ns` */
    int64_t now_ns;    /* wall time when the bytes came; set before events_take() */
    bool snapshot;     /* records of the snapshot are coming: they are no changes */
    bool seen;         /* a snapshot was complete once */
    char epoch[64];    /* position to resume at; "" = none */
    int64_t revision;
    struct frames frames;
    struct buf out; /* lines; the caller takes and clears them */
};

void events_init(struct events *e, bool json);
void events_done(struct events *e);

/* A new connection: what was cut off is dropped, the position stays. */
void events_connect(struct events *e);

/* Takes bytes of the feed's answer. ERR_INVALID when they are no feed. */
int events_take(struct events *e, struct bytes bytes, struct err *err);

#endif

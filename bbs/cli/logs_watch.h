/* Which containers an app has, as the board's feed tells it: for `bbs logs -f`. Pure. */
#pragma once

#include "bbs/cli/frames.h"
#include "bbs/cli/logs.h"
#include "common/base/map.h"

enum {
    LOGS_FOLLOWED_MAX = 64, /* containers at once, each with a stream of its own */
    /* Records of the app: what is beyond is counted, and not followed. */
    LOGS_WATCHED_MAX = 16 * LOGS_FOLLOWED_MAX,
};

struct logs_watch {
    /* Set by the caller. */
    const char *name; /* what name_of_guid() takes */
    int32_t index;    /* -1 = all */
    /* A container is there, or will be: label, guids, index and cell_id are set, and borrowed.
     * `initial`: it was when the following began. May be reported again of the same. */
    void (*on_begin)(void *owner, const struct log_source *source, bool initial);
    /* No record names it any more. */
    void (*on_end)(void *owner, const char *instance_guid, const char *why);
    void *owner;

    bool caught_up;   /* all was reported up to a heartbeat of this connection */
    bool compares;    /* a snapshot was asked for although there is a position */
    bool older;       /* this connection's snapshot is older than what was reported: of no use */
    bool seen;        /* a snapshot was complete once */
    size_t beyond;    /* records that had no room */
    bool definitions; /* more than one definition was seen: labels are process_guid/index */
    char board_generation[64]; /* position to resume at; "" = none */
    int64_t revision;

    struct frames frames;
    struct map records; /* key -> what it said */
    bool snapshot;
    char first_guid[256];
};

/* Every member up to `owner` is set before. */
void logs_watch_init(struct logs_watch *w);
void logs_watch_done(struct logs_watch *w);
void logs_watch_connect(struct logs_watch *w, bool compares); /* as events_connect() */

/* ERR_INVALID when the bytes are no feed; ERR_UNAVAILABLE when this bbs is behind another one that
 * reported before. */
int logs_watch_take(struct logs_watch *w, struct bytes bytes, struct err *err);

/* Whether the app is not on the board any more, and nothing of it. */
bool logs_watch_is_gone(const struct logs_watch *w);

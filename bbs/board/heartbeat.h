/* The heartbeat of this bbs, and those that it sees */
#pragma once

#include "common/base/map.h"
#include "common/contract/effect.h"

#include <stdbool.h>

struct board;

enum {
    HEARTBEAT_CELLS_MAX = 20000,
    HEARTBEAT_LEADERS_MAX = 64,
    HEARTBEAT_SITES_MAX = 4096,
    HEARTBEAT_BYTES_MAX = 1024 * 1024, /* of what one put tells; etcd refuses 1.5 MiB */
};

struct heartbeats {
    uint64_t call_id;
    uint64_t number;            /* of the last put */
    int64_t next_ns;
    int64_t sent_ns;            /* when the last put was sent */
    int64_t unconfirmed_ns;     /* when the first put without answer was sent; NEVER_NS = none */
    bool confirmed;             /* ever */
    struct map cells;           /* heard: cell_id -> struct heard */
    struct map leaders;
    struct map sites;           /* cloudlet -> struct heard */
    size_t bytes;               /* that all weigh in a put */
};

/* Puts the heartbeat when it is due; the next due time. */
void heartbeats_timer(struct board *b, struct effects *out);
int64_t heartbeats_due_ns(const struct board *b);
void heartbeats_free(struct board *b);
/* Deletes what this bbs has left on the board; `done` comes when that is known. */
void heartbeats_leave(struct board *b, struct effects *out);
/* Since when (monotonic) the heartbeat key of this bbs has not changed; INT64_MIN when there is
 * none. */
int64_t heartbeat_since_ns(const struct board *b, const char *boot_id);
/* The mod-revision of our own heartbeat key in the copy; 0 when it is not there. */
int64_t heartbeat_revision(const struct board *b);

/* Emptying the cell (docs/instances.md, Evacuation; rep-auctioneer.md 2.6). While it lasts the
 * cell takes no work, judges by harmonise_evacuating(), looks at everything every 10 s, and tells
 * the board and /state that it evacuates. It ends when no container and no record of the cell is
 * left: then the cell's own record goes and the process ends. At the time limit the rep stops what
 * is left: 10 s for its end, 5 s more for bbs to hear of it, then it is deleted without a word,
 * and 5 s later the process ends whatever is left.
 *
 * A rep that goes on with an evacuation of its predecessor keeps to the limit by the machine's
 * monotonic clock. If the machine was started again, or a rep of an older version ran in between,
 * it goes by the wall clock: a minute at least, a whole limit at most. It does so once it has
 * adopted its containers; if its driver never lists, it ends 20 s after the limit. */
#pragma once

#include "board.pb-c.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/drain/kept.h"

#include <stdbool.h>

struct rep;
struct container;

#define EVACUATION_NS (600 * SECOND_NS) /* the limit, unless the configuration says another */
#define EVACUATION_INTERVAL_NS (10 * SECOND_NS)
/* What it leaves then at least to what runs, so that it can be replaced: a wall clock that jumped
 * ahead ends nothing at once, nor does an evacuation of long ago. A shorter limit stays the limit.
 * */
#define EVACUATION_RESUMED_NS (60 * SECOND_NS)
#define EVACUATION_HEARD_NS (5 * SECOND_NS)   /* after the grace of a stop: for bbs to hear of it */
#define EVACUATION_DELETED_NS (5 * SECOND_NS) /* after that: for the driver to delete it */
#define EVACUATION_LEAVE_NS (10 * SECOND_NS)  /* without containers: for the board to hear of it */

/* Code of the process when containers were left at the end. */
enum { EXIT_NOT_EMPTY = 1 };

struct drain {
    bool on;
    bool over;             /* the limit has passed: what is left was told to stop */
    bool abandoned;        /* and what did not end in time is deleted */
    int64_t until_ns;      /* the limit, monotonic */
    int64_t over_ns;       /* since when; or when the last of them has SIGTERM, if that is later */
    int64_t until_wall_ns; /* the same for the board, so that a restarted rep keeps to it */
    int64_t empty_ns;      /* since when there is no container; NEVER_NS: there is one */
    bool leaving;          /* its record is asked to go: no heartbeats, no incarnation any more */
    uint64_t leave_id;     /* of the open call; 0 = none */
    const char *leave_url;
    unsigned failures;
    int64_t retry_ns;
    struct drain_kept kept;
};

/* EVENT_START: goes on with what a rep of this state directory had begun before us and has not
 * ended, whether a bbs knows of it or not. If its end would have come by now, had its rep lived,
 * nobody does. */
void drain_start(struct rep *r, struct effects *out);

/* Begins; begun before: nothing. `why` goes to the log. */
void drain_begin(struct rep *r, const char *why, struct effects *out);

/* A container of an earlier rep was found: past the limit it is stopped or deleted at once. */
void drain_adopted(struct rep *r, struct container *c, struct effects *out);

/* The end of each step, after reconcile(): the limit, and the end. May give EFFECT_EXIT. */
void drain_step(struct rep *r, struct effects *out);

/* How often everything is looked at: the configuration's interval, or 10 s while it lasts. */
int64_t drain_interval_ns(const struct rep *r);

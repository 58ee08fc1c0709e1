/* The round of an auction: ask the cells, decide, hand the work out, place again what came back,
 * tell the board why the rest stays unplaced (design.md 5; rep-auctioneer.md 4, 5.4). No fixed
 * delay: a batch is what arrived during the round before. Pure: embedded in the role, driven by its
 * events. */
#pragma once

#include "auctioneer/freeing.h"
#include "auctioneer/report.h"
#include "auctioneer/slices.h"

/* Instances and tasks of one round; more wait for the next, which follows at once. */
enum { ROUND_JOBS_MAX = 65536 };
/* While something is unplaced the cells are asked so often whether they have more room. */
#define ROUND_LOOK_NS (2 * SECOND_NS)
/* When work came back in the round and something was refused, sooner: what came back is kept apart
 * from its cell by then. At first after so long, then after twice as long each time. */
#define ROUND_AGAIN_NS (20 * MILLISECOND_NS)

enum round_phase {
    ROUND_IDLE,
    ROUND_LOOKING,    /* the cells are being asked */
    ROUND_COMMITTING, /* work is on its way to cells */
};

/* One instance or task of the round. */
struct round_job {
    struct entry *entry;   /* NULL once it was given back to the backlog */
    struct wanted *wanted; /* a reference */
    int32_t index;
    struct cell *cell; /* where it goes, or went; NULL = nowhere yet */
    bool settled;      /* the cell took it */
    const char *refusal; /* why it went nowhere when last decided; it is final when nothing is on
                            its way that may come back and make room */
    bool lacks_room;     /* it is so for want of room */
};

/* What happened in a round. */
struct round_counts {
    uint64_t number;
    uint32_t jobs, placed, refused, returned, cells;
    int64_t duration_ns;
};

TAILQ_HEAD(commit_list, cell_commit);

struct auction {
    /* Set by the owner before auction_init. */
    uint64_t *next_call_id;
    const struct feed_client *feed_client;
    struct leader *leader;
    struct backlog *backlog;
    struct cells *cells;
    const struct slices *slices;
    struct report *report;
    const struct schedule_rules *rules;
    int64_t retry_interval_ns; /* of what stays unplaced */

    enum round_phase phase;
    struct arena arena; /* of the round */
    struct round_job *jobs;
    size_t job_count;
    struct commit_list waiting, open; /* commits */
    size_t open_count;
    bool came_back; /* some work, since the last decision */
    int64_t began_ns;
    int64_t look_ns;  /* not before: the next look for more room */
    int64_t again_wait_ns; /* after rounds in which work came back and something was refused, one
                              after another: the wait before the last one's successor */
    int64_t sweep_ns; /* not before: everything unplaced is tried again */
    size_t sweep_left;
    bool sweeping; /* the present round is part of a sweep */
    bool by_time;  /* the present batch is tried only because it was not for long */
    struct freeing freeing; /* what the last round refused for want of room */
    bool asks_few; /* LOOKING: at the awaited cells alone, whether a round is worth while */
    struct round_counts now, last;
};

void auction_init(struct auction *x);
void auction_done(struct auction *x);

/* Give it every event, after feed client and leader. True if the event was its own. */
bool auction_step(struct auction *x, const struct event *ev, struct effects *out);

/* Not the leader any more: lets go of everything at once. Calls under way are not listened to. */
void auction_stop(struct auction *x, const struct event *ev, struct effects *out);

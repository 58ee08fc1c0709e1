/* The inside of the rep: what its subjects share. Each subject is a file of its own; rep.c hands
 * events to them and ends each step with reconcile(). */
#ifndef REP_INSIDE_H
#define REP_INSIDE_H

#include "common/base/random.h"
#include "common/client/beater.h"
#include "common/client/boards.h"
#include "common/client/follower.h"
#include "rep/capacity.h"
#include "rep/container.h"
#include "rep/drain.h"
#include "rep/host_ports.h"
#include "rep/knowledge.h"
#include "rep/listing.h"
#include "rep/metrics.h"
#include "rep/moves.h"
#include "rep/rep.h"
#include "rep/session.h"
#include "rep/starts.h"

/* Settings where the configuration says 0 (design.md 5). */
#define RECONCILE_INTERVAL_NS (30 * SECOND_NS)
#define RESERVATION_NS (60 * SECOND_NS)
#define STOP_GRACE_NS (10 * SECOND_NS)

/* How long an answer of bbs, or a verb of the driver, may take. */
#define BOARD_CALL_TIMEOUT_NS (5 * SECOND_NS)
#define PREPARE_TIMEOUT_NS (60 * SECOND_NS)
#define START_TIMEOUT_NS (30 * SECOND_NS)
#define SIGNAL_TIMEOUT_NS (5 * SECOND_NS)
#define NOTE_TIMEOUT_NS (5 * SECOND_NS)
#define READ_TIMEOUT_NS (5 * SECOND_NS)
#define PORTS_TIMEOUT_NS (5 * SECOND_NS)
#define REMOVE_TIMEOUT_NS (30 * SECOND_NS)
#define LIST_TIMEOUT_NS (10 * SECOND_NS)

enum { REP_SELECTORS = 2 };

struct rep {
    struct role role;
    struct arena forever; /* strings of the configuration, selectors */
    struct rep_config config; /* defaults filled in */

    uint64_t next_id; /* of calls, subscriptions and verbs; only rises */
    struct boards boards;
    Board__Selector selector[REP_SELECTORS]; /* this cell's actual LRPs and tasks */
    const Board__Selector *selectors[REP_SELECTORS];
    struct follower follower;
    struct beater beater;
    Board__CellBeat beat;
    struct session session;

    struct containers containers;
    struct capacity capacity;
    struct knowledge knowledge;
    struct moves moves;
    struct listing listing;
    struct map fetches; /* id of an open call as text -> struct container */
    struct metrics metrics;
    struct drain drain;
    struct starts starts;
    struct port_returns port_returns;

    int64_t pass_ns;    /* when the next pass over everything is due */
    bool pass_wanted;   /* at the end of this step */
    bool pass_called;   /* because of something that happened, and not only as the time is over */
    bool passing_late;  /* the pass under way is one that nothing called for */
    bool ended;         /* EFFECT_EXIT was given: nothing more is done */
    bool unusable;      /* the configuration: the first event ends the role */
    struct err unusable_why;

    struct moment now;  /* of the present step */
    struct random random;
};

/* 100 ms, 200 ms ... 5 s after that many failures, and up to a quarter more by chance. */
int64_t rep_back_off_ns(struct rep *r, unsigned failures);

/* The memory that a container takes of the cell: its own, and its proxy's (rep-auctioneer.md 2.2). */
int32_t rep_memory_mb(const struct rep *r, const Rep__Note *about);

/* The present step failed: nothing is tried before a back-off. */
void rep_retry_later(struct rep *r, struct container *c);

/* Frees the memory of a container whose process is gone, once. */
void rep_give_memory(struct rep *r, struct container *c);

/* Frees what the container still had set aside and drops it from the table. */
void rep_container_gone(struct rep *r, struct container *c, const char *why, struct effects *out);

/* A verb for this container; it is then its one operation. The effect, for filling in. */
struct verb_call *rep_verb(struct rep *r, struct container *c, enum container_op op,
                           struct effects *out);

#endif

/* One leader a role (design.md 6, Fencing): a candidate asks the board for lead/<role>, which is
 * written once a term; its create-revision is the term. A leader renews by heartbeats. A standby
 * displaces a holder that no bbs has heard of for 6 s, by its own clock. Pure: embedded in a role,
 * driven by its events, fed by the role's feed client. */
#pragma once

#include "board.pb-c.h"
#include "common/base/random.h"
#include "common/client/heartbeat_sender.h"
#include "common/client/feed_client.h"
#include "common/client/liveness_report.h"

/* Unheard for so long, while at least one bbs counted on: displaced. */
#define LEADER_SILENCE_NS (6 * SECOND_NS)
/* Between two attempts, and how long one may take. */
#define LEADER_RETRY_NS (1 * SECOND_NS)
#define LEADER_CALL_NS (1 * SECOND_NS)

enum leader_change {
    LEADER_SAME,
    LEADER_ELECTED, /* may act, with leader_term() in every move */
    LEADER_DEPOSED, /* must stop acting at once */
};

struct leader {
    /* Set by the owner before leader_init; must stay valid. */
    struct boards *boards;
    const struct feed_client *feed_client; /* its selectors include the types "lead" and "beat" */
    const char *role;                /* of the lock: "auctioneer", "converger", "site" */
    const char *url;                 /* where this process listens, reported in the lock */

    char id[GUID_BYTES]; /* of this candidate, drawn at EVENT_START */
    bool leads;
    bool reported_leads; /* what leader_step() said last */
    bool stopping;
    bool releasing;                   /* the open call gives the lock back */
    int64_t term;                     /* while it leads */
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES]; /* of the term */
    struct heartbeat_sender heartbeat_sender;
    Board__LeaderHeartbeat heartbeat, *heartbeats[1];
    uint64_t call_id; /* of the open question for the lock; 0 = none */
    const char *asked_url;
    int64_t ask_ns; /* not before */

    /* The lock as the feed shows it. */
    bool held;
    bool held_by_us;
    int64_t held_term;
    /* For how long the holder has not been heard of. A failure detector expects its cells here too:
     * each heartbeat record is read once. It ticks with each step. */
    struct liveness_report liveness_report;
};

void leader_init(struct leader *l);
void leader_done(struct leader *l);

/* Give it all changes of the feed client, from within its callback; `now` is the event's. */
void leader_change(struct leader *l, enum feed_client_change change, const char *key,
                   const struct followed *record, struct moment now);

/* Give it every event, after the feed client. Adds its effects and its due time to `out`. A
 * deposition is reported in the same step in which it was learned. */
enum leader_change leader_step(struct leader *l, const struct event *ev, struct effects *out);

/* The licence of a leader's move; borrowed from `l`, valid while it leads. */
void leader_term(const struct leader *l, Board__Term *ret_term);

/* Gives the lock back and asks for it no more. leader_stopped() is true when the board has answered
 * or the attempt has failed. Leads no more from now on. */
void leader_stop(struct leader *l, const struct event *ev, struct effects *out);
bool leader_stopped(const struct leader *l);

/* The holder's record as the feed shows it, decoded into the arena; NULL if there is none. */
const Board__LeaderLockRecord *leader_holder(const struct leader *l, struct arena *a);

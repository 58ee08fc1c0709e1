/* Sends heartbeats: every 2 s to one bbs, after 1 s without an answer to the next (design.md 6).
 * Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/client/boards.h"

#define HEARTBEAT_INTERVAL_NS (2 * SECOND_NS)
#define HEARTBEAT_TIMEOUT_NS (1 * SECOND_NS)

enum heartbeat_verdict {
    HEARTBEAT_NONE,     /* the event was not its own, or no answer yet */
    HEARTBEAT_TAKEN,    /* a bbs counts us */
    HEARTBEAT_REJECTED, /* our incarnation or term is not the board's any more */
};

struct heartbeat_sender {
    struct boards *boards;
    Board__HeartbeatRequest request; /* filled by the role; pointers must stay valid */
    int64_t interval_ns; /* 0 = HEARTBEAT_INTERVAL_NS; set after heartbeat_sender_init() */
    int64_t timeout_ns;  /* 0 = HEARTBEAT_TIMEOUT_NS; likewise */
    bool on;                    /* nothing is sent while false */
    uint64_t call_id;
    const char *url;   /* the bbs that the open call went to */
    unsigned failures; /* bbs that failed one after the other */
    int64_t next_ns;
    int64_t sent_ns;
    int64_t taken_ns; /* last answer; 0 = never */
};

/* Off; the role fills `request` and calls heartbeat_sender_start(). */
void heartbeat_sender_init(struct heartbeat_sender *b, struct boards *boards);

/* Sends at once and from now on. Also after `request` changed: the answer to an older heartbeat is
 * then no more listened to. */
void heartbeat_sender_start(struct heartbeat_sender *b, const struct event *ev,
                            struct effects *out);

/* No more heartbeats; the answer under way is ignored. */
void heartbeat_sender_stop(struct heartbeat_sender *b);

/* Give it every event. After REJECTED it goes on until stopped. Adds its due time to `out`. */
enum heartbeat_verdict heartbeat_sender_step(struct heartbeat_sender *b, const struct event *ev,
                                             struct effects *out);

/* Who was heard of, and for how long not: the windows of the failure detector and of the standbys
 * of a leader (design.md 6, Heartbeats). Cells, leaders and sites send heartbeats to a bbs, which
 * tells in its heartbeat record whom it heard; here these records become one silence for each of
 * them that is expected to send heartbeats. Pure: the clock is the caller's.
 *
 *   A bbs counts while its heartbeat record changed within 4 s.
 *   Time counts only while at least one bbs counts, at most 1 s a tick.
 *   All windows start again: after an own standstill, while the feed has a gap, with a new raft
 *   term of etcd, and when the owner says so (its new term).
 *   When a bbs is lost, the windows of those that it was the last to hear start again: once for
 *   each, until somebody hears it again.
 *
 * A tick costs as much as there are bbs, a heartbeat as much as it names, a lost bbs as much as it
 * was the last to hear. Silence is a difference on one clock: nothing walks the silent ones. */
#pragma once

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/contract/moment.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stdint.h>

/* A bbs counts while its heartbeat record changed within this time. */
#define LIVENESS_REPORT_BBS_COUNTS_NS (4 * SECOND_NS)
/* The owner ticks so often; one tick counts at most TICK_MAX, and after a longer standstill the
 * windows start again. */
#define LIVENESS_REPORT_TICK_NS (500 * MILLISECOND_NS)
#define LIVENESS_REPORT_TICK_MAX_NS (1 * SECOND_NS)
#define LIVENESS_REPORT_STANDSTILL_NS (2 * SECOND_NS)

enum liveness_report_kind {
    LIVENESS_REPORT_CELL,
    LIVENESS_REPORT_LEADER,
    LIVENESS_REPORT_SITE,
    LIVENESS_REPORT_KIND_COUNT
};

struct voice; /* one bbs, as its heartbeat record tells */
struct liveness_report_names;

/* Of one cell, leader or site. */
struct silence {
    TAILQ_ENTRY(silence) link;  /* of its kind; the longest silence comes first */
    TAILQ_ENTRY(silence) named; /* while `voice` */
    struct liveness_report_names *of;   /* its kind */
    struct voice *voice;        /* the last bbs to name it; NULL = none, or it is lost */
    uint64_t
        incarnation;  /* of the cell, the leader's term, the session of a site: a heartbeat of
                       * another is not heard */
    int64_t since_ns; /* counted time when it was heard */
    uint64_t heard;   /* how often it was named since it is expected */
    bool excused;     /* a bbs that heard it was lost, and it was not heard since */
    char name[];      /* cell id, role, or cloudlet */
};

TAILQ_HEAD(silence_list, silence);

struct liveness_report {
    struct map voices; /* key of a heartbeat record -> struct voice */
    struct liveness_report_names {
        struct map by_name; /* -> struct silence */
        struct silence_list list;
    } names[LIVENESS_REPORT_KIND_COUNT];
    int64_t looked_ns;  /* monotonic time of the last tick */
    int64_t ticked_ns;  /* sum of the ticks, each at most TICK_MAX */
    int64_t counted_ns; /* the same, while a bbs counted */
    int64_t restarted_ns;    /* counted time when all windows started again */
    bool counting;      /* at least one bbs counted at the last tick */
    uint64_t raft_term; /* the highest one heard of; 0 = none */
};

void liveness_report_init(struct liveness_report *h);
void liveness_report_done(struct liveness_report *h);

/* Another copy begins: no bbs counts until its record changes. */
void liveness_report_reset(struct liveness_report *h);

/* It is expected to send heartbeats with this incarnation or term. Its window begins now if it was
 * not. */
void liveness_report_expect(struct liveness_report *h, enum liveness_report_kind kind,
                            const char *name, uint64_t incarnation);

/* It is not expected any more. */
void liveness_report_forget(struct liveness_report *h, enum liveness_report_kind kind,
                            const char *name);

/* The heartbeat record at `key` changed; was only read, in a snapshot, which may be that of a bbs
 * long dead; or is gone. Tick first. */
void liveness_report_heartbeat(struct liveness_report *h, const char *key,
                               const Board__HeartbeatRecord *heartbeat);
void liveness_report_read(struct liveness_report *h, const char *key,
                          const Board__HeartbeatRecord *heartbeat);
void liveness_report_gone(struct liveness_report *h, const char *key);

/* All windows start again. */
void liveness_report_restart(struct liveness_report *h);

/* Time passes. `current`: the feed has no gap. Twice at one time is once. */
void liveness_report_tick(struct liveness_report *h, int64_t now_ns, bool current);

/* For how long it was not heard of; 0 of one that is not expected. */
int64_t liveness_report_silent_ns(const struct liveness_report *h, enum liveness_report_kind kind,
                                  const char *name);
int64_t silence_ns(const struct liveness_report *h, const struct silence *s);

/* NULL = it is not expected. */
const struct silence *liveness_report_find(const struct liveness_report *h,
                                           enum liveness_report_kind kind, const char *name);

/* The longest silence of the kind; the next shorter one is TAILQ_NEXT(s, link). NULL = nobody is
 * expected. */
const struct silence *liveness_report_longest(const struct liveness_report *h,
                                              enum liveness_report_kind kind);

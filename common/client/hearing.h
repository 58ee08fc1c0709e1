/* Who was heard of, and for how long not: the windows of the failure detector and of the standbys
 * of a leader (design.md 6, Heartbeats). Cells and leaders send heartbeats to a bbs, each bbs tells
 * in its heartbeat record whom it heard; here these records become one silence for each cell and
 * leader that is expected to send heartbeats. Pure: the clock is the caller's.
 *
 *   A bbs counts while its heartbeat record changed within 4 s.
 *   Time counts only while at least one bbs counts, at most 1 s a tick.
 *   All windows start anew: after an own standstill, while the feed has a gap, with a new raft term
 *   of etcd, and when the owner says so (its new term).
 *   The loss of a bbs starts the windows of those anew that it was the last to hear, once for each
 *   of them until it is heard again.
 *
 * A tick costs as much as there are bbs, a heartbeat as much as it names, a lost bbs as much as it
 * was the last to hear: silence is a difference on one clock, and nobody is walked who is not
 * heard. */
#ifndef COMMON_CLIENT_HEARING_H
#define COMMON_CLIENT_HEARING_H

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/contract/moment.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stdint.h>

/* A bbs counts while its heartbeat record changed within this time. */
#define HEARING_BBS_COUNTS_NS (4 * SECOND_NS)
/* The owner ticks so often; one tick counts at most TICK_MAX, and after a longer standstill the
 * windows start anew. */
#define HEARING_TICK_NS (500 * MILLISECOND_NS)
#define HEARING_TICK_MAX_NS (1 * SECOND_NS)
#define HEARING_STANDSTILL_NS (2 * SECOND_NS)

enum hearing_kind { HEARING_CELL, HEARING_LEADER, HEARING_KIND_COUNT };

struct voice; /* one bbs, as its heartbeat record tells */
struct hearing_names;

/* Of one cell or leader. */
struct silence {
    TAILQ_ENTRY(silence) link;  /* of its kind; the longest silence comes first */
    TAILQ_ENTRY(silence) named; /* while `voice` */
    struct hearing_names *of;   /* its kind */
    struct voice *voice;        /* the last bbs to name it; NULL = none, or it is lost */
    uint64_t session; /* of the cell, or the leader's term: a heartbeat of another is not heard */
    int64_t since_ns; /* counted time when it was heard */
    uint64_t heard;   /* how often it was named since it is expected */
    bool excused;     /* a bbs that heard it was lost, and it was not heard since */
    char name[];      /* cell id, or role */
};

TAILQ_HEAD(silence_list, silence);

struct hearing {
    struct map voices; /* key of a heartbeat record -> struct voice */
    struct hearing_names {
        struct map by_name; /* -> struct silence */
        struct silence_list list;
    } names[HEARING_KIND_COUNT];
    int64_t looked_ns;  /* monotonic time of the last tick */
    int64_t ticked_ns;  /* sum of the ticks, each at most TICK_MAX */
    int64_t counted_ns; /* the same, while a bbs counted */
    int64_t anew_ns;    /* counted time when all windows started anew */
    bool counting;      /* at least one bbs counted at the last tick */
    uint64_t raft_term; /* the highest one heard of; 0 = none */
};

void hearing_init(struct hearing *h);
void hearing_done(struct hearing *h);

/* Another copy begins: no bbs counts until its record changes. */
void hearing_reset(struct hearing *h);

/* It is expected to send heartbeats with this session or term. Its window begins now if it was not.
 * */
void hearing_expect(struct hearing *h, enum hearing_kind kind, const char *name, uint64_t session);

/* It is not expected any more. */
void hearing_forget(struct hearing *h, enum hearing_kind kind, const char *name);

/* The heartbeat record at `key` changed; was only read, in a snapshot, which may be that of a bbs
 * long dead; or is gone. Tick first. */
void hearing_heartbeat(struct hearing *h, const char *key, const Board__HeartbeatRecord *heartbeat);
void hearing_read(struct hearing *h, const char *key, const Board__HeartbeatRecord *heartbeat);
void hearing_gone(struct hearing *h, const char *key);

/* All windows start anew. */
void hearing_anew(struct hearing *h);

/* Time passes. `current`: the feed has no gap. Twice at one time is once. */
void hearing_tick(struct hearing *h, int64_t now_ns, bool current);

/* For how long it was not heard of; 0 of one that is not expected. */
int64_t hearing_silent_ns(const struct hearing *h, enum hearing_kind kind, const char *name);
int64_t silence_ns(const struct hearing *h, const struct silence *s);

/* NULL = it is not expected. */
const struct silence *hearing_find(const struct hearing *h, enum hearing_kind kind,
                                   const char *name);

/* The longest silence of the kind; the next shorter one is TAILQ_NEXT(s, link). NULL = nobody is
 * expected. */
const struct silence *hearing_longest(const struct hearing *h, enum hearing_kind kind);

#endif

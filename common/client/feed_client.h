/* Follows the board's feed from inside a role: keeps a copy of the selected records, resumes after
 * a gap, changes to another bbs when heartbeats fail (design.md 2, Feed). Pure: embedded in a role,
 * driven by its events. */
#pragma once

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/base/random.h"
#include "common/client/boards.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "common/model/sighting.h"

/* Three heartbeats missed, one a second, and some grace: then another bbs is asked. */
#define FEED_CLIENT_SILENCE_NS (3500 * MILLISECOND_NS)
/* Of heartbeats that come one a second, a frame that comes so long after the last one tells that
 * this process, or the way to it, stood still. What was sent meanwhile lies there, is read in one
 * go, and says nothing of the time at which it is read: for FEED_CLIENT_SILENCE_NS. */
#define FEED_CLIENT_GAP_NS (1500 * MILLISECOND_NS)
/* Between two attempts, doubled at each failure. */
#define FEED_CLIENT_BACK_OFF_NS (100 * MILLISECOND_NS)
#define FEED_CLIENT_BACK_OFF_MAX_NS (5 * SECOND_NS)
/* A snapshot is asked for again after this time, up to a quarter sooner by chance, and compared
 * with what is held. For a bbs whose watch left out a change in silence has a wrong copy until its
 * own list finds that, and then it tells those who follow it; who has gone on at another bbs by
 * then, from the same position, is sent nothing, and nobody is by a bbs that ended first. As often
 * as a bbs lists etcd, and at about that cost. One that breaks off is asked for again after as
 * long. */
#define FEED_CLIENT_REFRESH_NS (600 * SECOND_NS)
/* So many tries before the first feed come to nothing while a cluster starts, in about 3 s: no
 * cause to warn. */
enum { FEED_CLIENT_CALM_FAILURES = 5 };
/* Bytes of an answer that is no feed which the log tells: a sentence or two. */
enum { FEED_CLIENT_REPORTED_MAX = 200 };
/* So many a bbs takes of one feed client. */
enum { FEED_CLIENT_TOPICS_MAX = 4096 };
/* A record has at most 1 MiB; a larger frame is malformed. */
enum { FEED_CLIENT_FRAME_MAX = 2 * 1024 * 1024, FEED_CLIENT_BOARD_GENERATION_BYTES = 64 };

/* A record as the board holds it. */
struct followed {
    struct blob *record; /* format version, then the message */
    int64_t create_revision;
    int64_t mod_revision;
    struct sighting seen, made; /* by this process: this revision, its creation */
    uint64_t listing;           /* the feed client's, when a snapshot last had it */
};

/* What a step of the feed client learned. For DELETE `record` is the last value. Borrowed. */
enum feed_client_change {
    FEED_CLIENT_RESET,
    FEED_CLIENT_PUT,
    FEED_CLIENT_DELETE,
    FEED_CLIENT_CURRENT
};

struct feed_client {
    struct boards *boards; /* shared with the role's other calls */
    const Board__Selector *const *selectors;
    size_t selector_count;
    /* Called in order for each change; `f` is already changed. FEED_CLIENT_RESET: the copy was
     * emptied, a snapshot follows; FEED_CLIENT_CURRENT: the snapshot is complete, or a
     * resumed feed has caught up. A change may be reported again after a resume if it was reported
     * before. Of a snapshot that was asked for to compare, only what differs is reported, as
     * changes. The callback must not change the feed_client. */
    void (*on_change)(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record, struct effects *out);
    void *context;
    int64_t back_off_max_ns; /* 0 = FEED_CLIENT_BACK_OFF_MAX_NS, which suits thousands of them */
    int64_t silence_ns; /* another bbs is asked after it; 0 = FEED_CLIENT_SILENCE_NS */
    /* Between two attempts half of the time at least, the rest by chance: of those that are far
     * away and wait long, so that they do not all come back in one instant. */
    bool spread;

    struct map records; /* key -> struct followed */
    struct map topics;     /* sets of topics: those whose records are held, */
    struct map new_topics; /* and those of which a snapshot is to be reported */
    bool topics_added;     /* since the open subscription was asked for */
    bool tells_topics;     /* it has reported nothing but records of new topics yet */
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES];
    int64_t revision;        /* position: all changes up to it are in the copy; 0 = none */
    int64_t reached;         /* while that is 0: what it was, in this board generation */
    int64_t change_revision; /* of the last change; more of the same revision may follow */
    bool snapshot;           /* between RESET and CURRENT */
    bool refreshes;          /* a snapshot was asked for to compare; what is held stays meanwhile */
    uint64_t listing;        /* number of that snapshot */
    int64_t refresh_ns;      /* when the next one is asked for; 0 = not yet drawn */
    bool current;            /* the snapshot is complete, of each topic too, and heartbeats come */
    bool was_current; /* once at least: before that nothing is broken */
    uint64_t call_id;        /* of the open subscription; 0 = none */
    int refused; /* its status, when that is not 200 and what it says has not come; 0 = no */
    const char *url;         /* of the bbs it is open to */
    struct buf partial;
    int64_t heard_ns; /* last frame */
    int64_t now_ns;   /* of this step */
    int64_t gathered_ns; /* what comes before then may have lain there for long */
    int64_t sent_ns;     /* what comes now was sent no sooner */
    int64_t reported_ns; /* all up to `revision` was sent no sooner: what comes is written since */
    int64_t retry_ns; /* when to subscribe again */
    unsigned failures;
    int64_t compared_revision; /* last heartbeat's */
    char boot_id[GUID_BYTES];  /* of the bbs whose heartbeat came last; "" = none */
    int64_t heartbeat_revision; /* of its heartbeat key then: an etcd that shows less lost writes */
};

/* Every member up to `spread` is set by the caller before. Selectors must outlive the
 * feed_client. */
void feed_client_init(struct feed_client *f);
void feed_client_done(struct feed_client *f);

/* The record at `key`, or NULL. Borrowed until the next event. */
const struct followed *feed_client_get(const struct feed_client *f, const char *key);

/* The copy has all records of one revision: a snapshot came to its end, and no other one has begun
 * since, not even one that broke off. Only then is what it has not gone. */
bool feed_client_complete(const struct feed_client *f);

/* All changes up to it were in the copy, if that was given up since: an answer of up to then is no
 * news. 0 = there was none of this board generation. */
int64_t feed_client_reached(const struct feed_client *f);

/* The records of this topic are followed too: a key, or a prefix of keys that ends in "/", as in
 * Board__FeedRequest. Their snapshot is reported as puts from the next step on, and
 * FEED_CLIENT_CURRENT when it is complete; what is held already stays. False: it follows
 * FEED_CLIENT_TOPICS_MAX others. Adds its due time to `out`. */
bool feed_client_add_topic(struct feed_client *f, const char *topic, struct effects *out);

/* The topic is followed, and its snapshot was reported. */
bool feed_client_holds_topic(const struct feed_client *f, const char *topic);

/* These topics are followed, at most FEED_CLIENT_TOPICS_MAX, in place of all before: everything is
 * told anew, from FEED_CLIENT_RESET to FEED_CLIENT_CURRENT. For whoever has added as many as he
 * can, and does not need all of them any more. Adds its due time to `out`. */
void feed_client_retake_topics(struct feed_client *f, const char *const *topics, size_t count,
                               struct effects *out);

/* Give it every event of the role, EVENT_START included. True if the event was its own. Adds its
 * effects and its due time to `out`. */
bool feed_client_step(struct feed_client *f, const struct event *ev, struct effects *out);

/* A bbs has answered elsewhere of another board generation than this one's: the next subscription
 * waits for no back-off. An open one stays: its bbs says so itself. Adds its due time to `out`. */
void feed_client_hurry(struct feed_client *f, struct effects *out);

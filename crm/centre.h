/* The link to the centre: its feed, the session with it, heartbeats. What is done next follows from
 * what the centre's board shows, so that an answer that is lost or late leads nowhere else. Pure:
 * embedded in the role, driven by its events.
 *
 * - no session: init, above all that the board has had, when this CRM may speak for the site;
 * - INIT: sync, for all records are here;
 * - NEED_SYNC: ready, when the site was compared with them;
 * - READY: what it is asked about itself. Maintenance is agreed to, an upgrade is begun, or fails;
 *   when the cloudlet goes, that the site holds nothing any more. Then what of the site has
 * changed: its cells, and what it holds that no record is of; or that its own bbs does not answer;
 * - ERRORS: ready, when that answers again;
 * - OFFLINE: back, for nobody heard of this session for too long, and now it is heard again; what
 *   follows is as at NEED_SYNC;
 * - another's session, after its own: it is over, somebody else speaks for the site. But for a v2
 *   that v1 was stopping when it came: v1 says fail, and its own session is the present one again.
 */
#pragma once

#include "common/client/boards.h"
#include "common/client/feed_client.h"
#include "common/client/heartbeat_sender.h"
#include "common/model/keys.h"

/* Between two heartbeats, and how long an answer may take: the way is long. */
#define CENTRE_HEARTBEAT_NS (5 * SECOND_NS)
#define CENTRE_HEARTBEAT_TIMEOUT_NS (3 * SECOND_NS)
/* A feed that says nothing for so long is broken; the longest time between two attempts. */
#define CENTRE_SILENCE_NS (15 * SECOND_NS)
#define CENTRE_BACK_OFF_MAX_NS (30 * SECOND_NS)
/* Between two reports of what of the site has changed. */
#define CENTRE_REPORT_NS (5 * SECOND_NS)
/* From a heartbeat that is taken to the next attempt of a feed that is broken, at most. */
#define CENTRE_HURRY_NS (3 * SECOND_NS)
/* Of a move; after one that failed, see centre_pause_ns(). */
#define CENTRE_CALL_NS (10 * SECOND_NS)
#define CENTRE_AGAIN_NS (1 * SECOND_NS)

/* How long to wait after so many failures one after the other: a second and more, as a centre that
 * has too much to do asks for, twice as long each time, up to CENTRE_BACK_OFF_MAX_NS; a third of it
 * at most by chance: a thousand sites that were refused together do not come back together. */
int64_t centre_pause_ns(unsigned failures, uint64_t chance);

enum { CENTRE_WHY_BYTES = 512 };

/* What the site says of itself with a move; borrowed. */
struct centre_site {
    bool may_speak;               /* it leads at the site, or is to come after who does */
    bool leads;                   /* no other CRM writes there */
    bool compared;                /* what the site holds was compared with the records */
    const char *identity;         /* "" = not known yet: nothing is said */
    const char *failed;           /* why the upgrade that is under way did; "" = it did not */
    bool takes_back;              /* v2, whose session is the board's, is stopped by this v1 */
    const char *lost;             /* that the site itself does not answer; "" = it does */
    const char *ails;             /* what else does not work there; "" = all does */
    size_t holds;                 /* objects of the centre */
    Board__EdgeResources *totals; /* NULL = they are not known now */
    uint32_t cells;
    bool told; /* it is known what of the site no record is of: so many, and the first of them */
    size_t foreign;
    char *const *foreign_names;
};

struct centre {
    /* Set by the owner before centre_init; must stay valid. */
    const char *cloudlet, *version;
    struct boards boards; /* with IDENTITY_CENTRE */
    /* Each change of its feed. */
    void (*on_change)(void *context, enum feed_client_change change, const char *key,
                      const struct followed *record);
    void *context;

    struct feed_client feed_client;
    struct heartbeat_sender heartbeat_sender;
    Board__SiteHeartbeat heartbeat;
    char board_generation[FEED_CLIENT_BOARD_GENERATION_BYTES]; /* of the session */
    uint64_t session; /* of this process, which the board has had; 0 = none */
    uint64_t call_id; /* of the open move; 0 = none */
    const char *call_url, *call_move;
    uint64_t call_session; /* of the last move, unless it was refused; of init the one that it
                            * opens: it is this process's, also when the answer was lost */
    int64_t seen_from; /* no move before the feed shows this revision */
    int64_t again_ns;  /* nor before */
    int64_t hurry_ns; /* the feed tries again then; 0 = by its own time */
    int64_t heartbeat_again_ns; /* no heartbeat before, after one that was rejected */
    unsigned failures;
    int64_t report_ns;          /* no report before */
    uint64_t reported;          /* hash of the last one that was taken in this session; 0 = none */
    uint64_t reporting;         /* of the one that is on its way */
    char why[CENTRE_WHY_BYTES]; /* what the last move came to nothing for; "" = it did not */
};

/* `boards` is filled, its current one is drawn at EVENT_START. */
void centre_init(struct centre *c);
void centre_done(struct centre *c);

enum centre_end {
    CENTRE_GOES_ON,
    CENTRE_DISPLACED, /* another CRM has opened a session after this one's: it speaks for the site
                       */
};

/* Give it every event: first what it hears, then, by what the site says of itself after that, what
 * it says. Both add their effects and their due time to `out`. */
void centre_hear(struct centre *c, const struct event *ev, struct effects *out);
enum centre_end centre_step(struct centre *c, const struct event *ev,
                            const struct centre_site *site, struct effects *out);

/* It speaks for the site no more: no heartbeats, no session. */
void centre_leave(struct centre *c);

/* What the centre's board has, in the arena; NULL = nothing. */
const Board__CloudletRecord *centre_cloudlet(const struct centre *c, struct arena *a);
const Board__CloudletInfoRecord *centre_info(const struct centre *c, struct arena *a);

/* Its feed has shown what was written with this revision. It does not wait for the heartbeat that
 * says that there is no more of that revision: the records of one transaction come together, but
 * for one in thousands, and who goes by half of it says again what was said, which is refused. */
bool centre_has_shown(const struct centre *c, int64_t revision);

/* How many records of this kind, RECORD_CLUSTERINST or RECORD_APPINST, the centre has of the site.
 */
size_t centre_count(const struct centre *c, enum record_type type);

/* Its own session is READY. */
bool centre_is_ready(const struct centre *c, struct arena *a);

/* Why it is not, for people, in the arena; "" = it is. */
const char *centre_waits_for(const struct centre *c, const struct centre_site *site,
                             struct arena *a);

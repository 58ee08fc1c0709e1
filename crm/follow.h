/* Makes the site follow the centre: compares what the centre's board says of this cloudlet's
 * clusters and app instances with what the site's board holds, does the works that follow from it,
 * and says so (docs/edge.md, What the CRM does). It keeps nothing that it could not find again.
 * Pure: embedded in the role, driven by its events. */
#pragma once

#include "common/client/leading.h"
#include "crm/centre.h"
#include "crm/health.h"
#include "crm/records.h"
#include "crm/reports.h"
#include "crm/site.h"
#include "crm/works.h"

/* Between two comparisons, while something changes; and of a call to a board. */
#define FOLLOW_AGAIN_NS (50 * MILLISECOND_NS)
#define FOLLOW_CALL_NS (10 * SECOND_NS)

/* The CRM vouches for the domains of its clusters for so long, so often, while the centre is heard:
 * what stands there and is not wanted by anybody is then known to be so. */
#define FOLLOW_DOMAIN_TTL_S 120
#define FOLLOW_DOMAIN_NS (30 * SECOND_NS)

enum {
    FOLLOW_MOVES_MAX = 256,     /* of a batch */
    FOLLOW_DEFINITIONS_MAX = 4, /* asked for at a time */
};

/* What a work asked for, and has no answer to. */
struct follow_call {
    uint64_t id; /* 0 = it waits for others, or, without a uid, is free */
    enum { FOLLOW_SLICE, FOLLOW_DEFINITION, FOLLOW_DESIRE, FOLLOW_REMOVE } kind;
    char *uid, *name;
    uint64_t request;
    const char *url;
};

struct follow {
    /* Set by the owner before follow_init; must stay valid. */
    struct leading *life; /* at the site */
    struct centre *centre;

    struct crm_board board;
    struct crm_works works;
    struct crm_reports reports;
    struct crm_records records;
    struct map watched; /* key of a record that is READY -> how it runs, and what was reported */
    struct follow_call calls[CRM_WORKS_MAX];
    bool follows;     /* the session was READY, and is this process's yet */
    bool epoch_known; /* the site has followed this board of the centre before */
    bool compared;    /* once in this session: what follows is known */
    size_t foreign;   /* objects that no record is of, and that may not be pruned; */
    char *foreign_names[EDGE_FOREIGN_TOLD_MAX]; /* the first of them */
    bool changed;                               /* something, since the last comparison */
    int64_t compare_ns;                         /* no comparison before */
    int64_t vouch_ns;                           /* the domains are vouched for again */
    int64_t centre_seen, site_seen;             /* changes of the feeds that were compared */
    uint64_t batch_id; /* of moves that are on their way to the centre; 0 = none */
    const char *batch_url;
    size_t batch_said;                  /* of its moves are no reports, and come first */
    char *batch_keys[FOLLOW_MOVES_MAX]; /* of the reports among them */
    size_t batch_count;
    int64_t seen_from; /* nothing is said before the centre's feed shows this revision, */
    int64_t say_ns;    /* nor before this time, */
    bool unsaid;       /* and something is to be */
    unsigned failures;
};

void follow_init(struct follow *f);
void follow_done(struct follow *f);

/* Changes of the site's feed. */
void follow_site_change(struct follow *f, enum feed_client_change change, const char *key,
                        const struct followed *record);

/* Changes of the centre's. */
void follow_centre_change(struct follow *f, enum feed_client_change change, const char *key,
                          const struct followed *record);

/* Give it every event after leader and centre have had theirs. `epoch_known`: what has no record
 * may be pruned once all records are here. */
void follow_step(struct follow *f, const struct event *ev, bool epoch_known, struct effects *out);

/* What would be done now, in the arena: for people. */
void follow_plan(const struct follow *f, struct arena *a, struct crm_plan *ret);

/* The CRMs that come and go at a site (edge_play.h): of each version a process, and the program
 * that starts and stops them (`--launch`), which does what the story says. */
#pragma once

#include "test/sim/stories/edge_play.h"

#include "board.pb-c.h"

/* Versions 1.0, 2.0, 3.0: crm-1.paris, crm-2.paris, crm-3.paris. */
enum { CRMS_VERSIONS = 3 };

/* What `start VERSION` or `stop VERSION` does. */
struct crms_hook {
    int64_t does_ns; /* after its begin; NEVER_NS = nothing */
    int64_t ends_ns;
    int status;
    const char *line;
    unsigned runs; /* so often it was launched */
};

struct crms {
    struct edge_play play;
    struct world *world;
    struct federation_site *site;
    struct cluster *other; /* crms_elsewhere(), and its CRM */
    struct node *elsewhere;
    struct crms_hook start, stop; /* well, within two seconds */
    int containers; /* so many are to run at the site, whatever befalls: each wait looks at that */
};

/* The site is there, and neither a cloudlet nor a CRM; with or without the program. */
void crms_open(struct crms *x, struct cluster *centre, bool hook);
/* The same; the cloudlet is READY with 1.0, and an app of two instances runs. */
void crms_begin(struct crms *x, struct cluster *centre, bool hook);
void crms_close(struct crms *x);

struct node *crms_node(struct crms *x, const char *version);
void crms_start(struct crms *x, const char *version); /* unless it runs */

/* Another cluster, whose CRM has the certificate of acme/paris: it is started. */
struct node *crms_elsewhere(struct crms *x);

/* What was refused, "" = it was done. */
const char *crms_upgrade(struct crms *x, const char *version);
const char *crms_create_cluster(struct crms *x, const char *name);
const char *crms_delete(struct crms *x, const char *name);

/* Records of the centre, in the arena; NULL = it is not there. */
const Board__CloudletRecord *crms_cloudlet(struct crms *x);
const Board__CloudletInfoRecord *crms_info(struct crms *x);
const Board__MaintenanceRecord *crms_maintenance(struct crms *x);
/* The lines of the cloudlet's progress, "ready: version 2.0|...", and how it ended: "failed". */
const char *crms_progress(struct crms *x);
const char *crms_end(struct crms *x);

/* Until cloudlet and info are in these states, so long at most; NULL = any, "" = it is gone. Gives
 * how long it took. */
int64_t crms_await(struct crms *x, const char *cloudlet, const char *info, int64_t limit_ns);
/* The same, to the very step in which the board has it, before anybody has heard. */
void crms_until(struct crms *x, const char *cloudlet, const char *info, uint64_t session);
/* Nothing but time passes. */
void crms_pass(struct crms *x, int64_t duration_ns);

/* One alone, between it and all bbs of the centre. */
void crms_cut(struct crms *x, const char *version, bool cut);

/* Drawn from [low, high). */
int64_t crms_drawn_ns(struct crms *x, int64_t low_ns, int64_t high_ns);

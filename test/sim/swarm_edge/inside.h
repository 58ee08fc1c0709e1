/* What the files of the swarm of the edge share. */
#pragma once

#include "test/sim/checkers/edge.h"
#include "test/sim/swarm/inside.h"
#include "test/sim/swarm_edge/swarm_edge.h"

enum { EDGE_CRMS_MAX = 2, EDGE_LINK_FAULTS = 6 };

struct edge_swarm;

/* A site: a cluster and its CRMs, and the link to the centre. */
struct edge_site_play {
    struct edge_swarm *swarm;
    struct swarm *board; /* what befalls the cluster */
    unsigned number;     /* from 1 */
    const char *cloudlet;
    struct node *crms[EDGE_CRMS_MAX];
    unsigned crm_count;
    int64_t joined_ns; /* when its link is whole again; 0 = it is */
    int64_t cut_since_ns;
    bool crm_doomed;  /* the next commit about something busy kills its leading CRM */
    bool unconfirmed; /* the centre was restored, and nobody has confirmed that yet */
};

struct edge_swarm {
    struct world *world;
    struct random random; /* its own */
    struct arena arena;
    struct edge_result *result;
    struct swarm boards[1 + EDGE_SITES_MAX]; /* the centre, then the sites */
    struct edge_site_play sites[EDGE_SITES_MAX];
    unsigned site_count;
    struct edge_lives lives;
    char *centres; /* urls */

    int64_t ask_pace_ns, ask_ns, link_pace_ns, link_ns;
    bool overrides, long_cuts, maintains;
    unsigned apps;
    unsigned asked; /* so many requests */
    bool healed;
};

int64_t edge_draw(struct edge_swarm *s, int64_t low, int64_t high);
bool edge_chance(struct edge_swarm *s, unsigned percent);
/* False once something is broken. */
bool edge_run_to(struct edge_swarm *s, int64_t until_ns);
bool edge_clean(const struct edge_swarm *s);

/* users.c: what users ask of the centre. */
void users_begin(struct edge_swarm *s); /* flavors, apps and cloudlets; it waits for the answers */
void users_step(struct edge_swarm *s);  /* one request */
void users_confirm(struct edge_swarm *s); /* whatever a restored centre left open */
void users_end_maintenance(struct edge_swarm *s);

/* links.c: what befalls links and CRMs. */
void links_step(struct edge_swarm *s); /* begins one */
void links_end_due(struct edge_swarm *s, int64_t now_ns);
int64_t links_due_ns(const struct edge_swarm *s);
void link_cut(struct edge_site_play *x, bool cut);
/* The centre's board has changed. */
void links_committed(struct edge_swarm *s, const struct world_commit *commit);

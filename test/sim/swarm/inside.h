/* What the files of the swarm share. */
#ifndef TEST_SIM_SWARM_INSIDE_H
#define TEST_SIM_SWARM_INSIDE_H

#include "test/sim/world/callback_server.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/swarm/swarm.h"

enum { LOCK_OWNERS_MAX = 5, FOLLOWERS_MAX = 4 };

enum { SWARM_APPS_MAX = 6, OPEN_FAULTS_MAX = 32, SWARM_NODES_MAX = 24 };

struct swarm;

/* A fault that lasts. */
struct open_fault {
    enum swarm_fault kind;
    int64_t until_ns;
    struct node *node, *other;
    int way; /* of a cut: bit 0 node to other, bit 1 back */
};

/* Somebody outside who wants a name (locks.c). */
struct lock_owner {
    struct swarm *swarm;
    unsigned number;
    unsigned life; /* part of who he is: a new one when nobody can tell whether a release comes late */
    int64_t ttl_s;
    int64_t until_ns;        /* the name is his until then, as far as he knows; 0 = it is not */
    int64_t silent_until_ns; /* he asks for nothing */
    bool asks, releases;     /* an answer is awaited; what was asked last */
    int64_t sent_ns;
    unsigned restores; /* of etcd when he asked */
};

/* Somebody who follows an event stream of Diego's (events.c). */
struct follower {
    struct swarm *swarm;
    struct node *node;
    struct event_reader reader;
    const struct node *bbs; /* that it follows, or asks to */
    uint64_t call_id;
};

/* Of a cell, by POST /evacuate (evacuations.c). */
struct asked_evacuation {
    struct swarm *swarm;
    unsigned cell;
    bool open;          /* the answer is awaited */
    bool unheard;       /* no bbs is to hear of it, and the rep is killed when it has answered */
    int64_t started_ns; /* the rep that was asked */
};

struct swarm {
    struct cluster *cluster;
    struct world *world;
    struct checkers checkers;
    struct random random; /* its own: the world's draws do not change what befalls it */
    struct arena arena;
    struct swarm_result *result;

    struct node *nodes[SWARM_NODES_MAX]; /* bbs, auctioneers, convergers, cells */
    int64_t restart_ns[SWARM_NODES_MAX]; /* NEVER_NS: not planned */
    unsigned node_count;

    bool wide; /* instances by the hundred: more than a transaction takes */
    bool strays; /* ordinary clients claim, start, crash ... instances as well */
    unsigned apps, instances_max;
    bool crash_loop; /* what ends by itself is mostly one and the same container */
    int64_t pace_ns;                 /* mean time between two requests */
    unsigned open_asks, ask_number;
    bool owed[SWARM_APPS_MAX + 1]; /* the last upsert of its domain is not answered yet */

    struct callback_server callbacks;
    struct random task_random; /* tasks are drawn aside, so that the rest of a seed stays as it is */
    unsigned tasks;            /* guids that they have; 0 = there are none in this seed */
    int64_t task_pace_ns;
    int64_t task_ask_ns; /* when the next is asked for; NEVER_NS = none */
    unsigned open_task_asks;

    int64_t restore_ns;      /* when etcd is restored; NEVER_NS = not at all */
    bool restoring;          /* no bbs is started until the epoch is made anew */
    bool went_back;          /* etcd lost writes and the epoch is not made anew: nothing may stop */
    int64_t oldest_revision; /* that a snapshot is of */
    bool enabled[FAULT_COUNT];
    int64_t hurt_ns[SWARM_NODES_MAX]; /* bounds.c: when something last hindered it */
    int64_t boards_hurt_ns;           /* or any bbs, or etcd, or everybody */
    uint64_t reloads[CLUSTER_BBS_MAX]; /* of its copy, at the last look */
    int64_t loads_ns[CLUSTER_BBS_MAX]; /* since when nothing keeps it from loading its copy, or now */
    int64_t silent_ns[CLUSTER_CELLS_MAX]; /* since when it is down or paused, or now */
    int64_t roomy_ns[CLUSTER_CELLS_MAX];  /* since when it has room for all that wait, or now */
    int64_t braked_ns;                    /* when the brake last stood */
    int64_t auctioneer_led_ns, converger_led_ns; /* when one that is up last held the lock */
    bool ready; /* all was once up and well */
    bool calm; /* nothing befalls it: nothing may stand in for what failed */
    int64_t fault_pace_ns;
    struct open_fault open[OPEN_FAULTS_MAX];
    unsigned open_count;
    struct world_faults rates;
    bool kill_committer;
    struct node *stale_bbs;  /* the next cell that starts something is emptied, for this one's sake */
    struct node *starter_by; /* the bbs by which one just did */
    const char *starter;     /* which */
    int64_t starter_ns;      /* when it is emptied */
    struct node *doomed; /* dies before the next event */
    struct node *watcher;
    struct random evacuation_random;
    struct asked_evacuation evacuations[CLUSTER_CELLS_MAX];
    struct random lock_random;
    struct lock_owner owners[LOCK_OWNERS_MAX];
    unsigned owner_count;
    int64_t locks_ns; /* when they do something again; NEVER_NS = there are none */
    struct random follower_random;
    struct follower followers[FOLLOWERS_MAX];
    unsigned follower_count;
    bool followers_stay; /* none leaves its stream by itself any more */
    int64_t feed_hindered_ns; /* when something last kept the feed's frames on their way */
};

int64_t swarm_draw(struct swarm *s, int64_t low, int64_t high);
bool swarm_chance(struct swarm *s, unsigned percent);
/* False once something is broken. */
bool swarm_run_to(struct swarm *s, int64_t until_ns);

/* faults.c */
void faults_init(struct swarm *s);
void faults_begin_one(struct swarm *s);
void faults_end_due(struct swarm *s, int64_t now_ns); /* NEVER_NS: all of them */
int64_t faults_due_ns(const struct swarm *s);
void faults_touch_open(struct swarm *s); /* what still lasts, for the checkers */
void faults_committed(struct swarm *s, struct node *by);
void faults_step(struct swarm *s); /* between two events */
/* This cell, from and to everybody; false when too much is under way. */
bool faults_cut_off(struct swarm *s, struct node *cell, int64_t until_ns);
void swarm_supervise(struct swarm *s); /* starts what is down and due */
void swarm_start_all(struct swarm *s);

/* restore.c: in a few seeds etcd is restored once within so long; drawn aside, so that the
 * other seeds stay as they are. */
void restore_plan(struct swarm *s, uint64_t seed, int64_t duration_ns);
void restore_begin(struct swarm *s); /* if it is due */
void restore_end(struct swarm *s, struct open_fault *f);

/* The same behind everybody's back, in a few other seeds, once all else is healed: etcd and all bbs go
 * on from an image, and nobody is told. Every bbs must notice in time, and nothing may be stopped until
 * somebody makes the epoch anew. */
void loss_befalls(struct swarm *s, uint64_t seed);
void loss_verb(struct swarm *s, struct node *cell, const struct verb_call *call);

/* evacuations.c */
void evacuations_init(struct swarm *s, uint64_t seed);
/* Draws whether POST /evacuate is the way for this one, and sends it; else it is SIGTERM. */
bool evacuation_posted(struct swarm *s, unsigned cell);

/* tasks.c: clients of tasks, and who is called back. */
void task_clients_init(struct swarm *s, uint64_t seed);
void task_clients_done(struct swarm *s);
void task_clients_ask(struct swarm *s);   /* if it is due */
void task_clients_heal(struct swarm *s);  /* nobody asks any more, and who is called back listens */
void task_clients_settle(struct swarm *s); /* their processes end, one after the other */

/* feed.c: somebody who follows the feed and checks it. */
void feed_watch_begin(struct swarm *s);
/* Why not; nothing appended: a restore, if there was one, has been announced to it. */
void feed_watch_announced(struct swarm *s, struct buf *ret_why);

/* events.c: Diego's clients, who follow all six event streams. */
void followers_begin(struct swarm *s, uint64_t seed);
void followers_done(struct swarm *s); /* after the world */
void followers_begun(struct swarm *s, struct node *node, uint64_t call_id, int64_t arrived_revision);
void followers_heal(struct swarm *s);
/* Why not; nothing appended: each follows, and has heard of all that is to be heard. */
void followers_heard_all(struct swarm *s, struct buf *ret_why);

/* bounds.c: the bounds of design.md 6 while faults last; each second of virtual time is
 * enough. */
void bounds_fault(struct swarm *s, const struct open_fault *f); /* it begins, lasts, ends */
void bounds_restarted(struct swarm *s, const struct node *n);
void bounds_look(struct swarm *s);

/* fallbacks.c: what stands in for what failed is used only where a fault explains it, and not at
 * all in a calm seed, of which a few are: without faults, and without clients that speak for cells. */
void calm_plan(struct swarm *s, uint64_t seed);
void fallback_logged(struct swarm *s, struct node *n, const struct log_line *line);

/* locks.c: in some seeds; until the end, also when all is healed. */
void locks_plan(struct swarm *s, uint64_t seed);
void locks_step(struct swarm *s); /* if it is due */

/* client.c */
void swarm_ask(struct swarm *s);
void client_crash(struct swarm *s);
void client_heal(struct swarm *s);  /* what clients do once all is well */
void client_again(struct swarm *s); /* repeats what of it was not answered */

#endif

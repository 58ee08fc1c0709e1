/* What the files of the swarm share. */
#pragma once

#include "models/desired_lrp.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/swarm/swarm.h"

enum { SWARM_APPS_MAX = 6, OPEN_FAULTS_MAX = 64, SWARM_NODES_MAX = 48 };

struct swarm;

/* A fault that lasts. */
struct open_fault {
    enum swarm_fault kind;
    int64_t until_ns;
    struct node *node, *other;
    int way; /* of a cut: bit 0 node to other, bit 1 back */
};

/* A row of faults.def. */
struct fault_row {
    const char *name;
    unsigned percent;
    int64_t lasts_ns;
    bool (*begin)(struct swarm *s, struct open_fault *f); /* false when it cannot be done now */
    void (*end)(struct swarm *s, struct open_fault *f);
    bool harmless;     /* it delays nothing, or others tell its end: what it kills is down */
    bool hinders_feed; /* a frame may arrive long after it was sent */
};

extern const struct fault_row fault_rows[FAULT_COUNT];

/* A workload of one seed. */
struct workload {
    struct swarm *swarm;
    struct random random; /* its own: what it draws changes nothing else of a seed */
    bool on;              /* this seed has it */
    int64_t due_ns;       /* when it does something again; NEVER_NS = not by itself */
    void *own;            /* what it keeps; by `begin`, in the arena of the swarm */
};

/* A row of workloads.def is NAME_workload; each of these may be NULL. */
struct workload_ops {
    void (*begin)(struct workload *w);  /* the cluster is made, and nothing has run */
    void (*step)(struct workload *w);   /* it is due; sets due_ns, which is 0 at first */
    bool (*lasts)(const struct workload *w); /* the trouble waits for its end; bounded */
    void (*heal)(struct workload *w);   /* all else is healed: it troubles nobody any more */
    void (*settle)(struct workload *w); /* from then on, each second */
    /* Appends what it still waits for. */
    void (*rest)(struct workload *w, struct buf *ret_why);
    /* A stream that this node asked for begins (world.h). */
    void (*streamed)(struct workload *w, struct node *n, uint64_t call_id, int64_t revision);
    void (*done)(struct workload *w); /* after the world */
};

enum workload_id {
#define WORKLOAD(name, ...) WORKLOAD_##name,
#include "test/sim/swarm/workloads.def"
    WORKLOAD_COUNT
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
    unsigned ask_number;
    struct workload workloads[WORKLOAD_COUNT];

    int64_t restore_ns;      /* when etcd is restored; NEVER_NS = not at all */
    bool restoring;          /* no bbs is started until the board generation is made again */
    bool went_back; /* etcd lost writes, and nobody ran `bbs restore`: nothing may stop */
    int64_t oldest_revision; /* that a snapshot is of */
    bool enabled[FAULT_COUNT];
    unsigned weights[FAULT_COUNT]; /* how often each is drawn, beside the others */
    unsigned weights_sum;
    int64_t hurt_ns[SWARM_NODES_MAX]; /* bounds.c: when something last hindered it */
    int64_t boards_hurt_ns;           /* or any bbs, or etcd, or everybody */
    uint64_t reloads[CLUSTER_BBS_MAX]; /* of its copy, at the last look */
    /* Since when nothing keeps it from loading its copy, or now. */
    int64_t loads_ns[CLUSTER_BBS_MAX];
    /* Since when it is down or paused and none of its heartbeats arrives; or now. */
    int64_t silent_ns[CLUSTER_CELLS_MAX];
    int64_t roomy_ns[CLUSTER_CELLS_MAX];  /* since when it has room for all that wait, or now */
    struct map takers; /* takers.c: instance -> who took it, in the arena */
    int64_t limited_ns;                          /* when the limiter last stood */
    int64_t auctioneer_led_ns, converger_led_ns; /* when one that is up last held the lock */
    bool ready; /* all was once up and well */
    bool calm; /* nothing befalls it: nothing may stand in for what failed */
    int64_t fault_pace_ns;
    struct open_fault open[OPEN_FAULTS_MAX];
    unsigned open_count;
    struct world_faults rates;
    bool kill_committer;
    /* The next cell that starts something is emptied, for this one's sake. */
    struct node *stale_bbs;
    struct node *starter_by; /* the bbs by which one just did */
    const char *starter;     /* which */
    int64_t starter_ns;      /* when it is emptied */
    struct node *doomed; /* dies before the next event */
    struct random evacuation_random;
    struct asked_evacuation evacuations[CLUSTER_CELLS_MAX];
    int64_t feed_hindered_ns; /* when something last kept the feed's frames on their way */
};

/* checks.c: the definition has checks, if this seed has such and this app is one of them. */
void checks_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                Models__DesiredLRP *lrp);

/* monitors.c: it has a monitor, likewise, unless it has checks. */
void monitors_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                  Models__DesiredLRP *lrp);

/* steps.c: the definition has a random tree instead of its action, if this seed has such and this
 * desire is one of them. `a` outlives the request. */
void steps_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
               Models__DesiredLRP *lrp);

/* files.c: it has dependencies and downloads beside that, likewise. */
void files_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
               Models__DesiredLRP *lrp);

/* images.c: its root filesystem is an image, likewise. */
void images_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                Models__DesiredLRP *lrp);

/* deploys.c: the types of the cells, in seeds whose systems have node pools, which are drawn aside;
 * NULL = they have none. */
const char *deploys_cell_types(uint64_t seed);

/* workloads.c: whether a seed has this one. */
bool workload_drawn(int workload, uint64_t seed);

int64_t swarm_draw(struct swarm *s, int64_t low, int64_t high);
bool swarm_chance(struct swarm *s, unsigned percent);
/* False once something is broken. */
bool swarm_run_to(struct swarm *s, int64_t until_ns);

/* faults.c */
void faults_init(struct swarm *s, uint64_t seed);
void faults_begin_one(struct swarm *s);
void faults_end_due(struct swarm *s, int64_t now_ns); /* NEVER_NS: all of them */
int64_t faults_due_ns(const struct swarm *s);
void faults_touch_open(struct swarm *s); /* what still lasts, for the checkers */
void faults_committed(struct swarm *s, struct node *by);
void faults_step(struct swarm *s); /* between two events */
/* This cell, from and to everybody; false when too much is under way. */
bool faults_cut_off(struct swarm *s, struct node *cell, int64_t until_ns);
void swarm_supervise(struct swarm *s); /* starts what is down and due */
void swarm_restart_at(struct swarm *s, const struct node *n, int64_t at_ns); /* it is down */
void swarm_start_all(struct swarm *s);

/* restore.c: in a few seeds etcd is restored once within so long; drawn aside, so that the
 * other seeds stay as they are. */
void restore_plan(struct swarm *s, uint64_t seed, int64_t duration_ns);
void restore_begin(struct swarm *s); /* if it is due */
void restore_end(struct swarm *s, struct open_fault *f);

/* The same behind everybody's back, in a few other seeds, once all else is healed: etcd and all bbs
 * go on from an image, and nobody is told. Every bbs must notice in time, and nothing may be
 * stopped until somebody makes the board generation again. */
void loss_befalls(struct swarm *s, uint64_t seed);
void loss_verb(struct swarm *s, struct node *cell, const struct verb_call *call);

/* evacuations.c */
void evacuations_init(struct swarm *s, uint64_t seed);
/* Draws whether POST /evacuate is the way for this one, and sends it; else it is SIGTERM. */
bool evacuation_posted(struct swarm *s, unsigned cell);

/* workloads.c: each for all that this seed has. */
void workloads_begin(struct swarm *s, uint64_t seed);
int64_t workloads_due_ns(const struct swarm *s);
void workloads_step(struct swarm *s); /* those that are due */
bool workloads_last(const struct swarm *s); /* some workload is to end before the trouble does */
void workloads_heal(struct swarm *s);
void workloads_settle(struct swarm *s);
void workloads_rest(struct swarm *s, struct buf *ret_why);
int64_t workloads_settle_ns(const struct swarm *s); /* at most */
void workloads_streamed(struct swarm *s, struct node *n, uint64_t call_id, int64_t revision);
void workloads_done(struct swarm *s);

/* bounds.c: the bounds of design.md 6 while faults last; each second of virtual time is
 * enough. */
void bounds_fault(struct swarm *s, const struct open_fault *f); /* it begins, lasts, ends */
void bounds_restarted(struct swarm *s, const struct node *n);
void bounds_look(struct swarm *s);
/* When something last hindered this process; NEVER_NS: it is none that faults befall. */
int64_t bounds_hurt_ns(const struct swarm *s, const struct node *n);

/* takers.c: one of our processes was answered by another. And until when the claim of a cell was
 * awaited that had taken this instance and was hurt before it claimed it; 0 = of none. */
void takers_answered(struct swarm *s, const struct world_answer *answer);
int64_t takers_waited_ns(const struct swarm *s, const char *process_guid, int32_t index);

/* fallbacks.c: what stands in for what failed is used only where a fault explains it, and not at
 * all in a calm seed, of which a few are: without faults, and without clients that speak for cells.
 */
void calm_plan(struct swarm *s, uint64_t seed);
void fallback_logged(struct swarm *s, struct node *n, const struct log_line *line);

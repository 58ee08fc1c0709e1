/* What the nemesis does next, drawn from a seed: the same seed and the same cluster give the same
 * kinds, holds and numbers; whom one of a cell befalls goes by where containers run as well. Pure.
 */
#pragma once

#include "common/base/random.h"

#include <stdbool.h>
#include <stdint.h>

/* Whom a kind befalls. */
enum fault_who {
    ANYONE,      /* one process of any role */
    NO_ETCD,     /* one process of another role */
    NO_CELL,     /* the same */
    BBS,         /* one bbs */
    LEADER,      /* the leading auctioneer or converger: "auctioneer-leader", "converger-leader" */
    ETCD,        /* a member */
    ETCD_LEADER, /* "etcd-leader" */
    CELL,        /* one rep */
    SMALL_CELL,  /* one rep whose disk may be filled */
    PAIR,        /* two processes that talk to each other */
    ZONE,        /* the reps of a zone that is not the only one */
    EVERYBODY,   /* all, or what all share; the commands get no names */
};

/* Which number is drawn with it. */
enum fault_parameter {
    NO_PARAMETER,
    PAUSE,   /* none, but the hold is one of fault_pauses */
    PERCENT, /* 20 to 80 */
    DELAY,   /* 50 to 500 ms */
    CLOCK,   /* seconds, a second to a day, forwards or backwards */
};

/* What must be well again, and by when (design.md 6), by the settings' defaults. */
enum fault_recovery {
    REQUESTS,   /* answered again by some bbs, from the beginning */
    LEADERSHIP, /* another one leads */
    CELLS,      /* what ran on the cell is RUNNING elsewhere, or again */
    ELECTION,   /* of etcd, after which all windows start anew */
    RECONNECT,  /* requests are answered again, from the end */
    NOTHING,    /* nobody may notice: requests are answered all along */
    RESTART,    /* from the end: everything was away */
    HELD,       /* from the end: the limiter holds lost cells back */
    RECOVERIES
};

struct recovery_row {
    const char *name;
    int64_t bound_ms;
    bool from_end;     /* the bound runs from the heal, else from when the fault began */
    int64_t settle_ms; /* the windows that start anew at the heal: no next fault before */
};
extern const struct recovery_row recovery_rows[RECOVERIES];

struct fault_kind {
    const char *name;
    int weight;
    enum fault_who who;
    enum fault_parameter parameter;
    int64_t hold_min_ms, hold_max_ms;
    enum fault_recovery recovery;
    const char *what;
};
extern const struct fault_kind fault_kinds[];
extern const int fault_kind_count;

/* The kind of this name; a dash counts as an underscore. NULL if there is none. */
const struct fault_kind *fault_kind_named(const char *name);

/* The processes of a cluster, as target.json has them. */
enum {
    CLUSTER_PROCESSES_MAX = 256,
    FAULT_TARGETS_MAX = 64,
    FAULT_NAME_BYTES = 64,
};
enum cluster_role { ROLE_ETCD, ROLE_BBS, ROLE_AUCTIONEER, ROLE_CONVERGER, ROLE_REP };
struct cluster_process {
    char name[FAULT_NAME_BYTES];
    enum cluster_role role;
    char zone[FAULT_NAME_BYTES]; /* of a rep; else empty */
    char cell[FAULT_NAME_BYTES]; /* of a rep: its cell */
    bool small_disk;             /* of a rep */
};
struct cluster_shape {
    struct cluster_process processes[CLUSTER_PROCESSES_MAX];
    int count;
};

struct fault {
    const struct fault_kind *kind;
    char targets[FAULT_TARGETS_MAX][FAULT_NAME_BYTES];
    int target_count;
    bool has_number;
    int64_t number;
    int64_t hold_ms;
};

struct schedule {
    struct random random; /* what, how long, how much */
    struct random whom;   /* apart from it: what is drawn here goes by what runs where */
    const struct cluster_shape *shape;
    const struct fault_kind *allowed[64]; /* those to draw from */
    int drawn[64];                        /* how often each of them was */
    int allowed_count;
    bool occupied[CLUSTER_PROCESSES_MAX]; /* reps with containers */
    bool spares_cells[64];                /* by the kind's place in fault_kinds */
};

enum {
    FAULTS_AT_ONCE_MAX = 2,
    TWO_AT_ONCE_PERCENT = 15,
    IN_TURN_PERCENT = 75,  /* of the draws: a kind that came least often so far */
    OCCUPIED_PERCENT = 75, /* of a cell's faults: one with containers, if there is one */
};

/* With no kinds allowed yet. `shape` is borrowed. */
void schedule_init(struct schedule *s, uint64_t seed, const struct cluster_shape *shape);

/* Lets a kind be drawn, if the cluster has whom it befalls. Gives whether it is so. */
bool schedule_allow(struct schedule *s, const struct fault_kind *kind);

/* From now on a kind that befalls anyone befalls no rep: where a cell's containers end with its
 * rep, a killed rep is a lost cell, which has kinds and a bound of its own. */
void schedule_spare_cells(struct schedule *s, const struct fault_kind *kind);

/* Which processes of the shape, in its order, are reps with containers: `count` of them. At first
 * none is known to be. */
void schedule_occupied(struct schedule *s, const bool *occupied, int count);

/* Draws the next fault, or two that come at once and befall others; gives how many. 0 when no kind
 * is allowed, or it found nobody. Of two at once none befalls everybody, and no process is in both.
 */
int schedule_next(struct schedule *s, struct fault ret_faults[FAULTS_AT_ONCE_MAX]);

/* Whether it befalls a rep that has containers. */
bool schedule_is_occupied(const struct schedule *s, const struct fault *fault);

/* Whether the fault befalls whoever judges or places, so that windows start anew afterwards. */
bool fault_befalls_leaders(const struct fault *fault);

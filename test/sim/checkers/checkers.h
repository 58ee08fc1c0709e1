/* The invariants of design.md 6 as small checkers: each looks at one committed revision, at one
 * verb of a rep, or at the cluster as it stands, and reports what it finds in words. None changes
 * anything. */
#pragma once

#include "common/model/moves.h"
#include "common/model/settings.h"
#include "test/sim/checkers/events.h"
#include "test/sim/world/cluster.h"
#include "models/task_requests.pb-c.h"
#include "test/sim/checkers/history.h"

/* An instance that the board ever named, by its guid. */
struct instance {
    const char *guid;
    const char *process_guid;
    int32_t index;
    const char *cell_id;
    const char *keys[3];    /* at which a record may bear it, by presence */
    const char *definition_id; /* that it runs; "" = not known */
    bool ran;               /* a record ever said that it is RUNNING */
    bool forgotten;         /* a restore has taken off its record, and nobody has made it again */
    bool released;       /* a committed change has taken it off or asked it to stop */
    bool released_early; /* and did so before the board went back for the last time */
    int64_t alone_ns;    /* since when its container has no record; NEVER_NS = not so */
    int64_t busy_ns;     /* when a verb of its container was last seen under way (bounds) */
    int64_t phantom_ns;  /* since when its record has no container; NEVER_NS = not so */
};

/* Of a cell: what it was told, and what the board said of it since. */
struct evacuation {
    bool on;
    int64_t ends_ns;  /* its limit; what is left may be stopped from then on */
    int64_t told_ns;  /* when the rep of now was first told to; 0 = it was not */
    int64_t asked_ns; /* when a rep was last told to */
    unsigned boots;   /* of its machine, when its limit was set */
    /* Its rep has answered that it evacuates, and has not ended that. */
    bool accepted;
    bool over; /* the rep of now has ended it: its answer may still be on its way */
    unsigned accepted_incarnation, accepted_boots;
    int64_t accepted_ends_ns;
};

/* What is counted: rows of checkers.def. */
#define COUNT(id, text) SEEN_##id,
#define MOVES(id, text) SEEN_##id,
enum checkers_count {
#include "test/sim/checkers/checkers.def"
    SEEN_COUNT
};

struct edge_lives;

struct checkers {
    struct cluster *cluster;
    struct evacuation evacuations[CLUSTER_CELLS_MAX];
    struct history history;
    struct settings settings; /* in force, of the board as it stands */
    int64_t settings_ns;      /* when they last changed; 0 = never */
    struct events events;
    struct map instances; /* guid -> struct instance, in the history's arena */
    unsigned forgotten;   /* of them */
    /* Since when nothing has been done to a cell or to what it needs. */
    int64_t well_since_ns[CLUSTER_CELLS_MAX];
    int64_t room_since_ns[CLUSTER_CELLS_MAX]; /* unplaced.c; NEVER_NS = it has none */
    struct map heard;    /* checks.c: guid -> what its probes said, in the history's arena */
    bool strays; /* ordinary clients claim and start instances, too */
    struct map held; /* unplaced.c: cell/guid/index -> when, in the history's arena */
    struct tasks_seen *tasks; /* tasks.c */
    struct map units;     /* units.h: guid -> struct seen_unit, in the history's arena */
    struct map unit_runs; /* unit_hooks.c: guid.run of each hook that is known to have ended well */
    int64_t reconcile_ns; /* the reps' interval */
    int64_t looks_since_ns[CLUSTER_BBS_MAX]; /* its first board since its start or a restore */
    char *looks_in[CLUSTER_BBS_MAX];         /* that board generation */
    bool slips[CLUSTER_BBS_MAX];          /* its watch was to leave something out silently */
    uint64_t reloads_seen[CLUSTER_BBS_MAX];
    int64_t differs_since_ns[CLUSTER_BBS_MAX]; /* its copy from the board; NEVER_NS = it does not */
    int64_t lacked_ns;    /* the last look at which a copy differed, or a watch was still to slip */
    int64_t touched_ns;   /* when something was last done to all cells, or to what they need */
    struct buf violation; /* empty: none; the first one found is kept */
    int64_t lrp_change_ns; /* when a record of an LRP last changed */
    int64_t system_change_ns; /* systems.c: the same of systems; 0 = never */
    const char *started_cell; /* where the last commit has started an instance; NULL = it has not */
    unsigned seen[SEEN_COUNT]; /* how often */
    struct edge_lives *edge; /* edge.h: of a centre and its sites; NULL = a cluster alone */
};

void checkers_init(struct checkers *k, struct cluster *c, int64_t reconcile_ns);
void checkers_done(struct checkers *k);

/* Shows the checkers all revisions that are new. NULL: no process of ours made them. */
void checkers_committed(struct checkers *k, const struct world_commit *commit);

/* etcd was restored as it was at `revision`, and all bbs were stopped before. */
void checkers_restored(struct checkers *k, int64_t revision);

/* One of our processes asks another, or was answered by it. */
void checkers_asked(struct checkers *k, struct node *from, const struct call *call);
void checkers_answered(struct checkers *k, const struct world_answer *answer);

/* A rep asks its driver. */
void checkers_verb(struct checkers *k, struct node *cell, const struct verb_call *call);

/* Looks at the cluster as it stands; each second of virtual time is enough. The other one when
 * nothing befalls it any more. */
void checkers_look(struct checkers *k);
void checkers_look_healed(struct checkers *k);

/* Appends why the cluster is not at rest; nothing appended: it is. */
void checkers_at_rest(struct checkers *k, struct buf *ret_why);

/* This cell was told to evacuate; a process was started again. */
void checkers_evacuates(struct checkers *k, int cell);
void checkers_restarted(struct checkers *k, const struct node *node);

/* It has answered so, and is up. From then on each new incarnation of it says that it evacuates. */
void checkers_accepted(struct checkers *k, int cell);
/* A rep hears what became of a probe. */
void checkers_probed(struct checkers *k, const struct probe *probe, const struct probed *end);
/* Or of a program of a monitor. */
void checkers_executed(struct checkers *k, const struct verb_answer *answer);
void checkers_logged(struct checkers *k, struct node *node, const struct log_line *line);

/* This bbs has loaded a board of this board generation. */
void checkers_loaded(struct checkers *k, const struct node *bbs, const char *board_generation);

/* Something was done to this cell (-1: to all), or to what it needs. */
void checkers_touch(struct checkers *k, int cell);

void checkers_report(struct checkers *k, const char *invariant, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of a list that some bbs told. Not once a watch has left something out silently: until
 * the list finds it, a bbs lists what is in its copy (design.md 2, Watches are hints). */
void checkers_report_told(struct checkers *k, const char *invariant, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool checkers_clean(const struct checkers *k);
bool checkers_slipped(const struct checkers *k); /* at some bbs */
bool checkers_slipped_at(const struct checkers *k, const struct node *bbs);

/* This bbs has found etcd full, and has not written since: it tries again, a minute apart at most.
 */
bool checkers_read_only(const struct checkers *k, unsigned bbs);

/* It is up and has a copy of the board; *ret_reloads, which else stays, gets how often it loaded
 * one again. */
bool checkers_has_copy(const struct checkers *k, unsigned bbs, uint64_t *ret_reloads);

/* The watch of this bbs is to leave something out, and nothing tells. */
void checkers_slips(struct checkers *k, const struct node *bbs);

/* ---- The checkers: checkers.def says what each does ---- */

/* A move that a bbs was asked for, and its outcome. */
struct seen_answer {
    const struct world_answer *answer;
    const Board__ApplyRequest *request;
    const Board__Move *move;
    const Board__MoveResult *result;
};

/* What the checkers of each kind are shown. `commit`: NULL, who made it says nothing of it. */
#define SHOWN_revision                                                                             \
    struct checkers *k, const struct passage *p, const struct world_commit *commit
#define SHOWN_move struct checkers *k, const struct seen_answer *seen
#define SHOWN_told struct checkers *k, const struct world_answer *answer
#define SHOWN_asked struct checkers *k, struct node *from, const Board__Move *move
#define SHOWN_verb struct checkers *k, struct node *cell, const struct verb_call *call
#define SHOWN_log struct checkers *k, struct node *n, const struct log_line *line
#define SHOWN_second struct checkers *k
#define SHOWN_healed struct checkers *k
#define SHOWN_rest struct checkers *k, struct buf *ret_why
#define SHOWN_restored struct checkers *k
#define SHOWN_done struct checkers *k
#define CHECKER(name, invariant, sees, function, says) void function(SHOWN_##sees);
#include "test/sim/checkers/checkers.def"

/* A row; one of the functions is there. */
struct checker {
    const char *name, *invariant, *says;
    void (*revision)(SHOWN_revision);
    void (*asked)(SHOWN_asked);
    void (*move)(SHOWN_move);
    void (*told)(SHOWN_told);
    void (*verb)(SHOWN_verb);
    void (*log)(SHOWN_log);
    void (*second)(SHOWN_second);
    void (*healed)(SHOWN_healed);
    void (*rest)(SHOWN_rest);
    void (*restored)(SHOWN_restored);
    void (*done)(SHOWN_done);
};

/* All rows; the last has no name. */
extern const struct checker checkers_table[];

/* ---- What they tell one another ---- */

/* The value of each secret that a story or a workload sets begins so, and nothing else does. */
#define SECRET_MARK "geheim-"

/* What a hook of a workload tells others: under this key "GUID.RUN", of its unit and itself. */
#define UNIT_SETTING_MARK "told-by"

/* Of the environment of what it runs, a variable that is a secret, as definitions.c makes it. */
#define SECRET_VARIABLE "SECRET"

/* By the server that is called back (tasks.c). */
void check_callback(struct checkers *k, const Models__TaskCallbackResponse *told);

/* There is, or was, a task of this guid (tasks.c). */
bool task_known(struct checkers *k, const char *guid);

/* The same of a unit; and how many containers of units take room on the cell (units.c). */
bool unit_known(const struct checkers *k, const char *guid);
unsigned units_held(const struct checkers *k, struct node *cell);

/* Appends what is left of units when all services have been destroyed (units.c). */
void checkers_units_are_gone(struct checkers *k, struct buf *ret_why);

/* The number of this cell, from 0; -1 = it is none. */
int checkers_cell(const struct checkers *k, const struct node *cell);
int checkers_cell_named(const struct checkers *k, const char *cell_id);

/* What is left on this cell may be stopped: its evacuation is at its limit (evacuations.c). */
bool evacuation_ends(const struct checkers *k, int cell);

/* The domain, if it has been upserted in the present board generation; NULL = not so. */
const Board__DomainRecord *domain_of_board_generation(struct checkers *k, struct arena *a,
                                                      const char *domain);

/* Whether the container has steps of which not all that can have begun: it is starting still. */
bool steps_still_begin(struct node *cell, const char *guid);

/* How many containers of the cell are over before they started, for what they depend on did not
 * come: like those that ended they need no room. */
unsigned steps_never_started(struct node *cell);

/* Whether anything of this container runs, or may yet: neither its first process nor all of its
 * steps are over. */
bool steps_run(struct node *cell, const char *guid);

/* Whether it has checks that have not passed yet: it is starting still. And whether the note says
 * that it is ended for them, and they have indeed failed. */
bool checks_still_fail(const struct model_containers *m, const char *guid);
bool checks_have_failed(struct checkers *k, const struct model_containers *m, const char *guid);

/* Guards of a lifecycle that held at a change, and those that cannot be told. */
struct guards_seen {
    uint32_t held, unknown;
};

/* Of a system, build, deploy or teardown. */
struct guards_seen system_guards_seen(struct checkers *k, struct arena *a, const struct past *p);

/* Whether a record bears the instance now. */
bool instance_stands(struct checkers *k, const struct instance *i);

/* From when on all who follow a feed have had the chance to hear what a silent slip left out: those
 * whom the bbs has told its wrong copy, and who went on elsewhere, at their next snapshot
 * (common/client/feed_client.h). 0 = nothing ever was left out. */
int64_t checkers_whole_ns(const struct checkers *k);

/* No cell of the cluster could ever take an instance of this process, as it is desired now; or one
 * of its node pool alone could, which may lack cells for long. */
bool fits_no_cell(struct checkers *k, const char *process_guid);

/* How many instances the cell would take, by what it would tell an auctioneer; 0 of a node pool's.
 */
unsigned checkers_room(struct checkers *k, struct node *cell);
/* When this cell was last seen to have a container of this instance with a verb under way: until
 * that is answered it takes the instance, and cannot claim it; another cell could. Seen by this
 * look, or one before it; 0 = never. To be asked at each look while the instance is unplaced. */
int64_t checkers_held_ns(struct checkers *k, const Models__ActualLRPKey *key, unsigned cell);

/* The moves of the ActualLRP records of one index: claim, start, crash, fail, remove, unclaim,
 * retire, those of an evacuation, and those of the converger: create, ask, restart, stop, suspect, resolve, vacate; beside
 * them expire of a domain, and lose, brake and release (bbs/cell) (DESIGN 5, 6; behaviour.md 10, 12,
 * 14). The Diego paths and /v1/board/apply come here alike, as a Board__Move; who speaks makes the
 * difference (common/lifecycle/actual_lrp.def). Each decision is a pure function of the snapshot;
 * its rules are numbered in its own file. */
#ifndef BBS_LRP_MOVE_H
#define BBS_LRP_MOVE_H

#include "bbs/board/op.h"
#include "bbs/lrp/validate.h"
#include "common/lifecycle/lifecycle.h"
#include "common/model/crash_policy.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include "board.pb-c.h"

/* All that a move's decision rests on. Every pointer may be NULL: there is no such record, or the
 * move does not ask. */
struct move_snapshot {
    const Models__ActualLRP *ordinary;
    struct sighting ordinary_seen;     /* by this process */
    const Models__ActualLRP *evacuating;
    const Models__ActualLRP *suspect;
    bool crowded;                      /* the index has more records than can be: none was read */
    const Models__DesiredLRP *desired; /* scheduling part */
    const Board__RemovalRecord *removal; /* of the definition that the move carries; for start and
                                            evacuate_running without an ORDINARY record */
    const Board__CellRecord *cell;     /* of the acting rep; otherwise that of the instance which
                                          the move may take away, or the one that lose names */
    const Board__BrakeRecord *brake;   /* for lose, brake, release */
    struct sighting brake_seen;
    const Board__DomainRecord *domain; /* of the instance, for stop, resolve and, without an
                                          ORDINARY record, evacuate_running; for expire the one
                                          named */
    struct domain_seen domain_seen;    /* by this process */
    const char *lead_holder;           /* of the acting leader's lock */
    int64_t lead_term;
    const char *epoch; /* of the board */
    const struct crash_policy *policy;
};

struct move_row {
    const char *name; /* as in the lifecycle's .def */
    const struct lifecycle *lifecycle; /* whose news it is: who may bring it stands there */
    int news;
    /* Says all that is wrong with the move. */
    void (*valid)(struct validation *v, const Board__Move *move);
    struct op_row op;
    struct op_row op_of_rep; /* "nothing to change" for a rep that repeats itself: no barrier */
};

/* The row of a move's name; NULL when a caller may not name it (replace) or nobody knows it. */
const struct move_row *move_row_named(const char *name);

/* Shared by the rows. */
const char *move_target(struct arena *a, const struct op_input *in);
void move_gather(struct view *v, const struct op_input *in, void *snapshot);
/* Its part about who speaks: a rep's cell, a leader's lock, and the board's epoch. */
void move_gather_actor(struct view *v, const struct op_input *in, struct move_snapshot *s);

/* The cell is not there: it has no record, or is LOST. */
bool move_cell_absent(const Board__CellRecord *cell);

/* True if the caller may speak for what it moves: a rep for its own cell and with the session of
 * the board, a leader in its term (DESIGN 6, Fencing). Otherwise, or when the index is crowded, the
 * plan is refused. */
bool move_authorised(const struct move_snapshot *s, const struct op_input *in, struct plan *p);

/* The part of it that is the same for whatever is moved: the rep's session, the leader's term. Reads
 * what move_gather_actor gathered and nothing else. */
bool move_speaker_authorised(const struct move_snapshot *s, const struct op_input *in,
                             struct plan *p);

/* The record that the move is about: of its presence; NULL if there is none. */
const Models__ActualLRP *move_record(const struct move_snapshot *s, const Board__Move *move);

/* The guards of actual_lrp.def that hold between this move and that record. */
uint32_t move_guards(const struct move_snapshot *s, const Board__Move *move);

/* The instance key given is that of the SUSPECT record. */
bool move_of_suspect(const struct move_snapshot *s, const Board__Move *move);

/* The index is below the desired number of instances. */
bool index_desired(const Models__DesiredLRP *desired, int32_t index);

/* The decisions, for tests; `snapshot` is a struct move_snapshot. */
void claim_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void start_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void crash_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void fail_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void remove_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void unclaim_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void retire_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void create_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void ask_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void restart_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void stop_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void suspect_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void resolve_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void vacate_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void refresh_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void evacuate_claimed_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void evacuate_crashed_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void evacuate_stopped_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void evacuate_running_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void remove_evacuating_decide(const void *snapshot, const struct op_input *in, struct plan *p);
void expire_decide(const void *snapshot, const struct op_input *in, struct plan *p);

/* Where expire gathers from: the domain and the lock. */
const char *expire_target(struct arena *a, const struct op_input *in);
void expire_gather(struct view *v, const struct op_input *in, void *snapshot);

/* For them: puts the record (which becomes what the answer shows) or deletes it, at its own key. */
struct change *move_put(struct plan *p, const struct op_input *in, const Models__ActualLRP *record,
                        const char *name);
struct change *move_delete(struct plan *p, const struct op_input *in,
                           const Models__ActualLRP *record, const char *name);

/* For them: a new UNCLAIMED record at the ORDINARY key of the move's index, which is desired; the
 * auctioneer is asked. */
void move_put_new(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                  const char *name);

/* For them: this record, CLAIMED or RUNNING, becomes UNCLAIMED: instance key and net info go; routes,
 * tags, routable, zone, crashes and placement error are kept. The auctioneer is asked if the index is
 * desired. */
void move_put_unclaimed(struct plan *p, const struct move_snapshot *s, const struct op_input *in,
                        const Models__ActualLRP *record, const char *name);

/* For them: the rep of this CLAIMED or RUNNING instance is told to stop it. */
void move_notice_stop(struct plan *p, const Models__ActualLRP *record);

/* For start and evacuate_running: RUNNING, with all that the move tells of the instance. The move's
 * own parts are borrowed. */
void move_set_running(struct arena *a, const struct op_input *in, Models__ActualLRP *after);

/* For crash and evacuate_crashed (behaviour.md 10.4): the crash count of the ORDINARY record after a
 * crash now, and what becomes of that record; without one it is a new record of a desired index. */
int32_t move_crash_count(const struct move_snapshot *s, struct moment now);
Models__ActualLRP *move_crashed(struct plan *p, const struct move_snapshot *s,
                                const struct op_input *in, int to);

#endif

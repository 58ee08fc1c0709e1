/* The moves of the ActualLRP records of one index: the rows of moves.def, over one snapshot. Who
 * speaks makes the difference (common/lifecycle/actual_lrp.def). Pure. */
#pragma once

#include "bbs/board/move_family.h"
#include "bbs/board/speaker.h"
#include "common/model/instance_guards.h"
#include "common/model/moves.h"
#include "common/model/settings.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

extern const struct move_family lrp_moves;

/* All that a move's decision rests on. Every pointer may be NULL: there is no such record, or the
 * move does not ask. */
struct move_snapshot {
    struct speaker by;
    struct move_place place;           /* that the move names */
    const Models__ActualLRP *ordinary;
    struct sighting ordinary_seen;     /* by this process */
    const Models__ActualLRP *evacuating;
    const Models__ActualLRP *suspect;
    bool crowded;                      /* the index has more records than can be: none was read */
    const Models__DesiredLRP *desired; /* scheduling part */
    const Board__RemovalRecord *removal; /* of the definition that the move carries; without an
                                            ORDINARY record */
    const Board__CellRecord *cell;     /* of the instance which the move may take away */
    const Board__DomainRecord *domain; /* of the instance */
    struct domain_seen domain_seen;    /* by this process */
    const struct crash_policy *policy; /* in force; of a move that reads no settings the default */
};

/* ---- for the rows ---------------------------------------------------------------------------- */

/* What a row reads, in bits, and which record it is about (moves.def). */
enum {
    READS_DESIRED = 1,
    READS_DESIRED_OF_DEFINITION = 2,
    READS_REMOVAL = 4,
    READS_CELL = 8,
    READS_DOMAIN = 16,
    READS_DOMAIN_OF_KEY = 32,
    READS_KEEPS = 64,
    READS_SETTINGS = 128,
};
enum lrp_about {
    ABOUT_ORDINARY,
    ABOUT_SUSPECT,
    ABOUT_EVACUATING,
    ABOUT_NAMED,
    ABOUT_TARGET,
    ABOUT_RUNNER,
    ABOUT_NEWCOMER,
};

/* The decisions, each in the file that moves.def names. */
void claim_decide(const struct move_turn *t);
void start_decide(const struct move_turn *t);
void crash_decide(const struct move_turn *t);
void create_decide(const struct move_turn *t);
void ask_decide(const struct move_turn *t);
void restart_decide(const struct move_turn *t);
void fail_decide(const struct move_turn *t);
void refresh_decide(const struct move_turn *t);
void end_decide(const struct move_turn *t);
void unclaim_decide(const struct move_turn *t);
void stop_decide(const struct move_turn *t);
void vacate_decide(const struct move_turn *t);
void suspect_decide(const struct move_turn *t);
void resolve_decide(const struct move_turn *t);
void evacuate_running_decide(const struct move_turn *t);

/* What the board tells of the record that the move is about; what the row does not read tells
 * nothing. */
struct instance_facts move_facts(const struct move_turn *t);

/* The guards of actual_lrp.def that hold between the move, that record and what stands around it;
 * also whether its crash asks for a restart at once; whether its place is taken, or it is to stay.
 */
uint32_t move_guards(const struct move_turn *t);
uint32_t crash_guards(const struct move_turn *t);
uint32_t evacuate_guards(const struct move_turn *t);

/* The crash count of the ORDINARY record after a crash now (behaviour.md 10.4). */
int32_t move_crash_count(const struct move_snapshot *s, struct moment now);

/* The index is below the desired number of instances. */
bool index_desired(const Models__DesiredLRP *desired, int32_t index);

/* Of the index's records the one of this presence; NULL = none. */
const Models__ActualLRP *record_of_presence(const struct move_snapshot *s, int presence);

/* The record that the move is about; NULL = none. What it says beside that; the place that it
 * names. */
const Models__ActualLRP *turn_record(const struct move_turn *t);
const Board__InstanceMove *turn_says(const struct move_turn *t);
const Models__ActualLRPKey *turn_key(const struct move_turn *t);

/* Puts the record at its own key, in state `to` of the lifecycle, or deletes it there. */
struct change *actual_put(const struct move_turn *t, Models__ActualLRP *record, int to);
void actual_delete(const struct move_turn *t, const Models__ActualLRP *record);

/* A new record at the ORDINARY key of the move's index, which is desired, in state `to`; the
 * auctioneer is asked. */
void actual_put_new(const struct move_turn *t, int to);

/* This record, CLAIMED or RUNNING, becomes UNCLAIMED, which is `to`: instance key and net info go;
 * routes, tags, routable, zone, crashes and placement error are kept. The auctioneer is asked if
 * the index is desired. */
void actual_put_unclaimed(const struct move_turn *t, const Models__ActualLRP *record, int to);

/* The auctioneer is asked for the move's index; the rep of this instance is told to stop it. */
void notice_start(const struct move_turn *t);
void notice_stop(const struct move_turn *t, const Models__ActualLRP *record);

/* All that the move tells of an instance that runs. The move's own parts are borrowed. */
void actual_set_running(const struct move_turn *t, Models__ActualLRP *after);

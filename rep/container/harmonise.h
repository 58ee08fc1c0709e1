/* How a rep makes the board follow its containers and its containers follow the board: the table
 * of docs/instances.md as one pure function. A is this container's instance key (cell and guid);
 * everything else is O. */
#pragma once

#include "models/actual_lrp.pb-c.h"
#include "models/error.pb-c.h"

#include <stdbool.h>

/* The container's side. */
enum harmony_container {
    WITH_RESERVED,
    WITH_STARTING, /* INITIALIZING or CREATED */
    WITH_RUNNING,
    WITH_CRASHED,  /* COMPLETED without a stop having been asked */
    WITH_SHUTDOWN, /* COMPLETED after a stop was asked */
    WITHOUT,       /* no container and no reservation bears the record's guid */
    HARMONY_CONTAINER_COUNT
};

/* The record's side, as this container sees it. */
enum harmony_record {
    RECORD_IS_UNSEEN,       /* the feed shows no own record; what stands there is not known */
    RECORD_IS_NONE,         /* a bbs answered that there is none */
    RECORD_IS_UNCLAIMED,
    RECORD_IS_CLAIMED_BY_A,
    RECORD_IS_CLAIMED_BY_O,
    RECORD_IS_RUNNING_ON_A,
    RECORD_IS_RUNNING_ON_O,
    RECORD_IS_CRASHED,
    RECORD_IS_STOPPING_BY_A, /* CLAIMED or RUNNING by A, EVACUATING or not, and a stop was asked */
    RECORD_IS_SUSPECT_BY_A,
    RECORD_IS_EVACUATING_BY_A,
    RECORD_IS_FOREIGN,      /* a state of a later version: left alone */
    HARMONY_RECORD_COUNT
};

enum harmony_action {
    HARMONY_NOTHING,
    HARMONY_GO_ON,   /* it is this container's to start, and the record says so: its next step */
    HARMONY_KEEP,    /* it runs as recorded; what changed of its routes or tags is reported */
    HARMONY_CLAIM,   /* move "claim" */
    HARMONY_START,   /* move "start"; creates the record if there is none */
    HARMONY_CRASH,   /* move "crash" (docs/instances.md, Crashes), then delete */
    HARMONY_REMOVE,  /* move "remove", then delete what there is of a container */
    HARMONY_UNCLAIM, /* move "unclaim": the instance is auctioned again */
    HARMONY_STOP,    /* stop the container; its end counts as shutdown */
    HARMONY_DELETE,  /* delete the container; a running one is stopped first */
    HARMONY_COMPLETE, /* move "complete" of a task, then delete what there is of a container */
    HARMONY_REJECT,   /* move "reject" of a task, then delete the container */
    /* The moves of these names; but for RUNNING the container is then deleted. */
    HARMONY_EVACUATE_CLAIMED,
    HARMONY_EVACUATE_CRASHED,
    HARMONY_EVACUATE_STOPPED,
    HARMONY_EVACUATE_RUNNING, /* the answer says whether the container is kept; asked again */
    HARMONY_REMOVE_EVACUATING,
    HARMONY_ACTION_COUNT
};

struct harmony {
    int row; /* number in the table of harmonise.c, for the log; test/decide/test_harmonise.c has
                the same */
    enum harmony_action action;
    const char *why; /* for the log */
};

/* The table. Every pair has an answer. */
struct harmony harmonise(enum harmony_container container, enum harmony_record record);

/* The same while the cell is being emptied (docs/instances.md, Evacuation; rep-auctioneer.md
 * 2.5). */
struct harmony harmonise_evacuating(enum harmony_container container, enum harmony_record record);

/* What to do when bbs refused `refused` with an error of this type and the record standing there is
 * now known as `record`. As the table says; where it would ask for the refused move again, the
 * refusal is final only if its type says so: then the container goes, else NOTHING is given and the
 * move is repeated later (design.md 2: a refusal that may destroy is confirmed). */
struct harmony harmonise_refused(enum harmony_container container, enum harmony_record record,
                                 enum harmony_action refused, Models__Error__Type type);
struct harmony harmonise_evacuating_refused(enum harmony_container container,
                                            enum harmony_record record,
                                            enum harmony_action refused, Models__Error__Type type);

/* How the record looks to the container (or, for WITHOUT, to the record's own instance) `guid` on
 * cell `cell_id`. `record` may be NULL: NONE. */
enum harmony_record harmony_record_of(const Models__ActualLRP *record, const char *guid,
                                      const char *cell_id);

/* "claim", "start", ...: also the names of the moves on the wire (common/lifecycle). */
const char *harmony_action_name(enum harmony_action action);

/* True for what is asked of bbs. */
bool harmony_is_move(enum harmony_action action);

/* True where record and container agree, or must be left alone: NOTHING, GO_ON and KEEP. */
bool harmony_is_rest(enum harmony_action action);

/* The record bears this container's key. */
bool harmony_record_is_own(enum harmony_record record);

/* A unit on its cell (docs/units.md, The agent): its container, whose guid is the unit's, and what
 * its agent keeps beside it. What is to be done next the table of agent.h says, each time anew; all
 * that a restarted rep needs stands on the board, in the container's note and among the facts of
 * its runs. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/container/kind.h"
#include "rep/unit/agent.h"
#include "rep/unit/tools_face.h"
#include "rep/unit/unit_fetch.h"
#include "rep/unit/unit_knowledge.h"

#include <bsd/sys/queue.h>

enum {
    UNIT_HOOKS_AT_ONCE = 4, /* that a cell runs, unless it is told otherwise, */
    UNIT_HOOKS_MAX = 64,    /* which is so many at most */
    UNITS_A_STEP_MAX = 64,  /* looked at; the rest wait for the next step */
};

/* How often one without room is tried. */
#define UNIT_ROOM_AGAIN_NS (1 * SECOND_NS)
/* When a hook was killed, and nobody here did it, the end of its container is waited for. */
#define UNIT_KILLED_NS (2 * SECOND_NS)
/* A container that ran for longer has lasted: the next one is made at once. */
#define UNIT_LASTED_NS (60 * SECOND_NS)

extern const struct container_kind unit_kind;

/* A run of its container: what its driver has told. */
struct unit_run {
    bool begun, ended, lost;
    int64_t begun_ns, ended_ns; /* monotonic */
    int exit_code, exit_signal;
    bool oom_killed, disk_full;
    char *text; /* owned; NULL = "" */
};

/* What the tools of a hook see of the board: as it was when the hook began, or when its rep came
 * back (unit_tools.h). */
struct unit_frozen {
    uint32_t run; /* of the hook */
    struct arena arena;
    struct tool_world world; /* the journal is as of now, not this one's */
};

enum unit_offer {
    OFFER_NONE,  /* it is of this cell, or nothing of it is wanted here */
    OFFER_TAKEN, /* room is set aside, and the board is to be asked for it */
    OFFER_ASKED, /* that it was granted cannot be ruled out: the room is kept */
};

enum unit_moving {
    UNIT_MOVE_NONE,
    UNIT_MOVE_ASSIGN,
    UNIT_MOVE_STATUS,
    UNIT_MOVE_ACT, /* of its agent */
};

/* What failed is not tried before. */
struct unit_wait {
    unsigned failures;
    int64_t retry_ns;
};

struct cell_unit {
    struct cell_units *table;
    char *guid;
    struct unit_name name; /* its text is owned */
    bool queued;
    bool unknown; /* to the board of now, which was restored since its container was made */
    bool foreign; /* a later version has written what it is decided by: that was logged */
    bool recall;  /* an operator ends it all the same */
    int64_t due_ns;
    enum unit_offer offer;
    const char *drop; /* why what is set aside for it is given back; NULL = it is not */

    struct unit_fetch fetch; /* of the image that its next container is made of */

    /* Moves: one at a time. */
    enum unit_moving moving;  /* the one under way */
    enum agent_act asked;     /* the last act that was a move, */
    uint64_t asked_about;     /* and its relation, or subordinate */
    struct agent_cause cause; /* by which an enter was asked */
    char *numbers_of;         /* owned; the service of which it asked numbers; NULL = none */
    bool waits_numbers;       /* somebody else asks for them */
    struct unit_wait act_wait, status_wait;
    int64_t heard_revision; /* nothing is decided before the feed has come so far */

    /* The note of the container before, which is gone with its files: its journal is what the next
     * one begins with. Owned; NULL = none, or the next one has it. */
    Rep__Note *kept;
    /* Its container. */
    bool was_up;
    bool without; /* it does not come, or cannot be had: its subordinates hear that */
    int64_t up_ns;
    bool room_lacking, room_lacked;
    int64_t room_again_ns;
    unsigned make_failures; /* in a row */
    char *make_error;
    struct unit_wait make_wait;
    Rep__Note *noting; /* owned; that VERB_NOTE writes; NULL = none */
    struct unit_run hook, command;
    uint32_t forget;  /* a run of no interest that has ended; 0 = none is known */
    uint32_t running; /* the number of VERB_RUN under way, or that ended without an answer */
    char *output;     /* owned; of the hook that has ended badly; NULL = not known */
    int64_t command_again_ns; /* the command is not begun before */
    unsigned cut_signals;
    int64_t cut_again_ns;
    unsigned stop_signals; /* to the command, which is to begin again */
    int64_t stop_again_ns;
    /* Of the tools of its hook (unit_tools.h): how often they have changed something, by which of
     * these it is on the disk, and which is being written (0 = none). */
    struct unit_frozen *frozen; /* owned; NULL = no hook has begun */
    uint64_t tool_changes, tool_written, tool_writing;
    bool busy; /* a hook is noted: of its group, and of the cell, no other one begins */
    bool waits_turn;
    int64_t turn_since_ns; /* since when; NEVER_NS = it does not */
    bool turn_told;        /* it was looked at again when that was a while */
    bool waits_cell;       /* for the end of any hook of the cell, and of no certain one */
    bool yields;        /* its hook has ended, and others wait for the cell: they are asked first */
    uint64_t last_turn; /* of its last hook, among all of the cell; 0 = it had none */
    TAILQ_ENTRY(cell_unit) queue_link, busy_link, turn_link;
};

TAILQ_HEAD(cell_unit_list, cell_unit);

/* The machine of the cell. */
struct unit_machine {
    bool due; /* its record, or what is here, may have changed */
    bool moving;
    struct unit_wait wait;
};

struct cell_units {
    struct rep *rep;
    struct unit_machine machine;
    struct unit_knowledge knowledge;
    struct tools_owner tools;
    struct map by_guid;
    struct cell_unit_list queue, hooks, turns;
    size_t hook_count;
    uint64_t turn_count;   /* hooks that were noted: whose last one is the longest ago goes first */
    int64_t due_ns;        /* the earliest of all, or sooner */
    int64_t feed_revision; /* as of the last step */
    size_t left_out;       /* topics that are wanted, and not followed; likewise */
};

/* ---- unit_table.c ---------------------------------------------------------------------------- */

/* The rep is borrowed: it owns the table. */
void cell_units_init(struct cell_units *t, struct rep *r);
void cell_units_done(struct cell_units *t);
/* How far the feed has come. */
int64_t cell_units_feed_revision(const struct rep *r);

/* By its guid; NULL = it is not known. The other makes it known. */
struct cell_unit *cell_unit_find(const struct cell_units *t, const char *guid);
struct cell_unit *cell_unit_named(struct cell_units *t, const char *guid, struct unit_name name);
/* That of this container, made known. */
struct cell_unit *cell_unit_of(struct container *c);
/* Its container; NULL = it has none, nor room for one. */
struct container *cell_unit_container(const struct cell_unit *u);
/* The guid of its principal, by its container's note; "" = it is no subordinate, or has no
 * container. Its principal and its subordinates are looked at. */
const char *cell_unit_principal(const struct cell_unit *u);
void cell_unit_queue_family(struct cell_unit *u);
/* Containers of its subordinates are here. O(units here). */
bool cell_unit_is_shared(const struct cell_unit *u);
/* Nothing of it is here, nor wanted. */
void cell_unit_forget(struct cell_unit *u);

/* It is looked at in this step, or the next; at `due_ns`. */
void cell_unit_queue(struct cell_unit *u);
void cell_unit_due(struct cell_unit *u, int64_t due_ns);
/* Its hook waits for no other one any more. */
void cell_unit_turn_over(struct cell_unit *u);

/* A hook of it is noted, and has not ended: by this journal (NULL: none); by its container's. */
bool unit_hook_is_going(const Rep__UnitNote *j);
bool cell_unit_runs_hook(const struct container *c);
/* What is known of it outlives its container: by that, or as it was kept; NULL = nothing is. */
const Rep__Note *cell_unit_about(const struct cell_unit *u);
/* Its container begins with this note; NULL: with none. A copy is kept. */
void cell_unit_keep(struct cell_unit *u, const Rep__Note *note);

/* Nothing is told of the run. What its tools see is frozen no more. */
void unit_run_clear(struct unit_run *run);
void unit_thaw(struct cell_unit *u);

/* ---- unit_seen.c ----------------------------------------------------------------------------- */

/* The facts of it as they are, in the arena, and borrowed from all. */
struct agent_facts cell_unit_facts(struct rep *r, struct arena *a, struct cell_unit *u);
/* What the service's charm runs, if the container that is up cannot become that; else NULL. One
 * that an earlier version made stays. In the arena. */
const Models__DesiredLRP *cell_unit_other_run(const struct cell_unit *u, struct arena *a);

/* ---- cell_unit.c: its kind of container, and each look at it --------------------------------- */

/* A record of the feed has changed: NULL = it is gone. The copy was emptied. */
void cell_units_record(struct rep *r, const char *key, const struct followed *record);
void cell_units_reset(struct rep *r);
/* "web/0 web/3 and 7 more": the units of this cell, as the board has them; "" = none. In the arena.
 */
const char *cell_units_text(const struct cell_units *t, struct arena *a);
/* An operator ends what no board knows. -ERR_NOT_FOUND: there is no such unit here. -ERR_CONFLICT:
 * its agent has it, or nobody can tell yet. */
int cell_units_recall(struct rep *r, const char *guid, struct err *err);
/* Adds those to /state whose container has gone, and whose note has not; the list has room. */
void cell_units_tell_kept(const struct cell_units *t, struct arena *a, Cell__CellState *s);
/* What the board says is known by now as it is: all are looked at. */
void cell_units_look_again(struct rep *r);

/* For the end of each step: topics, and units about which something has changed. */
void cell_units_step(struct rep *r, struct effects *out);

/* ---- unit_acts.c: what the table says, carried out ------------------------------------------- */

/* The act of the step, as far as it can be done now; else it is looked at again when it can. */
void unit_act(struct rep *r, struct cell_unit *u, const struct agent_facts *f,
              const struct agent_step *s, struct effects *out);
/* The end of NOTE, RUN, READ and FORGET. */
void unit_acted(struct rep *r, struct container *c, const struct verb_answer *answer,
                struct effects *out);

/* Something of its note is another: `what` of its unit's part, and `journal` if not NULL. */
void unit_note(struct rep *r, struct container *c, const Rep__UnitOf *what,
               const Rep__UnitNote *journal, struct effects *out);

/* ---- unit_moves_out.c: moves of a unit, one at a time ---------------------------------------- */

/* Wants the move of the act, or of the status, unless one is under way or has to wait. */
void unit_want_move(struct rep *r, struct cell_unit *u, const struct agent_step *s);
void unit_want_status(struct rep *r, struct cell_unit *u);
void unit_want_assign(struct rep *r, struct cell_unit *u);

/* ---- unit_machine.c: the machine, when the last unit has gone -------------------------------- */

/* One that is dying is dead when nothing of a unit is left here. */
void unit_machine_look(struct rep *r);

/* ---- unit_launch.c: from what is set aside to a container that waits ------------------------- */

/* Room, and a container that is to be made, by the record on the board. False: there is none. */
bool unit_set_aside(struct rep *r, struct cell_unit *u, const Board__UnitRecord *unit,
                    struct effects *out);
/* It begins to be made: with this journal. */
void unit_make(struct cell_unit *u, const struct agent_step *s, struct effects *out);
/* The next step of one that is being made. */
void unit_launch(struct rep *r, struct cell_unit *u, struct effects *out);
/* It could not be made: tried again after a while. */
void unit_make_failed(struct rep *r, struct cell_unit *u, const char *why);

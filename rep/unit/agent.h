/* What the agent of a unit does next (docs/units.md, The agent). Pure: the ladder above
 * agent_next() looks at the board, the container, the journal and the hook that runs, and the first
 * row that holds gives one act. When that is done, or anything changes, it is asked again. */
#pragma once

#include "common/contract/moment.h"
#include "common/model/unit_name.h"
#include "rep/unit/hook.h"
#include "rep/unit/journal.h"

#include "units.pb-c.h"

enum {
    AGENT_CHILDREN_MAX = 8,      /* subordinates of a unit */
    AGENT_MAKES_MAX = 3,         /* failures after which a Dying unit goes without its container */
    AGENT_STATUS_TEXT_MAX = 512, /* bytes */
};

/* A hook that has run, or waited for its turn, for so long is reported: people wait for it. Others
 * cost no write. */
#define AGENT_HOOK_TOLD_NS (2 * SECOND_NS)

/* ---- What it looks at ------------------------------------------------------------------------ */

/* The container of the unit's guid, by the driver. */
enum agent_container {
    AGENT_CONTAINER_NONE,   /* nothing of it is there, no journal either */
    AGENT_CONTAINER_DOWN,   /* its files and its journal are there, and it does not run */
    AGENT_CONTAINER_MAKING, /* it is being made, or begun again */
    AGENT_CONTAINER_UP,
    AGENT_CONTAINER_ENDING, /* it was recalled, and is not gone yet */
};

/* The process of the hook that the journal notes, by the driver. */
enum agent_run {
    AGENT_RUN_NONE, /* it has never begun */
    AGENT_RUN_GOES,
    AGENT_RUN_GOOD, /* it exited with 0 */
    AGENT_RUN_BAD,
    AGENT_RUN_LOST, /* nobody can tell how it ended */
};

/* The container of a subordinate's principal, whose network it shares. */
enum agent_principal {
    AGENT_PRINCIPAL_UP,   /* or it is none */
    AGENT_PRINCIPAL_DOWN, /* it is to be there */
    AGENT_PRINCIPAL_GONE, /* it does not come any more, or cannot be had */
};

/* What bbs judges an enter by, as modification revisions; 0 = there is no such record. And who
 * asked: what it refused to a cell that was lost it takes from the one that is back. */
struct agent_cause {
    uint64_t unit, relation, child, service;
    uint32_t number; /* of the subordinate, and one more; 0 = it brings none */
    uint64_t incarnation;
};

/* A relation of the unit's service. */
struct agent_relation {
    const Board__RelationRecord *record;
    uint64_t revision;
    /* The service at its other end, which the agent has to know if that end is of subordinates. */
    const Board__UnitServiceRecord *other; /* NULL = not known yet */
    uint64_t other_revision;
    bool has_number;            /* one is reserved out of that service's sequence, */
    uint32_t number;            /* for a subordinate of it that is to be made */
    struct agent_cause refused; /* by which its enter was refused: agent_cause_of() */
    bool was_refused;
};

/* A subordinate of the unit. */
struct agent_child {
    struct unit_name name;
    bool alive;
    uint64_t revision; /* of its record */
    const char *guid;
};

struct agent_facts {
    const char *cell_id, *identity; /* the rep's own */
    uint64_t incarnation;           /* the present one */
    const char *guid;               /* of the container; without one, of the unit */
    int64_t now_ns;                 /* monotonic, as all that is no record's */
    int64_t wall_ns;                /* the same by the wall clock */

    /* The board. `confirmed`: a bbs answered behind the barrier in this epoch, and all of this
     * is known; else what is here of the board may be old. */
    bool confirmed;
    const Board__UnitRecord *unit; /* of that name; NULL = there is none */
    uint64_t revision;             /* of it */
    const Board__UnitStatusRecord *status;
    uint64_t status_revision;
    const Board__UnitServiceRecord *service; /* of the unit's service_guid, else NULL */
    /* Of the unit's principal_guid, else NULL; of a container that is not the unit's, of the one
     * that its note has. */
    const Board__UnitRecord *principal;
    struct unit_sight sight;                /* its memberships; the status says what is resolved */
    const struct agent_relation *relations; /* all of its service, by number */
    size_t relation_count;
    const struct agent_child *children;
    size_t child_count;

    /* The cell. */
    bool room;         /* is set aside for it */
    bool room_lacking; /* there is none; false again when some may have come, and it is tried */
    bool room_lacked;  /* there was none when it was tried last */
    enum agent_container container;
    bool remake;               /* UP: the service's charm asks for another one, which can be had */
    const char *upgrade_error; /* UP: why that cannot be had; the charm of `sight` is the old one
                                * then. "" = it can, or is not asked for */
    bool anew;                 /* DOWN: its files are gone, or go before it begins again */
    bool gone;                 /* DOWN: they are gone */
    unsigned make_failures;    /* in a row */
    int64_t make_again_ns;     /* when it is tried again */
    const char *make_error;    /* why it failed, "" = it did not */
    enum agent_principal principal_container;
    bool shared;       /* containers of subordinates are here */
    bool recall_asked; /* an operator ends this container, which no board knows */
    bool group_busy;   /* a hook runs of its principal, or of one that has the same */
    bool cell_busy;    /* as many hooks run as the cell runs at once: */
    uint32_t hooks_at_once;
    int64_t turn_since_ns; /* so long a hook of it has waited for others; NEVER_NS = none waits */

    /* What it was told. NULL: without a container; or the journal is not understood. */
    const Rep__UnitNote *journal;
    bool noting; /* a hook is being noted: it begins when that is done */
    enum agent_run run;
    const char *run_text; /* how it ended */
    int64_t run_begun_ns; /* of one that goes; NEVER_NS = it is not known to have begun */
    int64_t run_limit_ns; /* when a hook that runs has taken too long */
    const char *token;    /* of the next hook, another one each time */

    /* To be reported. */
    const char *text; /* what its hooks say of it, "" = nothing */
    const char *address;
    Models__PortMapping **ports;
    size_t port_count;
    int32_t crash_count;      /* of its command, */
    const char *crash_reason; /* and how that ended; NULL or "" = it never has */
};

/* ---- What it says ---------------------------------------------------------------------------- */

enum agent_act {
    AGENT_WAIT,
    AGENT_RECALL, /* stop and delete the container, with no hook */
    AGENT_REMOVE, /* the moves of the unit of these names */
    AGENT_DIE,
    AGENT_DESTROY,
    AGENT_DESTROY_CHILD, /* the move `destroy` of `child` */
    AGENT_SET_ASIDE,     /* room */
    AGENT_MAKE,          /* the container, or begin it again; `journal` is noted with it */
    AGENT_ADOPT,   /* this and the next three: make `journal` durable. The board is another one */
    AGENT_NOTE,    /* the hook of `hook` begins */
    AGENT_END,     /* the hook that ran has ended; `hook` says which */
    AGENT_ACCEPT,  /* the hook in error counts as done */
    AGENT_EXECUTE, /* the process of the hook that the journal notes */
    AGENT_CUT,     /* end that process, for its time is over */
    AGENT_REMAKE,  /* stop and delete the container, but for the journal */
    AGENT_PUBLISH, /* what hooks have set in `relation`; then journal_published() */
    AGENT_LEAVE,   /* `relation` */
    AGENT_REPORT,  /* `status`, before anything else goes on */
    AGENT_NUMBERS, /* of the sequence of `service` */
    AGENT_ENTER,   /* `relation`, with `child` if it brings one */
    AGENT_ACT_COUNT
};

struct agent_step {
    int row;         /* of the table of agent.c, for the log */
    const char *why; /* for people: what it does, or what it waits for */
    enum agent_act act;
    Rep__UnitNote *journal; /* as it is to be before the act goes on; NULL = as it is */
    struct hook_subject hook;
    uint32_t relation;
    const char *relation_guid; /* of enter */
    struct unit_name child;
    bool brings_child;
    const char *service;
    /* Beside the act: the status as it should be, by `report` or `fail`, of the revision of the
     * status that was looked at; NULL = the board has it so, or would not take it. */
    Board__UnitStatusRecord *status;
    bool fails;            /* by `fail` */
    int64_t look_again_ns; /* though nothing changes; NEVER_NS = never */
    bool without;          /* its container is not there, and does not come, or cannot be had */
};

/* The first row that holds. A refused move is asked again, by the caller's back-off, as long as
 * this says it; of a refused enter it has to keep agent_cause_of(). Results live in the arena, and
 * borrow from the facts. */
struct agent_step agent_next(struct arena *a, const struct agent_facts *f);

/* By what bbs judges that the unit enters: it is not tried again before this is another. */
struct agent_cause agent_cause_of(const struct agent_facts *f, const struct agent_relation *r);

/* How far it is: the state of unit_agent.def. */
int agent_state(struct arena *a, const struct agent_facts *f);

/* "recall", "leave", ... */
const char *agent_act_name(enum agent_act act);

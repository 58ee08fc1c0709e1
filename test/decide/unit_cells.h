/* The agents of units in the small world of unit_world.h: cells whose reps hear of commits late,
 * follow topics, and act by agent_next() over what they know; containers, hooks and the authors of
 * these. A rep forgets all but its containers and their journals when it dies. The laws are held:
 *
 *   V10  hooks come in order: one at a time in a principal and its subordinates, none of a unit
 *        that is dead, none again that has ended well; joined before changed before departed
 *        before broken; a unit leaves what it owes no hook any more
 *        A subordinate's container begins when its principal's runs, and that one's when there is
 *        none of a subordinate
 *   V15  nobody is told what a hook has set that failed */
#pragma once

#include "rep/unit/unit_moves.h"
#include "test/decide/unit_world.h"
#include "test/tool/unit_author.h"

enum { UNIT_CELLS = 3, UNIT_AGENTS_MAX = 64, UNIT_CELL_TURNS = 64 };

struct unit_agent_model {
    char guid[GUID_BYTES];
    char principal[GUID_BYTES]; /* its guid; "" = it is none's subordinate */
    struct unit_name name; /* in the world's arena */
    unsigned cell;
    /* It outlives the rep. */
    enum agent_container container;
    enum agent_run run;
    bool gone; /* DOWN: only its journal is left */
    uint8_t *journal; /* NULL = none */
    size_t journal_size;
    struct unit_author author;
    uint64_t run_number; /* of its last hook */
    /* It does not. */
    bool room, lacking, restarted;
    bool without; /* as its agent says */
    unsigned make_failures;
    bool busy; /* a move of it is under way */
    char why[160];
};

struct unit_cell {
    char id[8];
    struct unit_knowledge k;
    size_t heard;         /* entries of the world's log */
    struct map snapshots; /* topic -> the revision of its snapshot */
};

/* A move that a rep has made. */
struct unit_cell_turn {
    struct unit_turn turn;
    unsigned cell;
    char guid[GUID_BYTES];
    bool orphan; /* the rep that made it has died */
    bool enters, takes_numbers;
    struct unit_name unit;
    uint32_t relation;
    struct agent_cause cause;
    const char *service;
};

struct unit_cells {
    struct unit_world *w;
    struct unit_cell cells[UNIT_CELLS];
    struct unit_agent_model agents[UNIT_AGENTS_MAX];
    size_t agent_count;
    struct unit_cell_turn turns[UNIT_CELL_TURNS];
    size_t turn_count;
    struct map stamps; /* key -> its revisions in the store */
    size_t stamped;    /* entries of the log */
    struct map failed; /* keys that failed hooks have set */
    uint64_t runs;
    bool calm; /* nothing fails any more */
    /* How often, so that nothing is tried that never comes true. */
    size_t acts[AGENT_ACT_COUNT], ends[3], deaths, refused, gave_up;
};

/* Of a record in the store. */
struct unit_stamp {
    int64_t created, modified;
};

/* unit_cell_feed.c: when which record was written in the store; a rep begins, with what there is of
 * its cell; it hears of so many commits; it follows some of the topics that it wants. */
void unit_cells_stamp(struct unit_cells *c);
void unit_cell_begin(struct unit_cells *c, struct unit_cell *cell);
void unit_cell_end(struct unit_cell *cell);
void unit_cell_hear(struct unit_cells *c, struct unit_cell *cell, size_t count);
void unit_cell_follow(struct unit_cells *c, struct unit_cell *cell);

void unit_cells_init(struct unit_cells *c, struct unit_world *w);
void unit_cells_done(struct unit_cells *c);

/* A cell hears of some commits; an agent does its next thing, or makes a move of it; something
 * happens to a container, a hook or a rep; or a move is settled. */
void unit_cells_step(struct unit_cells *c);

/* Nothing is under way, every cell has heard all, and every agent waits. */
bool unit_cells_at_rest(struct unit_cells *c);

/* At rest: every unit that has started was told of all whom it sees, as they are now. */
void unit_cells_all_told(struct unit_cells *c);

/* What is left of agents, for whoever wonders why they do not end. */
const char *unit_cells_text(struct unit_cells *c, struct arena *a);

/* A small world of units for schedules: a store, and two bbs that hear of its commits late. Whoever
 * wants something gathers and decides at one of them, and commits later, or never. After each
 * commit the laws of test/tool/unit_laws.h are held. */
#pragma once

#include "test/decide/laid_system.h"

enum { UNIT_WORLD_BBS = 2 };

/* A record as a commit left it. */
struct unit_world_entry {
    const char *key;
    const ProtobufCMessage *before, *after; /* NULL = none */
    int64_t revision;
};

struct unit_world {
    uint64_t seed;
    struct arena arena;
    struct random random;
    struct laid_board *store, *bbs[UNIT_WORLD_BBS];
    size_t heard[UNIT_WORLD_BBS]; /* entries of the log */
    struct unit_world_entry *log;
    size_t log_count, log_capacity;
    int64_t revision;
    size_t commits, conflicts, refusals, changes_most;
    uint32_t numbers; /* of subordinates, drawn so far; none comes back */
    bool at_rest;     /* everything is to go: clients want nothing else */
};

/* The records of the texts (unit_rows.h), the cells c1 to c3 of identity I, and the converger's
 * lock are there, and both bbs know them. */
void unit_world_init(struct unit_world *w, uint64_t seed, const char *texts);
void unit_world_done(struct unit_world *w);

/* Somebody's wish, as it was decided at a bbs. */
struct unit_turn {
    struct arena arena;
    unsigned bbs;
    enum actor actor;
    const char *peer; /* the cell of a rep */
    const struct op_row *op;
    const ProtobufCMessage *request;
    struct laid_plan plan;
};
void unit_turn_init(struct unit_turn *t, unsigned bbs);
void unit_turn_done(struct unit_turn *t);

/* A move of the actor, as its family has it: "destroy unit/web/0000000003 guid=g". */
void unit_turn_move(struct unit_turn *t, const struct move_family *family, enum actor actor,
                    const char *peer, const char *text);

/* Gathers and decides at its bbs. */
void unit_world_decide(struct unit_world *w, struct unit_turn *t);

/* Commits what was decided: false if its compares do not hold any more. What commits nothing is
 * refused, or nothing. */
bool unit_world_commit(struct unit_world *w, struct unit_turn *t);

/* The bbs hears of this many entries more. */
void unit_world_hear(struct unit_world *w, unsigned bbs, size_t count);

/* All was destroyed: nothing is left that is to go (V11). */
void unit_world_is_empty(struct unit_world *w);

/* A story: what befalls a small cluster, told by its trace. Each is a function of a file of this
 * directory and a row of stories.def; test_scenarios tells them all, compares what one seed prints
 * with test/sim/expected/NAME.trace, and demands that its assertions hold for many seeds.
 *
 * To add one: write story_NAME here, a row of stories.def, and keep what
 *     build/release/test/sim/test_scenarios --print NAME
 * prints, once it reads well. A story asserts what must hold whatever the seed; where it draws, it
 * draws from world_random. A failing one prints its trace so far. */
#pragma once

#include "test/sim/world/cluster.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>

/* What is asked for is there within this time, unless a story says otherwise. */
#define SETTLE_NS (10 * SECOND_NS)

struct story {
    const char *name;
    void (*tell)(
        struct cluster *c); /* the cluster is ready: cells have incarnations, leaders lead */
    uint64_t seed;                   /* of the trace that is kept */
    unsigned seeds;                  /* how many others it is told with; 0 = 100 (sanitized: 20) */
    bool alike; /* of the kept trace, too, the cells are alike; else they are graded (cluster.h), so
                   that what is told of one does not change with what is drawn */
    bool from_start;                 /* the kept trace tells how the cluster came up, too */
    const char *without[8];          /* lines with these words stay out of the kept trace */
    struct cluster_options cluster;  /* delays given here hold for the kept trace alone */
};

#define STORY(name, ...) void story_##name(struct cluster *c);
#include "test/sim/stories/stories.def"

/* All of them; the last has no name. */
extern const struct story stories[];

/* A line of the narrator in the trace. The first one is the story's head. */
void says(struct cluster *c, const char *text);

/* Waits until the store has so many ORDINARY records of the process in this state ("" = any);
 * fails when it does not within SETTLE_NS. */
void await(struct cluster *c, const char *process_guid, const char *state, int count);
void await_at_least(struct cluster *c, const char *process_guid, int count);

/* Waits until so many instances run, no other record of the process and no other container is left,
 * and demands that it stays so for 5 s. 0 = the process is gone. */
void await_running(struct cluster *c, const char *process_guid, int count);
void await_gone(struct cluster *c, const char *process_guid);

/* A world_answered that keeps the status in an int. */
void note_status(void *status, int answered, struct bytes body);

/* An ordinary client, as a rep of Diego's is one, asks `bbs` for a move of an instance of "web"
 * that it calls its own, on a cell "elsewhere" that has no rep of ours. `move` is claim, start,
 * remove or crash. Gives the error type of the answer, 0 = done, -1 = none but unavailable;
 * *ret_error is PENDING until then. */
enum { PENDING = -2 };
void elsewhere_send(struct cluster *c, struct node *bbs, const char *move, int index,
                    const char *instance_guid, int *ret_error);
int elsewhere(struct cluster *c, struct node *bbs, const char *move, int index,
              const char *instance_guid);

/* The same of an instance on this cell, as a client of the API asks for it. */
int client_move(struct cluster *c, const char *move, int index, const char *instance_guid,
                const char *cell);

/* The first cell that runs something. One that was late when the auction asked may have nothing. */
struct node *cell_with_a_container(struct cluster *c);

/* Cuts or heals one direction between a cell and every bbs; NULL = every bbs. */
void cut_way(struct cluster *c, struct node *from, struct node *to, bool cut);

/* A whole two-way partition of a cell from every bbs, or its end. */
void cut_cell(struct cluster *c, struct node *cell, bool cut);

/* Waits for the only instance of "web" to run; then its process ends by itself. */
void crash(struct cluster *c);

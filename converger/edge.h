/* The keeper of a centre of sites: it leads on what waits for something else, ends what nobody
 * ended in time, takes back what failed, and finds the sites that fell silent (edge.def). What has
 * a move on its way waits for the answer. Pure. */
#pragma once

#include "converger/edge_passes.h"
#include "converger/keeper.h"
#include "converger/work.h"

/* Moves of these on their way at once; the rest waits, so that others find room as well. */
enum { EDGE_MOVING_MAX = 1024 };

/* A record that a pass may lead on. */
struct kept_edge {
    struct work_item item; /* first: a struct work_item * is a struct kept_edge * */
    struct judged judged;  /* that its one move rests on */
    int state;             /* of its lifecycle; -1 = one of a newer version */
    char *holder;          /* of a cluster: the instance that has it; NULL = none */
    int64_t since;         /* wall clock, of the state */
    int64_t deadline;      /* wall clock, of its operation or answer; 0 = none */
    bool overdue;          /* that is over, and it goes on */
    int64_t in_vain_since; /* wall clock: a delete began then, and failed; 0 = none did */
    char key[];
};

struct edge_keeper {
    struct kept kept;
    struct map by_key; /* -> struct kept_edge */
    struct work work;
    int64_t listen_ns; /* silences are looked for not before */
};

/* Appends what GET /metrics tells of them, in Prometheus' text format: sites and objects by state,
 * overdue operations, the oldest deadline, and of a leader how long each site was not heard.
 * Nothing where there is none. */
void edge_measure(const struct edge_keeper *k, struct arena *a, struct buf *out);

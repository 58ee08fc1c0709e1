/* The swarm of the edge: one seed draws a centre and one to four sites in one world, what users ask
 * of them, and what befalls both ends and the links between; the checkers look on at every commit;
 * then everything is healed and must converge (docs/edge.md; checkers: test/sim/checkers/edge*.c).
 * What befalls each of the clusters is drawn by the core's own faults (test/sim/swarm). */
#pragma once

#include "test/sim/swarm/swarm.h"

/* What is done, and what befalls the links. */
#define COUNT(id, text) EDGE_##id,
enum edge_count {
#include "test/sim/swarm_edge/counts.def"
    EDGE_COUNTS
};

struct edge_result {
    struct swarm_result base; /* its `done` is not used */
    unsigned done[EDGE_COUNTS];
    int64_t cut_ns; /* of links, together; virtual */
};

/* The caller calls edge_result_done. */
void edge_swarm_run(uint64_t seed, bool trace, struct edge_result *ret);
void edge_result_done(struct edge_result *r);

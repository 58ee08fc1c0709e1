/* The swarm: one seed draws a cluster, its delays, a workload and faults; the checkers look on at
 * every commit; then everything is healed and must converge (design.md 9). */
#pragma once

#include "common/base/bytes.h"
#include "test/sim/checkers/checkers.h"

#include <stdbool.h>
#include <stdint.h>

#define FAULT(id, ...) FAULT_##id,
enum swarm_fault {
#include "test/sim/swarm/faults.def"
    FAULT_COUNT,
    FAULT_DRAWN = FAULT_RESTORE /* those before it are drawn again and again */
};

/* What is counted of the workloads: rows of workloads.def. */
#define COUNT(id, text) DONE_##id,
enum swarm_done {
#include "test/sim/swarm/workloads.def"
    DONE_COUNT
};

struct swarm_result {
    bool failed;
    struct buf reason; /* one sentence: which invariant, or what did not converge */
    struct buf trace;  /* of a failed seed, or when it was asked for */
    unsigned faults[FAULT_COUNT];
    unsigned done[DONE_COUNT];
    unsigned seen[SEEN_COUNT]; /* by the checkers */
    int64_t virtual_ns;
};

/* The caller calls swarm_result_done. */
void swarm_run(uint64_t seed, bool trace, struct swarm_result *ret);
void swarm_result_done(struct swarm_result *r);

/* Whether somebody does that work in the seed: the name of a row of workloads.def, or it is -1. */
int swarm_does(const char *workload, uint64_t seed);

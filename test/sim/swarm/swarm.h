/* The swarm: one seed draws a cluster, its delays, a workload and faults; the checkers look on at
 * every commit; then everything is healed and must converge (design.md 9). */
#ifndef TEST_SIM_SWARM_SWARM_H
#define TEST_SIM_SWARM_SWARM_H

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum swarm_fault {
    FAULT_KILL,
    FAULT_KILL_WITHIN, /* in the middle of a step */
    FAULT_KILL_COMMIT, /* right after its transaction landed */
    FAULT_KILL_ASKING, /* right after it asked, and its words arrive late */
    FAULT_PAUSE,
    FAULT_CUT_ONE_WAY,
    FAULT_CUT_TWO_WAY,
    FAULT_CUT_STORE, /* one or both directions */
    FAULT_LOSSES,    /* of requests and answers between processes */
    FAULT_DOUBLES,
    FAULT_DELAYS,
    FAULT_STORE_LOSSES, /* of requests and answers of etcd: unknown outcomes */
    FAULT_STORE_DELAYS, /* writes that land after they were given up */
    FAULT_WATCH_BREAK,
    FAULT_WATCH_STALL,
    FAULT_WATCH_SKIP, /* a revision is left out */
    FAULT_WATCH_CHANGE, /* a change of one is left out, or told twice: its transaction tells */
    FAULT_WATCH_SILENT, /* a change is left out, and nothing tells but the periodic list */
    FAULT_COMPACT,
    FAULT_ELECTION,
    FAULT_SLOW_RUNTIME,
    FAULT_FAILING_RUNTIME,
    FAULT_HUNG_RUNTIME,
    FAULT_DEAF, /* a process that ignores SIGTERM */
    FAULT_CLOCK_JUMP,
    FAULT_STORM,    /* all connections of everything break at once */
    FAULT_NO_SPACE, /* etcd is out of quota */
    FAULT_LONG_PAUSE,
    FAULT_CELL_CUT,  /* reaches nobody, or nobody reaches it, for long */
    FAULT_CELL_AWAY, /* killed, and started again late: its containers run on */
    FAULT_CELL_FELL, /* the same, and its containers end with it */
    FAULT_MASS_LOSS, /* several cells at once */
    FAULT_EVACUATE,  /* a cell is to be emptied */
    FAULT_EVACUATE_AT_ONCE, /* as it has started something, and where nobody has heard of that */
    FAULT_RESTORE,   /* etcd, as it was earlier, by the book (docs/restore.md) */
    FAULT_LOST_WRITES, /* etcd, as it was earlier, and nobody is told */
    FAULT_COUNT,
    FAULT_DRAWN = FAULT_RESTORE /* those before it are drawn again and again */
};

const char *swarm_fault_name(enum swarm_fault fault);

struct swarm_result {
    bool failed;
    struct buf reason; /* one sentence: which invariant, or what did not converge */
    struct buf trace;  /* of a failed seed, or when it was asked for */
    unsigned faults[FAULT_COUNT];
    unsigned crashes; /* of containers */
    unsigned requests, answered, lists;
    unsigned commits, changes, verbs;
    unsigned tasks, tasks_run, callbacks; /* desired; executed; told */
    unsigned lost_cells, brakes, suspects; /* moves among the changes */
    unsigned locked, locks_lost; /* granted to outside owners; changed hands or taken away */
    unsigned fallbacks, untold; /* told of in logs; verbs done that nobody answered */
    unsigned copies_repaired;   /* of bbs processes, after a slip that nothing told of */
    unsigned calm;              /* 1: nothing befell it */
    unsigned evacuated, emptied;           /* likewise: evacuate_..., leave */
    unsigned accepted;                     /* answers 202 to POST /evacuate */
    unsigned streams, events; /* of Diego's clients: begun; heard */
    int64_t virtual_ns;
};

/* The caller calls swarm_result_done. */
void swarm_run(uint64_t seed, bool trace, struct swarm_result *ret);
void swarm_result_done(struct swarm_result *r);

#endif

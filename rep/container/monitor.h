/* One round of an instance's monitor: its action is run once, from beginning to end, by the machine
 * of steps (rep/steps/machine.h) over facts that are kept for this round only. What begins is an
 * EXEC of the container's step; what is cut is ended at once (docs/cell.md, Health). Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/driver.h"
#include "common/contract/moment.h"
#include "rep/steps/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most programs of monitors at work at once on a cell; and how long one may take. */
enum { MONITORS_MAX = 64 };
#define MONITOR_RUN_NS (60 * SECOND_NS)

struct monitor_round {
    bool open;
    struct arena arena;         /* of all below */
    size_t step_count;          /* of its tree, whose whole is step 0 */
    struct step_fact *facts;    /* by time, no two at the same */
    size_t fact_count;
    uint64_t *execs;            /* by step: the open EXEC; 0 = none is */
    bool *told;                 /* by step: that one was told to end */
    int64_t begun_ns, last_ns;  /* of the round; of its last fact */
};

struct monitor_orders {
    const uint32_t *begins; /* steps of the tree */
    size_t begin_count;
    const uint64_t *ends;   /* ids of EXECs that are to be ended; each is given once */
    size_t end_count;
    bool over;        /* nothing is left to be done or awaited */
    const char *text; /* why it failed; "" = it came out well. Until monitor_end() */
    int64_t due_ns;   /* look again then, if nothing happens before; NEVER_NS = no need */
};

/* A round of a tree of so many steps begins. Then monitor_end() frees it; a round that is not open
 * is fine for that. */
void monitor_begin(struct monitor_round *m, size_t step_count, int64_t now_ns);
void monitor_end(struct monitor_round *m);

/* What is next, in the arena; the tree is that of the container's note, wherever it stands now. */
struct monitor_orders monitor_next(struct arena *a, struct monitor_round *m,
                                   const struct action_tree *tree, int64_t now_ns);

/* This step's program was begun, by this EXEC. */
void monitor_begun(struct monitor_round *m, uint32_t step, uint64_t exec, int64_t now_ns);

/* The answer to an EXEC; false: to none of this round, which counts for nothing. */
bool monitor_answered(struct monitor_round *m, const struct verb_answer *answer, int64_t now_ns);

/* The EXECs that are open, for who gives the round up; in the arena. */
const uint64_t *monitor_running(struct arena *a, const struct monitor_round *m, size_t *ret_count);

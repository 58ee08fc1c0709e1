/* The decisions of the converger: one process as the board shows it in, repairs out. The rows are
 * passes.def. Pure. */
#ifndef CONVERGER_PASSES_H
#define CONVERGER_PASSES_H

#include "common/base/arena.h"
#include "common/contract/moment.h"
#include "common/model/crash_policy.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* Repairs of one process that one evaluation plans; the rest follows when these are done. */
enum { REPAIRS_MAX = 4096 };

/* An ORDINARY record. */
struct instance_view {
    const Models__ActualLRP *record;
    bool fresh; /* its domain is */
};

/* A process as the copy shows it. */
struct process_view {
    const char *process_guid;
    const Models__DesiredLRP *desired;     /* scheduling part; NULL = not desired */
    bool job;                              /* a bbs is at work on its instances */
    const struct instance_view *instances; /* by index */
    size_t count;
    int64_t wall_ns;
    int64_t unplaced_after_ns;
    const struct crash_policy *policy;
};

struct repair {
    const char *pass; /* which row found it */
    const char *move; /* named move that repairs it */
    int32_t index;
};

struct repairs {
    struct arena *arena;
    struct repair *list;
    size_t count;
    bool more;           /* there was no room for all */
    int64_t due_wall_ns; /* the next one that only waits for time; NEVER_NS = none */
};

/* Empty. */
void repairs_init(struct repairs *r, struct arena *arena);

/* Runs the rows; those of full passes only when `full`. */
void passes_run(const struct process_view *v, bool full, struct repairs *r);

#endif

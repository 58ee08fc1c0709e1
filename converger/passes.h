/* The decisions of the converger: from one process, as the board shows it, to its repairs. The rows
 * are passes.def. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/moment.h"
#include "common/model/crash_policy.h"
#include "common/model/sighting.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Repairs of one process that one evaluation plans; the rest follows when these are done. */
enum { REPAIRS_MAX = 4096 };

/* ORDINARY, EVACUATING, SUSPECT. */
enum { PRESENCES = 3 };

/* What the passes need of a DesiredLRP. */
struct desired_view {
    bool is; /* desired at all */
    int32_t instances;
    bool replaces; /* an instance does not wait for its cell (on_cell_loss) */
};

/* NULL: nothing is desired. */
void desired_view_of(const Models__DesiredLRP *desired, struct desired_view *ret);

/* What the passes need of a record. */
struct instance_view {
    int64_t since_ns; /* wall clock of who wrote it */
    struct sighting seen;
    int32_t index;
    int32_t crash_count;
    uint8_t presence; /* Models__ActualLRP__Presence */
    int8_t state;     /* enum actual_lrp_state; -1 = one of a newer version */
    bool stopping;
    /* Found out by whoever looks. */
    bool fresh;        /* its domain is */
    bool cell_present; /* it names a cell, which is on the board and not LOST */
    bool differs;      /* it shows other routes or tags than are desired */
};

/* All but what a look finds out, which is false, and how it is known. */
void instance_view_of(const Models__ActualLRP *record, int32_t index, int presence,
                      struct instance_view *ret);

/* A process as the copy shows it, or a part of it. */
struct process_view {
    int32_t first, last; /* the indices that are looked at */
    struct desired_view desired;
    bool job;                              /* a bbs is at work on its instances */
    const struct instance_view *instances; /* by index, then presence */
    size_t count;
    struct moment now;
    int64_t remake_ns; /* monotonic: what is missing is made from then on */
    int64_t unplaced_after_ns;
    const struct crash_policy *policy;
};

struct repair {
    const char *pass; /* which row found it */
    bool on_change;   /* which finds it whenever something changes, and not in full passes alone */
    const char *move; /* named move that repairs it */
    int32_t index;
};

struct repairs {
    struct arena *arena;
    struct repair *list;
    size_t count;
    bool more;      /* there was no room for all */
    int64_t due_ns; /* monotonic: the next one that only waits for time; NEVER_NS = none */
};

/* Empty. */
void repairs_init(struct repairs *r, struct arena *arena);

/* Runs the rows; those of full passes only when `full`. */
void passes_run(const struct process_view *v, bool full, struct repairs *r);

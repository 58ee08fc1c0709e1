/* The decisions of the converger about units, machines, and what belongs to them: from one record,
 * as the board shows it, to the move that ends it, if nobody else does. The rows are units.def.
 * Pure. */
#pragma once

#include "common/model/keys.h"

#include <stdbool.h>

enum { CHARM_STATE = 0 };

/* What is decided by. */
struct unit_end_sight {
    enum record_type kind;
    int state; /* of its lifecycle; -1 = one of a newer version */
    /* The cell that it is on: has a record, which says PRESENT, and is of its state directory. */
    bool cell_known, cell_present, cell_same;
    bool leave;         /* of a machine: its cell is to leave first */
    bool waits;         /* of a unit: for a machine */
    bool service_dying; /* of a unit */
    bool read;          /* of a charm: its service has it now, or a unit runs it, or may yet */
    bool held;  /* of a relation: somebody is in it; of a service: it has units, relations */
    bool stood; /* it stood so in the full pass before */
};

struct unit_repair {
    const char *pass; /* which row found it; NULL = nothing is to be done */
    const char *move;
    bool leak; /* nobody should have left it: it is a fault */
};

/* What is to be done with this one now. */
struct unit_repair unit_passes_run(const struct unit_end_sight *s);

/* What is looked at in full passes alone: nobody waits for its end. */
bool unit_kind_rests(enum record_type kind);

/* The decisions of the converger about sites, clusters and instances there: from one record, as the
 * board shows it, to the move that leads it on, if neither a client nor a CRM does. The rows are
 * edge.def. Pure. */
#pragma once

#include "common/model/keys.h"

#include <stdbool.h>

/* What is decided by. */
struct edge_sight {
    enum record_type kind;
    int state;     /* of its lifecycle; -1 = one of a newer version */
    bool overdue;  /* the deadline of its operation, or of an answer, is over */
    bool ready;    /* of an instance: the cluster that it waits for is there */
    bool failed;   /* the same one failed, or is gone */
    bool held;     /* something depends on it, or is at the site */
    bool refused;  /* of that something did not go, since this delete began */
    bool stays;    /* of a site: it was READY, and no upgrade is under way: it waits for its CRM */
    bool restored; /* the site says that the former values run */
    bool goes;     /* nobody wants it any more, and it was not tried in vain */
    bool silent;   /* of a CRM: not heard of for too long */
};

struct edge_repair {
    const char *pass; /* which row found it; NULL = nothing is to be done */
    const char *move;
};

/* What is to be done with this one now. */
struct edge_repair edge_passes_run(const struct edge_sight *s);

/* The lifecycle of a record of this kind. */
const struct lifecycle *edge_lifecycle(enum record_type kind);

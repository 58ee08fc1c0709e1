/* The keeper of services: it counts what runs of each, writes down how it is, and rolls it from
 * what runs to what is to run, one step after the other (service_look.h). Pure. */
#pragma once

#include "converger/keeper.h"
#include "converger/service_look.h"
#include "converger/work.h"

/* What runs of a revision; the process_guids of a service's revisions are its own. */
struct service_process {
    struct kept_service *of;
    struct seats seats;
    bool named; /* by the record that was learned last */
    char guid[];
};

/* A service with a record. */
struct kept_service {
    struct work_item item; /* first: a struct work_item * is a struct kept_service * */
    struct map processes;  /* process_guid -> struct service_process */
    bool full;             /* the look is one of a full pass */
    bool rests;            /* the last look led to nothing, and nothing is due by time */
    bool waited;           /* at the last look it was held, or its node pool lacked cells */
    struct judged judged;
    /* Monotonic, and what of the record they belong to. */
    int64_t term, progress_at, stuck_ns;
    int64_t unrouted_at, unrouted_ns;
    int64_t step_ns, observe_ns;
    struct seat_restart restart;
    char *pool; /* that it runs in, "" = none; owned, NULL = its record was never read */
    char key[];
};

/* What is decided of all services of a system. */
struct kept_system {
    bool confirmed; /* in this board generation */
    bool paused;    /* a part of it is */
    char uid[];
};

struct services_keeper {
    struct kept kept;
    struct map by_key;  /* -> struct kept_service */
    struct map by_guid; /* -> struct service_process, of its service */
    struct map systems; /* uid -> struct kept_system; apps have none */
    char *next;         /* the key at which those at rest are looked at next; NULL = the first */
    struct work work;
};

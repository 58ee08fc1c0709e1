/* The command of a unit's charm: it begins after the hook start, and when it has ended it begins
 * again, by the back-off of instances; a crash changes no life (docs/units.md, The command). */
#pragma once

#include "common/contract/effect.h"
#include "common/model/crash_policy.h"
#include "rep/unit/agent.h"

struct cell_unit;
struct rep;

/* What it looks at. */
struct workload_facts {
    bool wanted;    /* the unit has started, has not stopped, and its charm has a command */
    bool gone;      /* its charm has none any more */
    bool given;     /* a number is noted for its run, */
    bool begun;     /* which has begun, */
    bool over;      /* and ended, or was lost */
    bool restart;   /* a hook that is done asked that it ends and begins again */
    int64_t ran_ns; /* so long it ran, or has run */
    int32_t crash_count;
    int64_t now_ns, again_ns; /* it is begun again then; 0 = at once */
};

enum workload_act {
    WORKLOAD_WAIT,
    WORKLOAD_GIVE,  /* a number is noted for its run */
    WORKLOAD_BEGIN, /* that run */
    WORKLOAD_COUNT, /* its end: `crash_count`, and when it is begun again */
    WORKLOAD_LASTS, /* it runs long enough: how it ended before is past, and `crash_count` is 0 */
    WORKLOAD_STOP,  /* it is to end: TERM, after a while KILL */
};

struct workload_step {
    enum workload_act act;
    int32_t crash_count;
    int64_t wait_ns;       /* of COUNT: until it is begun again */
    int64_t look_again_ns; /* NEVER_NS = never */
};

/* Pure. */
struct workload_step workload_next(const struct workload_facts *w, const struct crash_policy *p);

/* The next thing to be done about the command of the unit, whose agent's facts these are. */
void workload_look(struct rep *r, struct cell_unit *u, const struct agent_facts *f,
                   struct effects *out);

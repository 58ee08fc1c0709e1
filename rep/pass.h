/* The pass over all containers and records: every 30 s, and when something calls for it (design.md
 * 5, Harmonising). */
#pragma once

#include "common/contract/moment.h"

#include <stdbool.h>

struct rep_pass {
    int64_t due_ns; /* of the next one */
    bool wanted;    /* at the end of this step */
    bool called;    /* because of something that happened, and not only as the time is over */
    bool late;      /* the one under way is one that nothing called for */
};

/* Something happened: everything is looked at at the end of this step. */
static inline void pass_call(struct rep_pass *p)
{
    p->wanted = p->called = true;
}

/* The same, only because it was not for long. */
static inline void pass_again(struct rep_pass *p)
{
    p->wanted = true;
}

/* At this time at the latest. */
static inline void pass_by(struct rep_pass *p, int64_t due_ns)
{
    p->due_ns = earlier_ns(p->due_ns, due_ns);
}

/* Which events a change at one index of a process makes: the table of behaviour.md 16.3 as a pure
 * function of the records before and after. What a record does not say comes from the cause. */
#pragma once

#include "bbs/event/api_event.h"
#include "models/actual_lrp.pb-c.h"

enum { ACTUAL_PRESENCES = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT + 1 };

/* An index as it stood at one revision: a record or NULL, by its presence. */
struct actual_index {
    const Models__ActualLRP *records[ACTUAL_PRESENCES];
};

struct actual_change {
    struct actual_index before, after; /* what the change itself has said is uncut in `after` */
    bool crashed;         /* the ORDINARY record's instance crashed and it was counted */
    bool retired; /* the ORDINARY record's instance is being stopped at a client's request */
    const char *trace_id; /* of the request that caused it, "" for those that are not reported */
};

/* The best of an index's records that are not EVACUATING: what a group shows as `instance`
 * (behaviour.md 10.5). NULL if there is none. */
const Models__ActualLRP *group_instance(const struct actual_index *index);

/* A shallow copy as Diego's clients may see it: without our own fields, and with the messages that
 * the original always writes. */
Models__ActualLRP *actual_visible(struct arena *a, const Models__ActualLRP *record);

/* The events of the group stream and of the instance stream, each in the order in which they are
 * reported. `ret` is overwritten; messages live in `a` and point into the records. A change that
 * Diego's clients cannot see (the stopping mark) makes none. What was retired is reported as
 * removed, although its record stays until the container has ended (behaviour.md 10.3): a router
 * must not go on sending requests to it. */
void actual_group_events(struct arena *a, const struct actual_change *change,
                         struct api_events *ret);
void actual_instance_events(struct arena *a, const struct actual_change *change,
                            struct api_events *ret);

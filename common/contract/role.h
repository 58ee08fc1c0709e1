/* A role is a step (design.md 3.1): an event comes in, effects go out. It calls no clock, socket,
 * random source or process, keeps no state outside its object, and two of any role can live in one
 * process. The shell (common/shell/host_io.h) and the simulator (test/sim) drive the same objects.
 */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

struct role {
    const struct role_ops *ops;
};

struct role_ops {
    const char *name; /* "bbs", "rep", "auctioneer", "converger" */
    /* Handles one event. `out` is empty and initialised; its arena holds whatever must outlive the
     * step until the shell has taken the effects. */
    void (*step)(struct role *r, const struct event *ev, struct effects *out);
    /* Largest request body of a path, in bytes; a larger one arrives as request.too_large. */
    size_t (*body_limit)(const struct role *r, const char *path);
    void (*free)(struct role *r);
};

static inline void role_step(struct role *r, const struct event *ev, struct effects *out)
{
    r->ops->step(r, ev, out);
}

static inline void role_free(struct role *r)
{
    if (r) {
        r->ops->free(r);
    }
}
